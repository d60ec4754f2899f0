//! What the module gave, read from the connection Secret. Content never gets into a message.

use std::collections::BTreeMap;

use capt_api::CAPTControlPlane;
use capt_api::capt_control_plane::Identity;
use capt_api::endpoint::Endpoint;
use capt_api::names::Reason;
use k8s_openapi::ByteString;
use k8s_openapi::jiff::Timestamp;
use secrecy::SecretString;

use super::observed::WorkspaceSeen;
use crate::apply::Blocked;
use crate::certificate::CertificateAuthority;
use crate::endpoint::{self, ServerUrl};
use crate::kubeconfig::{self, Kubeconfig, User, eks};

/// The fields of a connection Secret that CAPT reads.
pub const KUBECONFIG: &str = "kubeconfig";
/// The certificate authority, as PEM or as base64 of it.
pub const CERTIFICATE_AUTHORITY: &str = "cluster_certificate_authority_data";
/// Where the API server is.
pub const ENDPOINT: &str = "cluster_endpoint";
/// The name of the cluster, as its cloud knows it.
pub const CLUSTER_NAME: &str = "cluster_name";

/// The content of a Secret.
pub type Data = BTreeMap<String, ByteString>;

/// What the connection Secret is read with.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'facts> {
    /// Namespace and name of the Secret.
    pub secret: &'facts str,
    /// The control plane.
    pub control_plane: &'facts CAPTControlPlane,
    /// Its Workspace.
    pub workspace: Option<&'facts WorkspaceSeen>,
    /// The region of its network.
    pub network_region: Option<&'facts str>,
    /// Now.
    pub now: Timestamp,
}

/// What the module gave.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where the API server is, as the credentials have it.
    pub server: ServerUrl,
    /// The name that its certificate has, if that is another.
    pub tls_server_name: Option<String>,
    /// Where it is, as Cluster API has it.
    pub endpoint: Endpoint,
    /// What its certificate is checked with.
    pub certificate_authority: CertificateAuthority,
    /// How to get in.
    pub access: Access,
    /// What is odd but legal.
    pub warnings: Vec<String>,
}

/// How to get into a cluster.
#[derive(Clone, Debug)]
pub enum Access {
    /// By the kubeconfig as it was given.
    AsGiven {
        /// The kubeconfig.
        kubeconfig: SecretString,
        /// When its credentials end, if that is known.
        expires_at: Option<Timestamp>,
    },
    /// By tokens that CAPT makes.
    Eks(EksAccess),
}

/// What a token for EKS is made with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EksAccess {
    /// The cluster's name in EKS.
    pub cluster_name: String,
    /// Its region.
    pub region: String,
    /// The role to be taken on.
    pub role_arn: Option<String>,
    /// The external id that the role asks for.
    pub external_id: Option<String>,
}

/// Reads the connection Secret. What is wrong is told by the field, with what to do.
pub fn read(data: &Data, around: Surroundings<'_>) -> Result<Source, Blocked> {
    let given = kubeconfig_field(data);
    let server = endpoint_of(data, around);
    // EKS needs no kubeconfig: name, endpoint and certificate authority say everything.
    let makeable = given.is_none() && eks_server(&server).is_some();
    let missing: Vec<_> = [
        (KUBECONFIG, given.is_none() && !makeable),
        (CERTIFICATE_AUTHORITY, text(data, CERTIFICATE_AUTHORITY).is_none()),
    ]
    .into_iter()
    .filter_map(|(field, missing)| missing.then_some(field))
    .collect();
    if !missing.is_empty() {
        return Err(required(around.secret, &missing));
    }
    let authority = authority(data, around.secret)?;
    let Some(content) = given else {
        return made(data, around, authority, server);
    };
    let kubeconfig = kubeconfig::parse(content).map_err(|invalid| {
        let message = format!("the kubeconfig in Secret `{}` cannot be used: {invalid}", around.secret);
        Blocked::new(Reason::KubeconfigInvalid, message)
    })?;
    // A token for EKS that has ended is no loss: CAPT makes others.
    if !kubeconfig.is_eks() {
        kubeconfig.check_expiry(around.now).map_err(|expired| {
            let message = format!("the kubeconfig in Secret `{}` cannot be used: {expired}", around.secret);
            Blocked::new(Reason::CredentialsExpired, message)
        })?;
    }
    let server = server?;
    let warnings = warnings(&kubeconfig, &authority, &server);
    let access = access(&kubeconfig, content, data, around)?;
    Ok(Source {
        endpoint: server.endpoint(),
        tls_server_name: kubeconfig.tls_server_name.clone(),
        certificate_authority: kubeconfig.certificate_authority.clone().unwrap_or(authority),
        server: kubeconfig.server,
        access,
        warnings,
    })
}

/// A field that is a text and not empty.
pub fn text<'data>(data: &'data Data, field: &str) -> Option<&'data str> {
    let text = std::str::from_utf8(&data.get(field)?.0).ok()?.trim();
    (!text.is_empty()).then_some(text)
}

fn kubeconfig_field(data: &Data) -> Option<&[u8]> {
    let content = data.get(KUBECONFIG)?.0.as_slice();
    (!content.trim_ascii().is_empty()).then_some(content)
}

fn required(secret: &str, missing: &[&str]) -> Blocked {
    let fields = missing.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(" and ");
    let eks = if missing.contains(&KUBECONFIG) {
        format!(
            "; for EKS, `{CLUSTER_NAME}`, `{ENDPOINT}` and `{CERTIFICATE_AUTHORITY}` do without a kubeconfig"
        )
    } else {
        String::new()
    };
    let message = format!(
        "Secret `{secret}` lacks {fields}, or it is empty: add an output of that name to the module{eks}"
    );
    Blocked::new(Reason::RequiredFieldMissing, message)
}

fn authority(data: &Data, secret: &str) -> Result<CertificateAuthority, Blocked> {
    let content = data.get(CERTIFICATE_AUTHORITY).map(|content| content.0.as_slice()).unwrap_or_default();
    CertificateAuthority::parse(content).map_err(|problem| {
        let message =
            format!("Secret `{secret}` cannot be used: {}", problem.sentence(CERTIFICATE_AUTHORITY));
        Blocked::new(Reason::KubeconfigInvalid, message)
    })
}

/// Where the API server is: by the Workspace's outputs, else by the Secret, else as it was known before.
fn endpoint_of(data: &Data, around: Surroundings<'_>) -> Result<ServerUrl, Blocked> {
    let Surroundings { secret, control_plane, workspace, .. } = around;
    let output = workspace.and_then(|workspace| workspace.text(ENDPOINT));
    let candidates = [("output", output), ("field", text(data, ENDPOINT))];
    let mut problem = None;
    for (place, candidate) in candidates {
        match candidate.map(endpoint::parse) {
            Some(Ok(server)) => return Ok(server),
            Some(Err(found)) => {
                problem.get_or_insert_with(|| format!("{place} {}", found.sentence(ENDPOINT)));
            }
            None => {}
        }
    }
    if let Some(server) = control_plane.spec.control_plane_endpoint.as_ref().and_then(known) {
        return Ok(server);
    }
    let why = problem.unwrap_or_else(|| {
        format!("neither the Workspace nor Secret `{secret}` has `{ENDPOINT}`: add an output of that name to the module")
    });
    Err(Blocked::new(Reason::EndpointUnavailable, format!("nobody says where the API server is: {why}")))
}

fn known(endpoint: &Endpoint) -> Option<ServerUrl> {
    let Endpoint { host, port } = endpoint;
    if host.is_empty() || *port <= 0 {
        return None;
    }
    let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
    endpoint::parse(&format!("https://{host}:{port}")).ok()
}

/// The server, where its name says that it is one of EKS.
fn eks_server(server: &Result<ServerUrl, Blocked>) -> Option<&str> {
    let server = server.as_ref().ok()?;
    // Other services of AWS have names of the same form.
    server.host().contains("eks").then(|| eks::region_of_host(server.host())).flatten()
}

/// Without a kubeconfig: from name, endpoint and certificate authority.
fn made(
    data: &Data,
    around: Surroundings<'_>,
    authority: CertificateAuthority,
    server: Result<ServerUrl, Blocked>,
) -> Result<Source, Blocked> {
    let server = server?;
    let access = eks_access(None, None, None, server.host(), data, around)?;
    Ok(Source {
        endpoint: server.endpoint(),
        tls_server_name: None,
        certificate_authority: authority,
        access: Access::Eks(access),
        server,
        warnings: Vec::new(),
    })
}

fn access(
    kubeconfig: &Kubeconfig,
    content: &[u8],
    data: &Data,
    around: Surroundings<'_>,
) -> Result<Access, Blocked> {
    let host = kubeconfig.server.host();
    match &kubeconfig.user {
        User::EksExec(exec) => eks_access(
            Some(&exec.cluster_name),
            exec.region.as_deref(),
            exec.role_arn.as_deref(),
            host,
            data,
            around,
        )
        .map(Access::Eks),
        User::EksToken { .. } => eks_access(None, None, None, host, data, around).map(Access::Eks),
        user @ (User::ClientCertificate { .. } | User::Token { .. } | User::Password) => {
            Ok(Access::AsGiven {
                kubeconfig: String::from_utf8_lossy(content).into_owned().into(),
                expires_at: user.expires_at(),
            })
        }
    }
}

fn eks_access(
    name: Option<&str>,
    region: Option<&str>,
    role: Option<&str>,
    host: &str,
    data: &Data,
    around: Surroundings<'_>,
) -> Result<EksAccess, Blocked> {
    let Surroundings { control_plane, workspace, network_region, .. } = around;
    let config = control_plane.spec.control_plane_config.as_ref();
    let configured = config.and_then(|config| config.region.as_deref());
    let region = region.or_else(|| eks::region_of_host(host)).or(configured).or(network_region);
    let Some(region) = region else {
        let message =
            "the region of the EKS cluster is not known: write it into spec.controlPlaneConfig.region";
        return Err(Blocked::new(Reason::KubeconfigInvalid, message));
    };
    let own = control_plane.metadata.name.as_deref().unwrap_or_default();
    let name = name.or_else(|| text(data, CLUSTER_NAME));
    let name = name.or_else(|| workspace.and_then(|workspace| workspace.text(CLUSTER_NAME))).unwrap_or(own);
    let identity = config.and_then(|config| config.identity.clone()).unwrap_or_default();
    let Identity { role_arn, external_id } = identity;
    Ok(EksAccess {
        cluster_name: name.to_owned(),
        region: region.to_owned(),
        role_arn: role_arn.or_else(|| role.map(ToOwned::to_owned)),
        external_id,
    })
}

/// Private links and names of one's own are legal, so that what differs is only told.
fn warnings(kubeconfig: &Kubeconfig, authority: &CertificateAuthority, server: &ServerUrl) -> Vec<String> {
    let other_server = (!kubeconfig.server.same_address(server))
        .then(|| format!("the kubeconfig leads to {}, and `{ENDPOINT}` to {server}", kubeconfig.server));
    let other_authority =
        kubeconfig.certificate_authority.as_ref().filter(|own| *own != authority).map(|_| {
            format!("the kubeconfig trusts other certificates than `{CERTIFICATE_AUTHORITY}` holds")
        });
    let path = server
        .has_path()
        .then(|| format!("`{ENDPOINT}` has a path, which Cluster API's endpoint cannot carry: {server}"));
    [other_server, other_authority, path].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests;
