//! `AddonStack`: add-ons that every selected cluster gets, in order.

mod binding;

pub use binding::*;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::resource_set::ResourceKind;

/// What an `AddonStack` asks for.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "addons.cluster.x-k8s.io",
    version = "v1alpha1",
    kind = "AddonStack",
    namespaced,
    status = "AddonStackStatus",
    category = "capt",
    category = "cluster-api",
    doc = "An AddonStack brings add-ons to every cluster that its selector matches, each one when those it depends on are ready there.",
    printcolumn(name = "CLUSTERS", type_ = "integer", json_path = ".status.clusters"),
    printcolumn(name = "READY", type_ = "integer", json_path = ".status.ready"),
    printcolumn(name = "FAILED", type_ = "integer", json_path = ".status.failed"),
    printcolumn(
        name = "REASON",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].reason"
    ),
    printcolumn(
        name = "MESSAGE",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].message",
        priority = "1"
    ),
    printcolumn(name = "AGE", type_ = "date", json_path = ".metadata.creationTimestamp"),
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("self.addons.all(addon, !has(addon.dependsOn) || addon.dependsOn.all(name, self.addons.exists(other, other.name == name)))").message("dependsOn names an add-on that this stack does not have"))]
#[x_kube(validation = Rule::new("self.addons.all(addon, !has(addon.dependsOn) || !(addon.name in addon.dependsOn))").message("an add-on cannot depend on itself"))]
pub struct AddonStackSpec {
    /// The clusters, in the namespace of this object.
    #[x_kube(validation = Rule::new("(has(self.matchLabels) && self.matchLabels.size() > 0) || (has(self.matchExpressions) && self.matchExpressions.size() > 0)").message("clusterSelector is empty: write a label that the clusters have, for example matchLabels: {addons: base}"))]
    pub cluster_selector: LabelSelector,
    /// Nothing is brought to any cluster while this is true.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// How often a cluster in which all is ready is looked at again, for example `10m`.
    #[serde(default = "default_drift_interval")]
    #[schemars(length(max = 32))]
    #[x_kube(validation = Rule::new("self.matches('^([0-9]+(ms|s|m|h))+$') && duration(self) >= duration('10s') && duration(self) <= duration('24h')").message("driftInterval is between 10s and 24h, for example 10m"))]
    pub drift_interval: String,
    /// What happens where versions in the manifests do not go together, or not with the cluster's Kubernetes.
    #[serde(default)]
    pub compatibility: Compatibility,
    /// The add-ons.
    #[schemars(length(min = 1, max = 32))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub addons: Vec<Addon>,
}

fn default_drift_interval() -> String {
    "10m".to_owned()
}

/// What happens where versions do not go together.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Compatibility {
    /// It is told, and the add-ons are brought all the same.
    #[default]
    Warn,
    /// It is told, and what is not there yet is not brought.
    Refuse,
    /// Nothing is said.
    Ignore,
}

/// One add-on.
#[derive(KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("has(self.resources) || has(self.gateLabel) || has(self.values)").message("an add-on needs resources, values, or the gateLabel that a ClusterResourceSet of yours selects"))]
#[x_kube(validation = Rule::new("!has(self.delivery) || self.delivery != 'ClusterResourceSet' || !has(self.resources) || !self.resources.exists(resource, has(resource.render) && resource.render)").message("what is rendered is different in each cluster and cannot go by a ClusterResourceSet: write delivery: Direct, or leave delivery out"))]
#[x_kube(validation = Rule::new("!has(self.delivery) || self.delivery != 'Direct' || has(self.resources) || has(self.values)").message("delivery: Direct needs resources or values"))]
#[x_kube(validation = Rule::new("!has(self.removal) || self.removal != 'Delete' || (has(self.delivery) && self.delivery == 'Direct') || (has(self.resources) && self.resources.exists(resource, has(resource.render) && resource.render))").message("what a ClusterResourceSet brings stays in the cluster: write delivery: Direct beside removal: Delete"))]
pub struct Addon {
    /// The add-on's name.
    #[schemars(length(min = 1, max = 63))]
    #[x_kube(validation = Rule::new("self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')").message("name is written in lower case letters, digits and hyphens, for example karpenter"))]
    pub name: String,
    /// Add-ons of this stack that must be ready in a cluster before this one is brought there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), inner(length(max = 63)))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub depends_on: Vec<String>,
    /// A label, `key` or `key=value` (`true` if no value is given), that CAPT puts on the Cluster when the add-on may start. A
    /// user who puts it there starts the add-on by hand; another value, or taking it away again, holds the add-on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 380))]
    #[x_kube(validation = Rule::new("self.matches('^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?(=([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?)?$')").message("gateLabel is the key of a label, or key=value, for example karpenter.sh/enabled"))]
    #[x_kube(validation = Rule::new("!self.startsWith('cluster.x-k8s.io/') && !self.startsWith('topology.cluster.x-k8s.io/')").message("gateLabel must not be one of Cluster API's own labels"))]
    pub gate_label: Option<String>,
    /// `ConfigMaps`, and Secrets of the type `addons.cluster.x-k8s.io/resource-set`, with manifests, in this order. If none is
    /// named, `ClusterResourceSets` that select the gate label bring the add-on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub resources: Vec<AddonResource>,
    /// How the resources reach the cluster. If nothing is said: `ClusterResourceSet`, or `Direct` where something is rendered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// Outputs of the cluster's module that go to the cluster as Secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    pub values: Vec<ValuesSecret>,
    /// What must be ready in the cluster; everything that the resources hold if nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub readiness: Vec<ReadinessCheck>,
    /// How long the add-on may take to get ready before it is told as failed, for example `15m`. It is waited for all the same.
    #[serde(default = "default_timeout")]
    #[schemars(length(max = 32))]
    #[x_kube(validation = Rule::new("self.matches('^([0-9]+(ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')").message("timeout is between 1s and 24h, for example 15m"))]
    pub timeout: String,
    /// How what failed is tried again: for ever if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// What becomes of the add-on in a cluster that is no longer selected, or when the stack is deleted.
    #[serde(default)]
    pub removal: Removal,
}

fn default_timeout() -> String {
    "15m".to_owned()
}

/// A `ConfigMap` or Secret with manifests.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddonResource {
    /// `ConfigMap` or `Secret`.
    pub kind: ResourceKind,
    /// The object's name.
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = Rule::new("self.matches('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$')").message("name must be written in lower case letters, digits, hyphens and dots, as names of objects are"))]
    pub name: String,
    /// Replace `${NAME}` in the manifests by what it is for the cluster: `CLUSTER_NAME`, `NAMESPACE`, `WORKSPACE_NAME`,
    /// `CLUSTER_ENDPOINT`, and every output in capital letters.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub render: bool,
}

/// How resources reach the cluster.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Delivery {
    /// By a `ClusterResourceSet`: yours, if it selects the gate label and lists the resources, or else one that CAPT makes.
    ClusterResourceSet,
    /// By CAPT itself, which repairs what is changed and takes away what the manifests no longer hold.
    Direct,
}

/// Outputs that go to the cluster as a Secret.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ValuesSecret {
    /// The Secret's name in the cluster; that of the connection Secret if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    #[x_kube(validation = Rule::new("self.matches('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$')").message("name must be written in lower case letters, digits, hyphens and dots, as names of objects are"))]
    pub name: Option<String>,
    /// The Secret's namespace in the cluster, which is made if it is not there.
    #[schemars(length(min = 1, max = 63))]
    #[x_kube(validation = Rule::new("self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')").message("namespace must be written in lower case letters, digits and hyphens, as names of namespaces are"))]
    pub namespace: String,
    /// The outputs.
    #[schemars(length(min = 1, max = 32))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["output".into()]))]
    pub keys: Vec<ValueKey>,
}

/// One output.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("self.output != 'kubeconfig'").message("the kubeconfig is not handed to the cluster: name the outputs that the add-on needs"))]
#[x_kube(validation = Rule::new("!has(self.default) || !has(self.optional) || !self.optional").message("an output with a default is never missing: leave optional out"))]
pub struct ValueKey {
    /// The output, as the module names it.
    #[schemars(length(min = 1, max = 128))]
    #[x_kube(validation = Rule::new("self.matches('^[A-Za-z0-9_.-]+$')").message("output is written in letters, digits, underscores, dots and hyphens, for example cluster_name"))]
    pub output: String,
    /// The key in the cluster's Secret; the output's name if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    #[x_kube(validation = Rule::new("self.matches('^[A-Za-z0-9_.-]+$')").message("key is written in letters, digits, underscores, dots and hyphens, as keys of Secrets are"))]
    pub key: Option<String>,
    /// The value where the module gives no such output, or an empty one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub default: Option<String>,
    /// Leave the key out where the module gives no such output, or an empty one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

/// An object in the cluster that must be ready.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadinessCheck {
    /// For example `apps/v1`.
    #[schemars(length(min = 1, max = 317))]
    #[x_kube(validation = Rule::new("self.matches('^([a-z0-9.-]+/)?v[a-z0-9]+$')").message("apiVersion is a version, or a group and a version, for example apps/v1"))]
    pub api_version: String,
    /// For example `Deployment`.
    #[schemars(length(min = 1, max = 63))]
    #[x_kube(validation = Rule::new("self.matches('^[A-Z][A-Za-z0-9]*$')").message("kind starts with a capital letter, for example Deployment"))]
    pub kind: String,
    /// The object's namespace, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    #[x_kube(validation = Rule::new("self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')").message("namespace must be written in lower case letters, digits and hyphens, as names of namespaces are"))]
    pub namespace: Option<String>,
    /// The object's name.
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = Rule::new("self.matches('^[A-Za-z0-9]([A-Za-z0-9.:-]*[A-Za-z0-9])?$')").message("name must be the name of an object"))]
    pub name: String,
    /// A CEL expression over the object `self` that is true when it is ready, for example `self.status.replicas > 0`; the usual
    /// rules for its kind if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub expression: Option<String>,
}

/// How what failed is tried again.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Retry {
    /// How often it is tried again; for ever if nothing is said. After that, a change or `capt reconcile` starts anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000))]
    pub limit: Option<u32>,
    /// The longest pause between two attempts, for example `5m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32))]
    #[x_kube(validation = Rule::new("self.matches('^([0-9]+(ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')").message("longestPause is between 1s and 24h, for example 5m"))]
    pub longest_pause: Option<String>,
}

/// What becomes of an add-on that is no longer asked for.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Removal {
    /// It stays in the cluster.
    #[default]
    Keep,
    /// What CAPT brought itself is deleted from the cluster.
    Delete,
}

/// What is known of an `AddonStack`.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddonStackStatus {
    /// How many clusters are selected.
    #[serde(default)]
    pub clusters: u32,
    /// In how many of them everything is ready.
    #[serde(default)]
    pub ready: u32,
    /// In how many of them something has failed.
    #[serde(default)]
    pub failed: u32,
    /// Each add-on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub addons: Vec<AddonCounts>,
    /// The generation that the conditions speak of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Ready and Paused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// In how many clusters an add-on is where.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddonCounts {
    /// The add-on.
    #[schemars(length(max = 63))]
    pub name: String,
    /// Where it is ready.
    #[serde(default)]
    pub ready: u32,
    /// Where it is on its way.
    #[serde(default)]
    pub progressing: u32,
    /// Where it waits for something else.
    #[serde(default)]
    pub waiting: u32,
    /// Where it has failed.
    #[serde(default)]
    pub failed: u32,
}
