//! `CAPTCluster`: the network of a cluster, and its template for `ClusterClass`.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::endpoint::Endpoint;
use crate::reference::TemplateReference;
use crate::template_metadata::TemplateMetadata;

/// What a `CAPTCluster` asks for.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "infrastructure.cluster.x-k8s.io",
    version = "v1beta1",
    kind = "CAPTCluster",
    namespaced,
    status = "CAPTClusterStatus",
    category = "capt",
    category = "cluster-api",
    doc = "A CAPTCluster is the network of a cluster: a VPC made from a template, or one that exists already.",
    printcolumn(
        name = "CLUSTER",
        type_ = "string",
        json_path = ".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']"
    ),
    printcolumn(name = "VPC-ID", type_ = "string", json_path = ".status.vpcId"),
    printcolumn(name = "READY", type_ = "boolean", json_path = ".status.ready"),
    printcolumn(
        name = "REASON",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].reason"
    ),
    printcolumn(name = "AGE", type_ = "date", json_path = ".metadata.creationTimestamp"),
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("has(self.vpcTemplateRef) != (has(self.existingVpcId) && self.existingVpcId != '')").message("give exactly one of vpcTemplateRef (a new VPC) and existingVpcId (one that exists)"))]
#[x_kube(validation = Rule::new("!has(self.retainVpcOnDelete) || !self.retainVpcOnDelete || has(self.vpcTemplateRef)").message("retainVpcOnDelete is only for a VPC made by vpcTemplateRef: an existing VPC is never deleted"))]
#[x_kube(validation = Rule::new("(has(self.existingVpcId) ? self.existingVpcId : '') == (has(oldSelf.existingVpcId) ? oldSelf.existingVpcId : '')").message("existingVpcId cannot be given, changed or taken away later: make a new CAPTCluster"))]
#[x_kube(validation = Rule::new("!has(self.workspaceTemplateApplyName) || !has(oldSelf.workspaceTemplateApplyName) || self.workspaceTemplateApplyName == oldSelf.workspaceTemplateApplyName").message("workspaceTemplateApplyName cannot be changed: what it made would be made a second time"))]
pub struct CAPTClusterSpec {
    /// The region, as the module's provider knows it, for example `ap-northeast-1`.
    #[schemars(length(max = 64))]
    #[x_kube(validation = Rule::new("self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')").message("region must be written in lower case letters, digits and hyphens, for example ap-northeast-1"))]
    #[x_kube(validation = Rule::new("self == oldSelf").message("region cannot be changed: make a new CAPTCluster"))]
    pub region: String,
    /// The template that makes the VPC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vpc_template_ref: Option<TemplateReference>,
    /// The id of a VPC that exists already; CAPT never changes or deletes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    #[x_kube(validation = Rule::new("self.matches('^([A-Za-z0-9][A-Za-z0-9_./-]*)?$')").message("existingVpcId must be the id of a VPC, for example vpc-0abc1234"))]
    pub existing_vpc_id: Option<String>,
    /// Leave the VPC alone when the cluster is deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retain_vpc_on_delete: bool,
    /// Details of the VPC to be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vpc_config: Option<VpcConfig>,
    /// The name of the `WorkspaceTemplateApply` of the VPC. CAPT fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub workspace_template_apply_name: Option<String>,
    /// The endpoint, where the network provides it; otherwise the control plane does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<Endpoint>,
}

/// Details of a VPC to be made.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VpcConfig {
    /// The VPC's name; `<cluster>-vpc` if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub name: Option<String>,
}

/// What is known of a `CAPTCluster`.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CAPTClusterStatus {
    /// Cluster API's word for: the network was ready once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialization: Option<InfrastructureInitialization>,
    /// The network is ready.
    #[serde(default)]
    pub ready: bool,
    /// The name of the VPC's Workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vpc_workspace_name: Option<String>,
    /// The id of the VPC in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vpc_id: Option<String>,
    /// The zones that machines may be spread over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub failure_domains: Vec<FailureDomain>,
    /// The state of the VPC's apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_template_status: Option<VpcApplyStatus>,
    /// Written by earlier versions, which treated failures as final. CAPT clears it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
    /// Written by earlier versions, which treated failures as final. CAPT clears it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_message: Option<String>,
    /// The generation that the conditions speak of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Ready, `VPCReady`, Paused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// What happened once in the life of the network.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InfrastructureInitialization {
    /// The network was ready once.
    #[serde(default)]
    pub provisioned: bool,
}

/// A zone that machines may be put in.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailureDomain {
    /// The zone's name.
    pub name: String,
    /// Whether control plane machines may be put there.
    #[serde(default)]
    pub control_plane: bool,
    /// More about the zone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
}

/// The state of the VPC's apply.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VpcApplyStatus {
    /// The Workspace is ready.
    #[serde(default)]
    pub ready: bool,
    /// The name of the Workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_name: Option<String>,
    /// The revision of the template that was applied last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_applied_revision: Option<String>,
    /// The revision of the template that failed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_failed_revision: Option<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_failure_message: Option<String>,
    /// When the template was applied last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_applied_time: Option<Time>,
}

/// What a `CAPTClusterTemplate` holds.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "infrastructure.cluster.x-k8s.io",
    version = "v1beta1",
    kind = "CAPTClusterTemplate",
    namespaced,
    category = "capt",
    category = "cluster-api",
    doc = "A CAPTClusterTemplate is what a ClusterClass makes CAPTClusters from.",
    printcolumn(name = "AGE", type_ = "date", json_path = ".metadata.creationTimestamp"),
    derive = "PartialEq"
)]
pub struct CAPTClusterTemplateSpec {
    /// The `CAPTCluster` to be made.
    #[x_kube(validation = Rule::new("self == oldSelf").message("a CAPTClusterTemplate cannot be changed: make a new one under another name and refer to that in the ClusterClass"))]
    pub template: CAPTClusterTemplateResource,
}

/// The `CAPTCluster` that a template makes.
#[derive(JsonSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CAPTClusterTemplateResource {
    /// Labels and annotations of the `CAPTCluster`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMetadata>,
    /// Its spec.
    pub spec: CAPTClusterSpec,
}
