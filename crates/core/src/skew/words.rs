//! What is told of a CRD of another version, and what to do.

use capt_api::crd::{CAPT_VERSION, Foreign};
use capt_api::names::{annotation, label};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt as _;
use semver::Version;

use super::Skew;
use crate::name::{is_namespace_name, is_object_name};

impl Skew {
    /// What holds, in a sentence; nothing where all is well.
    pub fn sentence(&self, crd: &str) -> Option<String> {
        let of = |version: &Version| format!("it is of CAPT {version}, and this is CAPT {CAPT_VERSION}");
        Some(match self {
            Self::None => return None,
            Self::Missing => format!("{crd} is not there"),
            Self::NotServed { wanted, served, newer } => {
                let served = if served.is_empty() { "none".to_owned() } else { served.join(", ") };
                let newer = newer.as_ref().map(|newer| format!(" ({})", of(newer))).unwrap_or_default();
                format!(
                    "{crd} is not served in version {wanted}, which this capt reads, but in {served}{newer}"
                )
            }
            Self::Older { lacks, version } => {
                let version = version.as_ref().map(|version| format!("{}; ", of(version)));
                format!(
                    "{crd} is older than this capt: {}it has no {lacks}, and what is written there is lost",
                    version.unwrap_or_default()
                )
            }
            Self::Newer { version, more } => {
                let version = version.as_ref().map(of);
                let more = more.as_ref().map(|more| format!("it has a {more}"));
                let why: Vec<String> = version.into_iter().chain(more).collect();
                format!("{crd} is newer than this capt: {}", why.join("; "))
            }
            Self::TooNew { lacks, version } => format!(
                "{crd} is newer than this capt: {}; it has no {lacks} any more, and what is written there is lost",
                of(version)
            ),
        })
    }

    /// What to do about it; nothing where there is nothing to do. `found` is the CRD as the API server has it.
    pub fn fix(&self, kinds: Option<Foreign>, found: Option<&CustomResourceDefinition>) -> Option<String> {
        match self {
            Self::None => None,
            Self::NotServed { newer: Some(version), .. }
            | Self::Newer { version: Some(version), .. }
            | Self::TooNew { version, .. } => {
                Some(format!("use capt {version} here, and upgrade the manager to it where that is older"))
            }
            Self::Newer { version: None, .. } => {
                Some("use the capt of the version that runs in the management cluster".to_owned())
            }
            Self::Missing | Self::NotServed { newer: None, .. } | Self::Older { .. } => {
                Some(upgrade(kinds, found))
            }
        }
    }
}

/// Installs CAPT's own kinds, or those that are compatible with the kinds of others.
pub const fn install(kinds: Option<Foreign>) -> &'static str {
    match kinds {
        None => "capt crds | kubectl apply --server-side --force-conflicts -f -",
        Some(Foreign::Terraform) => {
            "capt crds --include terraform | kubectl apply --server-side --force-conflicts -f -"
        }
        Some(Foreign::ClusterApi) => {
            "capt crds --include cluster-api | kubectl apply --server-side --force-conflicts -f -"
        }
    }
}

/// Upgrades a CRD the way that it was installed.
fn upgrade(kinds: Option<Foreign>, found: Option<&CustomResourceDefinition>) -> String {
    let noted = |key: &str| found.and_then(|found| found.annotations().get(key).cloned());
    let earlier = |found: &CustomResourceDefinition| {
        super::version(found).is_none() && found.labels().contains_key(label::CONTRACT_V1BETA1)
    };
    if kinds.is_none() && found.is_some_and(earlier) {
        return "capt migrate from-go --all-namespaces: it is of the earlier Go implementation".to_owned();
    }
    let release = noted(annotation::HELM_RELEASE).filter(|name| is_object_name(name));
    let namespace = noted(annotation::HELM_NAMESPACE).filter(|name| is_namespace_name(name));
    if let (Some(release), Some(namespace)) = (release, namespace) {
        return format!(
            "helm upgrade {release} CHART --namespace {namespace}, with the chart of CAPT {CAPT_VERSION} that {release} was installed from"
        );
    }
    if found.is_some_and(|found| found.labels().contains_key(label::PROVIDER)) {
        return "clusterctl upgrade plan, then clusterctl upgrade apply".to_owned();
    }
    install(kinds).to_owned()
}
