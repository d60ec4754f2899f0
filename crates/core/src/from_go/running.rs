//! Managers of the earlier implementation, which must not run beside CAPT's.

use std::fmt;

use capt_api::names::{LEGACY_LEASE_SUFFIX, label};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::coordination::v1::Lease;
use kube::ResourceExt as _;

/// What the command of its container is; CAPT's own has another.
const COMMAND: &str = "/manager";
/// How its charts and manifests name it.
const NAME: &str = "capt";
/// How clusterctl names it.
const PROVIDERS: [&str; 2] = ["infrastructure-capt", "control-plane-capt"];
/// Where its images come from.
const IMAGE: &str = "appthrust/capt";

/// A manager that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Running {
    /// By its Deployment.
    Deployment {
        /// The namespace.
        namespace: String,
        /// The name.
        name: String,
    },
    /// By its Lease, which is renewed.
    Lease {
        /// The namespace.
        namespace: String,
        /// The name.
        name: String,
        /// Who holds it.
        holder: String,
    },
}

impl fmt::Display for Running {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deployment { namespace, name } => write!(
                formatter,
                "Deployment `{namespace}/{name}` runs the Go manager: stop it with `kubectl scale deployment {name} --namespace {namespace} --replicas 0`"
            ),
            Self::Lease { namespace, name, holder } => write!(
                formatter,
                "Lease `{namespace}/{name}` is renewed by `{holder}`: a Go manager runs somewhere, stop it"
            ),
        }
    }
}

/// Whether a Deployment runs a manager of the earlier implementation, or is about to, or not yet at its end.
pub fn is_manager_deployment(deployment: &Deployment) -> bool {
    let Some(spec) = &deployment.spec else { return false };
    let containers = spec.template.spec.iter().flat_map(|pod| &pod.containers);
    let labels = deployment.labels();
    let named = labels.get(label::NAME).is_some_and(|name| name == NAME)
        || labels.get(label::PROVIDER).is_some_and(|name| PROVIDERS.contains(&name.as_str()));
    let runs = containers.clone().any(|container| {
        let image = container.image.as_deref().unwrap_or_default();
        let command = container.command.iter().flatten().next().is_some_and(|first| first == COMMAND);
        command && (named || image.contains(IMAGE))
    });
    let wanted = spec.replicas.unwrap_or(1);
    let present = deployment.status.as_ref().and_then(|status| status.replicas).unwrap_or_default();
    runs && (wanted > 0 || present > 0)
}

/// Whether a Lease is one that managers of the earlier implementation take, and somebody holds it, or did so at his end.
pub fn is_manager_lease(lease: &Lease) -> bool {
    let holder = lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref());
    lease.name_any().ends_with(LEGACY_LEASE_SUFFIX) && holder.is_some_and(|holder| !holder.is_empty())
}
