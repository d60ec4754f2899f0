//! `AddonStackBinding`: one stack in one cluster.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Removal;

/// Which stack, which cluster. CAPT writes it.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "addons.cluster.x-k8s.io",
    version = "v1alpha1",
    kind = "AddonStackBinding",
    namespaced,
    status = "AddonStackBindingStatus",
    category = "capt",
    category = "cluster-api",
    doc = "An AddonStackBinding says how far an AddonStack has come in one cluster. CAPT makes it and keeps it; the Cluster owns it.",
    printcolumn(name = "CLUSTER", type_ = "string", json_path = ".spec.clusterName"),
    printcolumn(name = "STACK", type_ = "string", json_path = ".spec.stackName"),
    printcolumn(
        name = "READY",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].status"
    ),
    printcolumn(name = "AT", type_ = "string", json_path = ".status.at"),
    printcolumn(name = "STATE", type_ = "string", json_path = ".status.state"),
    printcolumn(name = "SINCE", type_ = "date", json_path = ".status.since"),
    printcolumn(
        name = "WHY",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].message"
    ),
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("self == oldSelf").message("an AddonStackBinding belongs to one stack and one cluster: CAPT makes another one for others"))]
pub struct AddonStackBindingSpec {
    /// The Cluster.
    #[schemars(length(min = 1, max = 253))]
    pub cluster_name: String,
    /// The `AddonStack`.
    #[schemars(length(min = 1, max = 253))]
    pub stack_name: String,
}

/// How far a stack has come in a cluster.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddonStackBindingStatus {
    /// The first add-on that is not ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Its state, or `Ready`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<StepState>,
    /// Since when it is in that state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// Each add-on, in the order in which they are brought.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub addons: Vec<StepStatus>,
    /// Names the cluster that this speaks of, by its address and authority: another one under the same name starts anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// The request (`capt reconcile`) that was seen last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_request: Option<String>,
    /// The stack's generation that this speaks of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_generation: Option<i64>,
    /// Ready and Paused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// Where an add-on is.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum StepState {
    /// Its turn has not come: others must be ready first.
    Pending,
    /// It could start, and somebody must do something first.
    Blocked,
    /// It is on its way to the cluster.
    Delivering,
    /// It is in the cluster and not ready yet.
    WaitingForReady,
    /// It is ready, and was when it was last looked at.
    Ready,
    /// It could not be brought, or is not ready in time. It is tried again.
    Failed,
    /// It is being taken away.
    Removing,
}

impl StepState {
    /// Every state.
    pub const ALL: [Self; 7] = [
        Self::Pending,
        Self::Blocked,
        Self::Delivering,
        Self::WaitingForReady,
        Self::Ready,
        Self::Failed,
        Self::Removing,
    ];

    /// The word of the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Blocked => "Blocked",
            Self::Delivering => "Delivering",
            Self::WaitingForReady => "WaitingForReady",
            Self::Ready => "Ready",
            Self::Failed => "Failed",
            Self::Removing => "Removing",
        }
    }
}

/// One add-on in a cluster.
#[derive(KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepStatus {
    /// The add-on.
    #[schemars(length(max = 63))]
    pub name: String,
    /// Where it is.
    pub state: StepState,
    /// Since when.
    pub since: Time,
    /// Why, in one word.
    pub reason: String,
    /// Why, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// When it began to be brought; what its timeout is counted from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Time>,
    /// When it was ready for the first time. Those that depend on it are not held up any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_once: Option<Time>,
    /// Since when it is in trouble; until it is ready again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_since: Option<Time>,
    /// CAPT has put the gate label on the Cluster.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gate_opened: bool,
    /// What becomes of it when it is no longer asked for.
    #[serde(default)]
    pub removal: Removal,
    /// How often in a row it has failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failures: u32,
    /// When it is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_attempt: Option<Time>,
    /// Names what was last brought or tried, manifests and values together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempted: Option<String>,
    /// Digest of the manifests that CAPT brought last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered: Option<String>,
    /// The Secrets with values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub values: Vec<ValuesStatus>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A Secret with values in a cluster.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ValuesStatus {
    /// The Secret's namespace in the cluster.
    pub namespace: String,
    /// The Secret's name in the cluster.
    pub name: String,
    /// Names what was written, without telling it.
    pub delivered: String,
    /// When it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_time: Option<Time>,
    /// The `HelmReleases` that take their values from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub consumers: Vec<Consumer>,
}

/// A `HelmRelease` that takes values from a Secret.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Consumer {
    /// Its name; it is in the Secret's namespace.
    pub name: String,
    /// Whether it was reconciled with what was written last.
    pub consumed: bool,
    /// Flux's digest of the values of its last attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_digest: Option<String>,
}
