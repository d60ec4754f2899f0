//! What is told of a Secret: whether it is there, and when what is in it ends. Never what is in it.

use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::Timestamp;

use super::facts::Seen;
use crate::control_plane::secrets::times_of;
use crate::kubeconfig;

/// What a Secret of a cluster is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretUse {
    /// The module's outputs.
    Connection,
    /// `<cluster>-kubeconfig`.
    Kubeconfig,
    /// `<cluster>-user-kubeconfig`.
    UserKubeconfig,
    /// `<cluster>-ca`.
    CertificateAuthority,
}

/// A Secret that was looked for.
#[derive(Clone, Debug)]
pub struct SecretFacts {
    /// What it is for.
    pub use_: SecretUse,
    /// Its name.
    pub name: String,
    /// What was found.
    pub secret: Seen<SecretSeen>,
}

/// A Secret without what is in it.
#[derive(Clone, Debug)]
pub struct SecretSeen {
    /// Its metadata.
    pub metadata: ObjectMeta,
    /// When the credentials in it end, if they do.
    pub expires_at: Option<Timestamp>,
    /// When CAPT renews them, if it does.
    pub renews_at: Option<Timestamp>,
    /// Why it cannot be used.
    pub problem: Option<String>,
}

impl SecretSeen {
    /// What the metadata alone tells.
    pub fn of_metadata(metadata: ObjectMeta) -> Self {
        let times = times_of(&metadata);
        Self {
            metadata,
            expires_at: times.map(|times| times.expires_at),
            renews_at: times.map(|times| times.renew_at),
            problem: None,
        }
    }

    /// What a Secret with a kubeconfig tells.
    pub fn of_kubeconfig(secret: &Secret) -> Self {
        let seen = Self::of_metadata(secret.metadata.clone());
        match content(secret).map(kubeconfig::parse) {
            None => Self { problem: Some("it has no key `value`".to_owned()), ..seen },
            Some(Err(invalid)) => Self { problem: Some(invalid.to_string()), ..seen },
            Some(Ok(read)) => Self { expires_at: seen.expires_at.or_else(|| read.user.expires_at()), ..seen },
        }
    }
}

/// The kubeconfig in a Secret of Cluster API's form.
fn content(secret: &Secret) -> Option<&[u8]> {
    secret.data.as_ref()?.get("value").map(|value| value.0.as_slice())
}
