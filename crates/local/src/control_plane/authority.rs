//! Certificate authorities of one control plane, and what they issue.
//!
//! An authority and its leaves have separate keys: clients refuse a server that presents its own authority.

use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, SanType, date_time_ymd,
};

use crate::private;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const AUTHORITY_DAYS: u32 = 30 * 365;
/// Most leaves are issued anew at every start, so this is how long one start may last.
const LEAF_DAYS: u32 = 10 * 365;
/// The certificate library takes one value for each attribute type, and knows the organisation by two names.
const MOST_GROUPS: usize = 2;

/// Why a certificate could not be issued or kept.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// The key or the request was not understood.
    #[error("issuing a certificate")]
    Issue(#[from] rcgen::Error),
    /// A file of the authority could not be read or written.
    #[error("keeping a certificate in {path}")]
    File {
        /// Which file.
        path: String,
        /// What the file system said.
        source: io::Error,
    },
    /// More groups than a certificate takes.
    #[error("a client certificate names at most {MOST_GROUPS} groups, not {0}")]
    TooManyGroups(usize),
}

/// A certificate with its key, both as PEM.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// A certificate authority.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Authority").finish_non_exhaustive()
    }
}

impl Authority {
    /// A new authority.
    pub(crate) fn new(name: &str) -> Result<Self, AuthorityError> {
        let key = KeyPair::generate()?;
        let certificate = authority_parameters(name).self_signed(&key)?.pem();
        Ok(Self { issuer: Issuer::new(authority_parameters(name), key), certificate })
    }

    /// The authority that is kept in `directory`; made there the first time.
    pub(crate) fn kept_in(directory: &Path, name: &str) -> Result<Self, AuthorityError> {
        let (key_path, certificate_path) = (directory.join("ca.key"), directory.join("ca.crt"));
        // The key is written first: a certificate is proof that its key is there.
        if !certificate_path.exists() {
            let new = Self::new(name)?;
            keep(&key_path, new.issuer.key().serialize_pem())?;
            keep(&certificate_path, &new.certificate)?;
            return Ok(new);
        }
        let key = KeyPair::from_pem(&read(&key_path)?)?;
        let certificate = read(&certificate_path)?;
        // What an issuer adds to a leaf are its name and the digest of its key, and both are the same every time.
        Ok(Self { issuer: Issuer::new(authority_parameters(name), key), certificate })
    }

    pub(crate) fn certificate(&self) -> &str {
        &self.certificate
    }

    /// A certificate for a server on this machine, which may also act as a client (etcd calls itself).
    pub(crate) fn server(&self, name: &str) -> Result<Leaf, AuthorityError> {
        let mut parameters = leaf_parameters(name);
        parameters.subject_alt_names = vec![
            SanType::IpAddress(Ipv4Addr::LOCALHOST.into()),
            SanType::DnsName("localhost".try_into()?),
            SanType::DnsName("kubernetes.default.svc".try_into()?),
        ];
        parameters.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        self.issue(&parameters)
    }

    /// A certificate by which the API server knows a user and the groups it is in.
    pub(crate) fn client(&self, user: &str, groups: &[&str]) -> Result<Leaf, AuthorityError> {
        self.issue(&client_parameters(user, groups)?)
    }

    /// As [`Self::client`], but valid for as long as the authority itself.
    pub(crate) fn lasting_client(&self, user: &str, groups: &[&str]) -> Result<Leaf, AuthorityError> {
        let mut parameters = client_parameters(user, groups)?;
        valid_for(&mut parameters, AUTHORITY_DAYS);
        self.issue(&parameters)
    }

    fn issue(&self, parameters: &CertificateParams) -> Result<Leaf, AuthorityError> {
        let key = KeyPair::generate()?;
        let certificate = parameters.signed_by(&key, &self.issuer)?;
        Ok(Leaf { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}

fn client_parameters(user: &str, groups: &[&str]) -> Result<CertificateParams, AuthorityError> {
    let mut parameters = leaf_parameters(user);
    let organisations = [DnType::OrganizationName, DnType::CustomDnType(vec![2, 5, 4, 10])];
    if groups.len() > MOST_GROUPS {
        return Err(AuthorityError::TooManyGroups(groups.len()));
    }
    for (organisation, group) in organisations.into_iter().zip(groups) {
        parameters.distinguished_name.push(organisation, *group);
    }
    parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    Ok(parameters)
}

fn authority_parameters(name: &str) -> CertificateParams {
    let mut parameters = named(name);
    parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    valid_for(&mut parameters, AUTHORITY_DAYS);
    parameters
}

fn leaf_parameters(name: &str) -> CertificateParams {
    let mut parameters = named(name);
    parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    parameters.use_authority_key_identifier_extension = true;
    valid_for(&mut parameters, LEAF_DAYS);
    parameters
}

fn named(name: &str) -> CertificateParams {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = DistinguishedName::new();
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters
}

fn valid_for(parameters: &mut CertificateParams, days: u32) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = date_time_ymd(1970, 1, 1) + now;
    // A clock that is set back a little must not make the certificate invalid.
    parameters.not_before = now - DAY;
    parameters.not_after = now + DAY * days;
}

pub(super) fn keep(path: &Path, content: impl AsRef<[u8]>) -> Result<(), AuthorityError> {
    private::write(path, content).map_err(|source| in_file(path, source))
}

pub(super) fn read(path: &Path) -> Result<String, AuthorityError> {
    fs::read_to_string(path).map_err(|source| in_file(path, source))
}

fn in_file(path: &Path, source: io::Error) -> AuthorityError {
    AuthorityError::File { path: path.display().to_string(), source }
}
