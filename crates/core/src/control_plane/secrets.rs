//! The Secrets that a control plane hands out, as they should be.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capt_api::CAPTControlPlane;
use capt_api::names::{CLUSTER_SECRET_TYPE, MANAGED_BY_CAPT, annotation, label};
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::Timestamp;
use kube::Resource as _;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

use super::connection::{Access, EksAccess, Source};
use super::names;
use crate::kubeconfig::render;
use crate::owned_apply::{Belongs, Owner, belongs};
use crate::tie::label_value;

/// What a Secret is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// `<cluster>-kubeconfig`: what Cluster API reads.
    Kubeconfig,
    /// `<controlplane>-control-plane-kubeconfig`: the same under the name of the proposals.
    ControlPlaneKubeconfig,
    /// `<cluster>-ca`.
    CertificateAuthority,
    /// `<cluster>-user-kubeconfig`: for people, who get tokens of their own.
    UserKubeconfig,
}

/// A Secret as it should be.
#[derive(Clone, Debug)]
pub struct WantedSecret {
    /// What it is for.
    pub purpose: Purpose,
    /// Its name.
    pub name: String,
    /// The key of its content.
    pub key: &'static str,
    /// Its content.
    pub content: SecretString,
    /// When its token ends and is renewed.
    pub times: Option<Times>,
}

/// The life of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// When it ends.
    pub expires_at: Timestamp,
    /// When it is renewed.
    pub renew_at: Timestamp,
}

/// A token that CAPT made.
#[derive(Clone, Debug)]
pub struct Token {
    /// The token.
    pub value: SecretString,
    /// Its life.
    pub times: Times,
}

/// Every Secret of a control plane. `token` is needed where CAPT makes the tokens.
pub fn wanted(
    control_plane: &CAPTControlPlane,
    cluster: &str,
    source: &Source,
    token: Option<&Token>,
) -> Vec<WantedSecret> {
    let Source { server, tls_server_name, certificate_authority, access, .. } = source;
    let target = render::Target {
        cluster_name: cluster,
        server,
        tls_server_name: tls_server_name.as_deref(),
        certificate_authority: Some(certificate_authority),
    };
    let (kubeconfig, times) = match (access, token) {
        (Access::AsGiven { kubeconfig, .. }, _) => (Some(kubeconfig.clone()), None),
        (Access::Eks(_), Some(token)) => (Some(render::with_token(target, &token.value)), Some(token.times)),
        (Access::Eks(_), None) => (None, None),
    };
    let value = |purpose, name, content: SecretString, times| WantedSecret {
        purpose,
        name,
        key: "value",
        content,
        times,
    };
    let mut secrets = Vec::new();
    if let Some(kubeconfig) = kubeconfig {
        secrets.push(value(Purpose::Kubeconfig, names::kubeconfig(cluster), kubeconfig.clone(), times));
        let name = names::control_plane_kubeconfig(control_plane);
        secrets.push(value(Purpose::ControlPlaneKubeconfig, name, kubeconfig, times));
    }
    secrets.push(WantedSecret {
        purpose: Purpose::CertificateAuthority,
        name: names::certificate_authority(cluster),
        key: "tls.crt",
        content: certificate_authority.pem().into(),
        times: None,
    });
    if let Access::Eks(EksAccess { cluster_name, region, .. }) = access {
        // People come as themselves, not by the role that CAPT takes on.
        let user =
            render::EksUser { cluster_name: cluster_name.clone(), region: region.clone(), role_arn: None };
        let content = render::for_people(target, &user);
        let name = names::user_kubeconfig(cluster);
        secrets.push(value(Purpose::UserKubeconfig, name, content.into(), None));
    }
    // A Cluster called `<controlplane>-control-plane` makes two of them one.
    let mut seen = std::collections::BTreeSet::new();
    secrets.retain(|secret| seen.insert(secret.name.clone()));
    secrets
}

impl WantedSecret {
    /// The object that is applied.
    pub fn object(&self, owner: &Owner, cluster: &str) -> Value {
        let mut annotations = BTreeMap::new();
        if let Some(Times { expires_at, renew_at }) = self.times {
            annotations.insert(annotation::EXPIRES_AT, expires_at.to_string());
            annotations.insert(annotation::RENEW_AT, renew_at.to_string());
        }
        json!({
            "apiVersion": Secret::api_version(&()),
            "kind": Secret::kind(&()),
            "metadata": {
                "name": self.name,
                "labels": {
                    label::MANAGED_BY: MANAGED_BY_CAPT,
                    label::CLUSTER_NAME: label_value(cluster),
                },
                "annotations": annotations,
                "ownerReferences": [owner.reference()],
            },
            "type": CLUSTER_SECRET_TYPE,
            "data": { self.key: STANDARD.encode(self.content.expose_secret()) },
        })
    }

    /// Whether a Secret is as it should be.
    pub fn is_met_by(&self, secret: &Secret, owner: &Owner, cluster: &str) -> bool {
        let metadata = &secret.metadata;
        let label =
            |key: &str| metadata.labels.as_ref().and_then(|labels| labels.get(key)).map(String::as_str);
        let content =
            secret.data.as_ref().and_then(|data| data.get(self.key)).map(|content| content.0.as_slice());
        secret.type_.as_deref() == Some(CLUSTER_SECRET_TYPE)
            && content == Some(self.content.expose_secret().as_bytes())
            && label(label::MANAGED_BY) == Some(MANAGED_BY_CAPT)
            && label(label::CLUSTER_NAME) == Some(label_value(cluster).as_str())
            && belongs(metadata, owner) == Belongs::ToUs
            && self.times.is_none_or(|times| times_of(metadata) == Some(times))
    }
}

/// The life of the token in a Secret, if it is noted there.
pub fn times_of(metadata: &ObjectMeta) -> Option<Times> {
    let time = |key: &str| metadata.annotations.as_ref()?.get(key)?.parse().ok();
    Some(Times { expires_at: time(annotation::EXPIRES_AT)?, renew_at: time(annotation::RENEW_AT)? })
}

/// Whether a Secret of a name that we need may be written: it is ours by its owner, or by its label where nobody owns it.
pub fn is_ours(metadata: &ObjectMeta, owner: &Owner) -> bool {
    let labelled = || {
        let labels = metadata.labels.as_ref();
        labels
            .and_then(|labels| labels.get(label::MANAGED_BY))
            .is_some_and(|manager| manager == MANAGED_BY_CAPT)
    };
    match belongs(metadata, owner) {
        Belongs::ToUs | Belongs::ToOurPast => true,
        Belongs::ToOther(_) => false,
        Belongs::ToNobody => labelled(),
    }
}

#[cfg(test)]
mod tests;
