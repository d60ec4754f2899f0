//! Kubeconfigs as Terraform modules give them: read with distrust, and written for those who need them.
//!
//! A kubeconfig can make its reader open files, start programs and send credentials to strangers. Here it can do none of this:
//! what is not plain inline data is refused, with a sentence that says what to write instead.

mod cluster;
mod document;
pub mod eks;
mod exec;
pub mod merge;
mod node;
mod problem;
pub mod render;
mod user;

pub use problem::{Invalid, Problem};

use k8s_openapi::jiff::Timestamp;
use secrecy::SecretString;

use crate::certificate::CertificateAuthority;
use crate::endpoint::ServerUrl;
use node::Node;

/// What the current context of a kubeconfig leads to.
#[derive(Clone, Debug)]
pub struct Kubeconfig {
    /// The name of the entry in `clusters`.
    pub cluster_name: String,
    /// Where the API server is.
    pub server: ServerUrl,
    /// The name that the API server's certificate is checked for, where it is not the host's.
    pub tls_server_name: Option<String>,
    /// What the API server's certificate is checked with; the public CAs where nothing is said.
    pub certificate_authority: Option<CertificateAuthority>,
    /// Who comes.
    pub user: User,
}

/// The credentials of a kubeconfig. Debug output shows none of them.
#[derive(Clone, Debug)]
pub enum User {
    /// A certificate and its key.
    ClientCertificate {
        /// When the certificate ends.
        expires_at: Timestamp,
    },
    /// A bearer token.
    Token {
        /// The token.
        token: SecretString,
        /// When it ends, if it is a JSON Web Token that says so.
        expires_at: Option<Timestamp>,
    },
    /// A user name and a password.
    Password,
    /// A token for EKS. It lives for 15 minutes: it only shows that the cluster is one of EKS.
    EksToken {
        /// The token.
        token: SecretString,
    },
    /// A program that makes tokens for EKS.
    EksExec(EksExec),
}

/// What a kubeconfig says about the tokens of an EKS cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EksExec {
    /// The cluster's name (or id) in EKS.
    pub cluster_name: String,
    /// Its region, if it is told.
    pub region: Option<String>,
    /// The role to assume before making a token.
    pub role_arn: Option<String>,
}

/// Credentials that are no longer valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the {credential} in the kubeconfig expired at {expired_at}; have the Terraform module make a new one and apply it again"
)]
pub struct Expired {
    credential: &'static str,
    /// When they ended.
    pub expired_at: Timestamp,
}

/// Reads a kubeconfig, YAML or JSON.
pub fn parse(content: &[u8]) -> Result<Kubeconfig, Invalid> {
    let tree = document::read(content)?;
    let root = Node::root(&tree);
    let lists = document::lists(&root)?;
    let current = lists.current_context(&root)?;
    let (cluster_name, cluster) = lists.cluster_of(&current)?;
    let (_, user) = lists.user_of(&current)?;
    let cluster = cluster::read(&cluster)?;
    Ok(Kubeconfig {
        cluster_name: cluster_name.to_owned(),
        server: cluster.server,
        tls_server_name: cluster.tls_server_name,
        certificate_authority: cluster.certificate_authority,
        user: user::read(&user)?,
    })
}

/// The whole document as data, for those who write it in another form.
pub fn data(content: &[u8]) -> Result<serde_json::Value, Invalid> {
    document::read(content)
}

impl Kubeconfig {
    /// Whether the cluster is one of EKS, so that its tokens have to be made anew all the time.
    pub const fn is_eks(&self) -> bool {
        matches!(self.user, User::EksToken { .. } | User::EksExec(_))
    }

    /// The region of an EKS cluster, as its user or else its host tells it.
    pub fn eks_region(&self) -> Option<&str> {
        let told = match &self.user {
            User::EksExec(exec) => exec.region.as_deref(),
            _ => None,
        };
        told.or_else(|| eks::region_of_host(self.server.host()))
    }

    /// Looks whether the credentials are still valid.
    pub fn check_expiry(&self, now: Timestamp) -> Result<(), Expired> {
        match self.user.expires_at() {
            Some(expired_at) if expired_at <= now => {
                Err(Expired { credential: self.user.credential(), expired_at })
            }
            _ => Ok(()),
        }
    }
}

impl User {
    /// When the credentials end, if that can be told. Those for EKS are made anew and do not end.
    pub const fn expires_at(&self) -> Option<Timestamp> {
        match self {
            Self::ClientCertificate { expires_at } => Some(*expires_at),
            Self::Token { expires_at, .. } => *expires_at,
            Self::Password | Self::EksToken { .. } | Self::EksExec(_) => None,
        }
    }

    const fn credential(&self) -> &'static str {
        match self {
            Self::ClientCertificate { .. } => "client certificate",
            Self::Token { .. } | Self::EksToken { .. } | Self::EksExec(_) => "token",
            Self::Password => "password",
        }
    }
}

#[cfg(test)]
mod tests;
