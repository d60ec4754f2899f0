//! What is taken down in a cluster before Terraform destroys it.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is taken down in a cluster before Terraform destroys it: what Terraform does not know of, and would leave behind.
///
/// Always: machines of Karpenter (`NodePools` and `NodeClaims`), and then the `HelmReleases` that add-ons brought. What would
/// bring them back (Flux `Kustomizations`, other `HelmReleases`, Argo CD `Applications`) is suspended first.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BeforeDestroy {
    /// How long all of it may take from the deletion on, for example `30m`; with `0s` nothing is taken down.
    #[serde(default = "default_timeout")]
    #[schemars(length(max = 32))]
    #[x_kube(validation = Rule::new("self.matches('^([0-9]+(ms|s|m|h))+$') && duration(self) <= duration('24h')").message("timeout is between 0s and 24h, for example 30m"))]
    pub timeout: String,
    /// What happens when that is over and something is still there, or the cluster cannot be asked.
    #[serde(default)]
    pub on_timeout: OnTimeout,
    /// Delete Services of the type `LoadBalancer` too, with the load balancers that they stand for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub load_balancers: bool,
    /// Delete `PersistentVolumeClaims` too, with all data in volumes whose reclaim policy is `Delete`. What uses them is scaled
    /// to nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub volumes: bool,
}

impl Default for BeforeDestroy {
    fn default() -> Self {
        Self {
            timeout: default_timeout(),
            on_timeout: OnTimeout::default(),
            load_balancers: false,
            volumes: false,
        }
    }
}

fn default_timeout() -> String {
    "30m".to_owned()
}

/// What happens when the time is over.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnTimeout {
    /// The cluster is destroyed all the same, and what was still there is told.
    #[default]
    Destroy,
    /// Nothing is destroyed until all of it is gone, or until this is changed.
    Wait,
}
