//! The few fields of Cluster API's `Cluster` that CAPT reads, and a CRD for homes without Cluster API.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::capt_cluster::FailureDomain;
use crate::capt_control_plane::RunningVersion;
use crate::crossplane::free_object;
use crate::endpoint::Endpoint;

/// The part of a Cluster's spec that CAPT looks at. Fields it does not know are kept by the API server.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "cluster.x-k8s.io",
    version = "v1beta2",
    kind = "Cluster",
    namespaced,
    status = "ClusterStatus",
    shortname = "cl",
    category = "cluster-api",
    doc = "A Cluster is a Kubernetes cluster: its network, its control plane and what belongs to it.",
    printcolumn(
        name = "PAUSED",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Paused')].status",
        priority = "1"
    ),
    printcolumn(
        name = "AVAILABLE",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Available')].status"
    ),
    printcolumn(name = "PHASE", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "AGE", type_ = "date", json_path = ".metadata.creationTimestamp"),
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct ClusterSpec {
    /// Nothing of this cluster is reconciled while this is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
    /// Address ranges of pods and services.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_object")]
    pub cluster_network: Option<Value>,
    /// Where the API server is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<Endpoint>,
    /// The control plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_ref: Option<ContractReference>,
    /// The network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infrastructure_ref: Option<ContractReference>,
    /// The Cluster is made from a `ClusterClass`, which takes Cluster API itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_object")]
    pub topology: Option<Value>,
    /// Conditions that must hold, beside Cluster API's own, for the Cluster to be Available.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["conditionType".into()]))]
    pub availability_gates: Vec<AvailabilityGate>,
}

/// A condition that must hold for a Cluster to be Available.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AvailabilityGate {
    /// The type of the condition.
    #[schemars(length(min = 1, max = 316))]
    pub condition_type: String,
    /// `Positive`, as if nothing is said, where the condition should be True; `Negative` where it should be False.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polarity: Option<Polarity>,
}

/// What a condition says when all is well.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Polarity {
    /// True.
    Positive,
    /// False.
    Negative,
}

/// A reference to an object of a provider, in the Cluster's own namespace.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContractReference {
    /// The API group of the object.
    #[schemars(length(min = 1, max = 253))]
    pub api_group: String,
    /// The kind of the object.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
    /// The name of the object.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// The part of a Cluster's status that CAPT looks at.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct ClusterStatus {
    /// What happened once in the life of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialization: Option<ClusterInitialization>,
    /// What runs as the control plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<ClusterControlPlaneStatus>,
    /// The zones that machines may be spread over, as the network says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub failure_domains: Vec<FailureDomain>,
    /// Where the cluster stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The generation that the conditions speak of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Available and its parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// What runs as the control plane of a cluster.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct ClusterControlPlaneStatus {
    /// The Kubernetes versions that run, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub versions: Vec<RunningVersion>,
}

/// What happened once in the life of a cluster.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterInitialization {
    /// The network was ready once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infrastructure_provisioned: Option<bool>,
    /// The control plane could be reached once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_initialized: Option<bool>,
}
