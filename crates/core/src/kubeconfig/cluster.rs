//! The cluster of a kubeconfig: where the server is, and what it is trusted by.

use super::node::Node;
use super::problem::{Invalid, Problem};
use crate::certificate::CertificateAuthority;
use crate::endpoint::{self, ServerUrl};

/// What is told of a cluster.
pub(super) struct Cluster {
    pub(super) server: ServerUrl,
    pub(super) tls_server_name: Option<String>,
    pub(super) certificate_authority: Option<CertificateAuthority>,
}

/// Reads a cluster.
pub(super) fn read(cluster: &Node<'_>) -> Result<Cluster, Invalid> {
    let server = cluster.field("server")?;
    let url = server.text()?.ok_or_else(|| server.invalid(Problem::NoServer))?;
    let url = endpoint::parse_url(url).map_err(|problem| server.invalid(Problem::Server(problem)))?;

    let insecure = cluster.field("insecure-skip-tls-verify")?;
    if insecure.boolean()? {
        return Err(insecure.invalid(Problem::InsecureSkipTlsVerify));
    }
    cluster.field("proxy-url")?.refuse(Problem::ProxyUrl)?;
    let file = Problem::File { instead: "certificate-authority-data" };
    cluster.field("certificate-authority")?.refuse(file)?;
    let authority = cluster.field("certificate-authority-data")?;
    let certificate_authority = authority
        .text()?
        .map(CertificateAuthority::from_base64)
        .transpose()
        .map_err(|problem| authority.invalid(Problem::Certificate(problem)))?;

    Ok(Cluster { server: url, tls_server_name: tls_server_name(cluster)?, certificate_authority })
}

fn tls_server_name(cluster: &Node<'_>) -> Result<Option<String>, Invalid> {
    let field = cluster.field("tls-server-name")?;
    let Some(name) = field.text()? else { return Ok(None) };
    let is_host = |url: ServerUrl| url.host().eq_ignore_ascii_case(name) && !url.has_path();
    if endpoint::parse(name).is_ok_and(is_host) {
        Ok(Some(name.to_owned()))
    } else {
        Err(field.invalid(Problem::TlsServerName))
    }
}
