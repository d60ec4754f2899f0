//! Whose a CRD is.

use std::fmt;

use capt_api::names::{MANAGED_BY_CAPT, label};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;

/// The group of Crossplane's packages, which own the CRDs that they bring.
const CROSSPLANE_PACKAGES: &str = "pkg.crossplane.io";
const WEBHOOK: &str = "Webhook";

/// Somebody other than CAPT to whom a CRD belongs, by what shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A provider that `clusterctl` or an operator installed, named by its label.
    Provider(String),
    /// Somebody who runs a conversion webhook for it.
    ConversionWebhook,
    /// A package of Crossplane, named by its owner reference.
    CrossplanePackage(String),
    /// Somebody who left no trace, but CAPT did not make it.
    Unknown,
}

impl fmt::Display for Owner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provider(name) => write!(formatter, "it belongs to the provider {name}"),
            Self::ConversionWebhook => formatter.write_str("its owner runs a conversion webhook"),
            Self::CrossplanePackage(name) => write!(formatter, "it belongs to the Crossplane package {name}"),
            Self::Unknown => formatter.write_str("somebody else installed it"),
        }
    }
}

/// Whom a CRD on the server belongs to; `None` when it is CAPT's.
///
/// Our label alone proves nothing: it stays when somebody installs over it. So the traces of others come first.
pub fn owner(crd: &CustomResourceDefinition) -> Option<Owner> {
    if let Some(provider) = crd.labels().get(label::PROVIDER) {
        return Some(Owner::Provider(provider.clone()));
    }
    if crd.spec.conversion.as_ref().is_some_and(|conversion| conversion.strategy == WEBHOOK) {
        return Some(Owner::ConversionWebhook);
    }
    let package = crd.owner_references().iter().find(|reference| {
        reference.api_version.split_once('/').is_some_and(|(group, _)| group == CROSSPLANE_PACKAGES)
    });
    if let Some(package) = package {
        return Some(Owner::CrossplanePackage(package.name.clone()));
    }
    // Helm puts its own name into the first label, whatever the chart says.
    let ours = crd.labels().get(label::MANAGED_BY).is_some_and(|manager| manager == MANAGED_BY_CAPT)
        || crd.labels().contains_key(label::COMPATIBLE);
    (!ours).then_some(Owner::Unknown)
}
