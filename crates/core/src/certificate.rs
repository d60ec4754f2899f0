//! Certificates: what a cluster's CA is, compared as certificates and not as text, and when a client's ends.

mod pem;

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use k8s_openapi::jiff::Timestamp;
use x509_cert::der::Decode as _;

/// Base64 as Go reads it: padded, but not choosy about the last bits.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// Why a text is not what it should be. Reads on after the name of the field that holds it, and never repeats the text, which
/// may be a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Nothing there.
    #[error("is empty; give certificates in PEM")]
    Empty,
    /// Neither of the two forms.
    #[error("is neither PEM nor base64 of PEM; give what the cluster's certificate file holds")]
    NeitherPemNorBase64,
    /// PEM where base64 of it is needed.
    #[error("is PEM, but has to be base64 of PEM; wrap it in base64encode()")]
    PemWithoutBase64,
    /// Not base64 where it is needed.
    #[error("is not base64; give base64 of PEM, as base64encode() makes it")]
    NotBase64,
    /// Base64 of base64.
    #[error("is base64 of base64; remove one base64encode()")]
    TwiceBase64,
    /// Base64 of something else.
    #[error("is base64, but not of PEM; give base64 of what the certificate file holds")]
    NotPem,
    /// PEM that breaks off or has other characters in it.
    #[error(
        "holds damaged PEM: an END line is missing or a line is not base64; give it with all its line breaks"
    )]
    BrokenPem,
    /// A private key among certificates.
    #[error("holds a private key, which does not belong there; give certificates only")]
    PrivateKey,
    /// PEM, but no certificate.
    #[error("holds PEM of another kind; give PEM that begins with -----BEGIN CERTIFICATE-----")]
    OtherPem,
    /// PEM that says it is a certificate and is not.
    #[error("holds a certificate that cannot be read; give it as its issuer made it")]
    NotCertificate,
    /// No private key where one is needed.
    #[error("holds no private key that can be used without a password; give it in PEM, not encrypted")]
    NoPrivateKey,
}

impl Problem {
    /// The whole sentence, about a field.
    pub fn sentence(self, field: &str) -> String {
        format!("`{field}` {self}")
    }
}

/// The certificates that a cluster's API server is trusted by. Equal when they are the same certificates, however written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateAuthority {
    certificates: BTreeSet<Vec<u8>>,
}

impl CertificateAuthority {
    /// Reads PEM, or base64 of PEM as EKS gives it in `cluster_certificate_authority_data`. Blanks and line breaks around it,
    /// between its lines and in base64 do no harm.
    pub fn parse(text: &[u8]) -> Result<Self, Problem> {
        if text.trim_ascii().is_empty() {
            return Err(Problem::Empty);
        }
        if pem::is_pem(text) {
            return Self::from_pem(&pem::without_indentation(text));
        }
        let compact: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let decoded = BASE64.decode(compact).map_err(|_| Problem::NeitherPemNorBase64)?;
        Self::from_pem(&pem::without_indentation(checked(&decoded)?))
    }

    /// Reads base64 of PEM as strictly as clients read a kubeconfig.
    pub fn from_base64(text: &str) -> Result<Self, Problem> {
        Self::from_pem(&decode(text)?)
    }

    fn from_pem(text: &[u8]) -> Result<Self, Problem> {
        let certificates = pem::certificates(text)?;
        certificates.iter().try_for_each(|certificate| expiry(certificate).map(drop))?;
        Ok(Self { certificates: certificates.into_iter().collect() })
    }

    /// The certificates in PEM, each once and always in the same order.
    pub fn pem(&self) -> String {
        self.certificates.iter().map(|certificate| pem::certificate(certificate)).collect()
    }

    /// Base64 of [`Self::pem`], as kubeconfigs hold it.
    pub fn base64(&self) -> String {
        BASE64.encode(self.pem())
    }
}

/// What there is to know of a client's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    expires_at: Timestamp,
}

impl ClientCertificate {
    /// Reads base64 of PEM, as kubeconfigs hold it. The client's own certificate comes first, those of its issuers follow.
    pub fn from_base64(text: &str) -> Result<Self, Problem> {
        let certificates = pem::certificates(&decode(text)?)?;
        let own = certificates.first().ok_or(Problem::OtherPem)?;
        Ok(Self { expires_at: expiry(own)? })
    }

    /// The end of its validity.
    pub const fn expires_at(&self) -> Timestamp {
        self.expires_at
    }
}

/// Looks whether a text is base64 of a private key in PEM. Whether it is the right one only the API server knows.
pub fn check_private_key(text: &str) -> Result<(), Problem> {
    if pem::has_private_key(&decode(text)?)? { Ok(()) } else { Err(Problem::NoPrivateKey) }
}

fn decode(text: &str) -> Result<Vec<u8>, Problem> {
    if text.trim().is_empty() {
        return Err(Problem::Empty);
    }
    if pem::is_pem(text.as_bytes()) {
        return Err(Problem::PemWithoutBase64);
    }
    let one_line: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    let decoded = BASE64.decode(one_line).map_err(|_| Problem::NotBase64)?;
    checked(&decoded)?;
    Ok(decoded)
}

fn checked(decoded: &[u8]) -> Result<&[u8], Problem> {
    /// How base64 of `-----BEGIN` begins.
    const BEGINNING: &[u8] = b"LS0tLS1CRUdJTi";
    match decoded.trim_ascii_start() {
        start if start.starts_with(BEGINNING) => Err(Problem::TwiceBase64),
        start if pem::is_pem(start) => Ok(decoded),
        _ => Err(Problem::NotPem),
    }
}

/// When a certificate in DER ends.
fn expiry(certificate: &[u8]) -> Result<Timestamp, Problem> {
    let certificate = x509_cert::Certificate::from_der(certificate).map_err(|_| Problem::NotCertificate)?;
    let seconds = certificate.tbs_certificate().validity().not_after.to_unix_duration().as_secs();
    let second = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    // The year 9999, which stands for "never", ends a day later than our calendar.
    Ok(second.unwrap_or(Timestamp::MAX))
}

#[cfg(test)]
pub(crate) mod fixtures;
#[cfg(test)]
mod tests;
