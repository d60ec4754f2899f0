//! Cluster API's `ClusterResourceSet` and its binding: what CAPT reads, and CRDs for homes without Cluster API.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, Time};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which manifests go to which clusters.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "addons.cluster.x-k8s.io",
    version = "v1beta2",
    kind = "ClusterResourceSet",
    namespaced,
    status = "ClusterResourceSetStatus",
    category = "cluster-api",
    doc = "A ClusterResourceSet brings manifests to every cluster that its selector matches.",
    printcolumn(
        name = "APPLIED",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='ResourcesApplied')].status"
    ),
    printcolumn(
        name = "MESSAGE",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='ResourcesApplied')].message",
        priority = "1"
    ),
    printcolumn(name = "AGE", type_ = "date", json_path = ".metadata.creationTimestamp"),
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("has(self.strategy) == has(oldSelf.strategy) && (!has(self.strategy) || self.strategy == oldSelf.strategy)").message("strategy cannot be changed: delete the ClusterResourceSet, what it delivered stays, and make it again"))]
pub struct ClusterResourceSetSpec {
    /// The clusters, in the namespace of this object.
    #[x_kube(validation = Rule::new("self == oldSelf").message("clusterSelector cannot be changed: delete the ClusterResourceSet, what it delivered stays, and make it again"))]
    #[x_kube(validation = Rule::new("(has(self.matchLabels) && self.matchLabels.size() > 0) || (has(self.matchExpressions) && self.matchExpressions.size() > 0)").message("clusterSelector is empty: write a label that the clusters have, for example matchLabels: {fluxcd.io/enabled: \"true\"}"))]
    pub cluster_selector: LabelSelector,
    /// The `ConfigMaps` and Secrets with the manifests, in the namespace of this object, in this order.
    #[schemars(length(min = 1, max = 100))]
    pub resources: Vec<ResourceReference>,
    /// `ApplyOnce`, as if nothing is said, or `Reconcile`.
    #[serde(default)]
    pub strategy: Strategy,
}

/// Whether manifests are brought once or kept true.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strategy {
    /// What is not there yet is made; what is there is left alone.
    #[default]
    ApplyOnce,
    /// Changes of the manifests and changes in the cluster are both brought in line.
    Reconcile,
}

/// A `ConfigMap` or Secret with manifests.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ResourceReference {
    /// `ConfigMap` or `Secret`.
    pub kind: ResourceKind,
    /// The object's name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// What manifests are kept in.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ResourceKind {
    /// A `ConfigMap`.
    ConfigMap,
    /// A Secret of the type `addons.cluster.x-k8s.io/resource-set`.
    Secret,
}

impl ResourceKind {
    /// The word of the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
        }
    }
}

/// What is known of a `ClusterResourceSet`.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct ClusterResourceSetStatus {
    /// The generation that the conditions speak of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `ResourcesApplied` and `Paused`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// What was brought to one cluster; it has the Cluster's name.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "addons.cluster.x-k8s.io",
    version = "v1beta2",
    kind = "ClusterResourceSetBinding",
    namespaced,
    category = "cluster-api",
    doc = "A ClusterResourceSetBinding says what the ClusterResourceSets have brought to one cluster.",
    printcolumn(name = "CLUSTER", type_ = "string", json_path = ".spec.clusterName"),
    printcolumn(name = "AGE", type_ = "date", json_path = ".metadata.creationTimestamp"),
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase")]
pub struct ClusterResourceSetBindingSpec {
    /// The Cluster.
    #[schemars(length(min = 1, max = 63))]
    pub cluster_name: String,
    /// Each `ClusterResourceSet` that selects the Cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub bindings: Vec<ResourceSetBinding>,
}

/// What one `ClusterResourceSet` has brought.
#[derive(KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceSetBinding {
    /// The `ClusterResourceSet`.
    #[schemars(length(min = 1, max = 253))]
    pub cluster_resource_set_name: String,
    /// Its resources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub resources: Vec<ResourceBinding>,
}

/// What became of one resource.
#[derive(KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceBinding {
    /// `ConfigMap` or `Secret`.
    pub kind: ResourceKind,
    /// The object's name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// What was in it: `sha256:` and the digest of its values in the order of their keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub hash: Option<String>,
    /// When it was brought last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_applied_time: Option<Time>,
    /// Whether all of it is in the cluster.
    pub applied: bool,
}
