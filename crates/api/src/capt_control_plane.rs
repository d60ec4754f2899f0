//! `CAPTControlPlane`: a control plane made by Terraform, and its template for `ClusterClass`.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::before_destroy::BeforeDestroy;
use crate::crossplane::free_object;
use crate::endpoint::Endpoint;
use crate::reference::TemplateReference;
use crate::template_metadata::TemplateMetadata;

/// What a `CAPTControlPlane` asks for.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "controlplane.cluster.x-k8s.io",
    version = "v1beta1",
    kind = "CAPTControlPlane",
    namespaced,
    status = "CAPTControlPlaneStatus",
    category = "capt",
    category = "cluster-api",
    doc = "A CAPTControlPlane is a Kubernetes control plane that a Terraform module makes, with its endpoint and credentials.",
    printcolumn(
        name = "CLUSTER",
        type_ = "string",
        json_path = ".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']"
    ),
    printcolumn(name = "READY", type_ = "string", json_path = ".status.ready"),
    printcolumn(name = "PHASE", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "VERSION", type_ = "string", json_path = ".spec.version"),
    printcolumn(name = "ENDPOINT", type_ = "string", json_path = ".spec.controlPlaneEndpoint.host"),
    printcolumn(name = "SECRETS", type_ = "string", json_path = ".status.secretState", priority = "1"),
    printcolumn(name = "AGE", type_ = "date", json_path = ".metadata.creationTimestamp"),
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("!has(self.workspaceTemplateApplyName) || !has(oldSelf.workspaceTemplateApplyName) || self.workspaceTemplateApplyName == oldSelf.workspaceTemplateApplyName").message("workspaceTemplateApplyName cannot be changed: what it made would be made a second time"))]
pub struct CAPTControlPlaneSpec {
    /// The Kubernetes version, for example `1.34` or `v1.34.2`.
    #[schemars(length(max = 64))]
    #[x_kube(validation = Rule::new("self.matches('^v?[0-9]+[.][0-9]+([.][0-9]+)?([-+][0-9A-Za-z.+-]+)?$')").message("version must look like 1.34 or v1.34.2"))]
    pub version: String,
    /// The template that makes the control plane.
    pub workspace_template_ref: TemplateReference,
    /// What the module is told about the control plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_config: Option<ControlPlaneConfig>,
    /// Tags for everything that the module makes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 50))]
    pub additional_tags: BTreeMap<String, String>,
    /// Where the API server is reached. CAPT fills it in from the module's outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<Endpoint>,
    /// The name of the control plane's `WorkspaceTemplateApply`. CAPT fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub workspace_template_apply_name: Option<String>,
    /// What is taken down in the cluster before Terraform destroys it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_destroy: Option<BeforeDestroy>,
}

/// What the module is told about the control plane.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ControlPlaneConfig {
    /// The region; that of the `CAPTCluster` if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    #[x_kube(validation = Rule::new("self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')").message("region must be written in lower case letters, digits and hyphens, for example ap-northeast-1"))]
    #[x_kube(validation = Rule::new("self == oldSelf").message("region cannot be changed: make a new CAPTControlPlane"))]
    pub region: Option<String>,
    /// From where the API server can be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_access: Option<EndpointAccess>,
    /// Add-ons that the cloud provider installs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub addons: Vec<ProviderAddon>,
    /// How long things may take before they are reported as late. Nothing is given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<Timeouts>,
    /// Who CAPT is towards the cloud when it makes tokens for the cluster; the identity it runs as if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
}

/// From where the API server can be reached.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("!has(self.publicCIDRs) || self.publicCIDRs.size() == 0 || !has(self.public) || self.public").message("publicCIDRs only have a meaning with `public: true`"))]
pub struct EndpointAccess {
    /// From the internet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public: Option<bool>,
    /// From the network of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private: Option<bool>,
    /// The address ranges that may reach it from the internet, for example `203.0.113.0/24`.
    #[serde(rename = "publicCIDRs", default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 40), inner(length(max = 64)))]
    #[x_kube(validation = Rule::new("self.all(range, isCIDR(range))").message("publicCIDRs must be address ranges, for example 203.0.113.0/24"))]
    pub public_cidrs: Vec<String>,
}

/// An add-on that the cloud provider installs.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("self.name != ''").message("name is empty: write the add-on's name, for example vpc-cni"))]
pub struct ProviderAddon {
    /// The add-on's name.
    #[schemars(length(max = 128))]
    pub name: String,
    /// The add-on's version; the provider's default if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub version: Option<String>,
    /// The add-on's configuration, as the provider wants it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 65536))]
    pub configuration_values: Option<String>,
}

/// How long things may take before they are reported as late, in minutes.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Timeouts {
    /// Minutes until the control plane should be there.
    #[serde(default = "default_control_plane_timeout")]
    #[schemars(range(min = 1, max = 1440))]
    pub control_plane_timeout: i32,
    /// Minutes until the VPC should be there.
    #[serde(default = "default_vpc_ready_timeout")]
    #[schemars(range(min = 1, max = 1440))]
    pub vpc_ready_timeout: i32,
}

fn default_control_plane_timeout() -> i32 {
    30
}

fn default_vpc_ready_timeout() -> i32 {
    15
}

/// Who CAPT is towards the cloud when it makes tokens for the cluster.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    /// The role to be taken on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    #[x_kube(validation = Rule::new("self.matches('^arn:[a-z0-9-]+:iam::[0-9]{12}:role/.+$')").message("roleArn must be the ARN of an IAM role, for example arn:aws:iam::111122223333:role/capt"))]
    pub role_arn: Option<String>,
    /// The external id that the role asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1224))]
    pub external_id: Option<String>,
}

/// What is known of a `CAPTControlPlane`.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CAPTControlPlaneStatus {
    /// Cluster API's word for: the control plane could be reached once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialization: Option<ControlPlaneInitialization>,
    /// The control plane is ready.
    #[serde(default)]
    pub ready: bool,
    /// The control plane could be reached once.
    #[serde(default)]
    pub initialized: bool,
    /// All Secrets of the control plane are there and follow their source.
    #[serde(default)]
    pub secrets_ready: bool,
    /// Where the Secrets stand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_state: Option<SecretState>,
    /// Where the control plane stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// The Kubernetes version that runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The Kubernetes versions that run, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["version".into()]))]
    pub versions: Vec<RunningVersion>,
    /// Nodes of the control plane are not Machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_managed_control_plane: Option<bool>,
    /// The state of the apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_template_status: Option<ControlPlaneApplyStatus>,
    /// The state of the Workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_status: Option<ControlPlaneWorkspaceStatus>,
    /// Written by earlier versions, which treated failures as final. CAPT clears it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
    /// Written by earlier versions, which treated failures as final. CAPT clears it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_message: Option<String>,
    /// The generation that the conditions speak of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Available, Ready, `SecretsReady`, `RollingOut`, Paused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// What happened once in the life of the control plane.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ControlPlaneInitialization {
    /// The control plane could be reached once.
    #[serde(default)]
    pub control_plane_initialized: bool,
}

/// Where the Secrets of a control plane stand.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SecretState {
    /// The connection Secret is not there yet.
    WaitingForSecret,
    /// It is there and being checked.
    ValidatingSecret,
    /// Everything is there.
    Ready,
    /// Something is wrong; it is tried again.
    Failed,
}

/// Where a control plane stands.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// It is being made.
    Creating,
    /// It is ready.
    Ready,
    /// It is being changed.
    Updating,
    /// It is being taken down.
    Deleting,
    /// Something is wrong; it is tried again.
    Failed,
}

/// A Kubernetes version that runs.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningVersion {
    /// The version, with a leading `v`.
    pub version: String,
}

/// The state of a control plane's apply.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ControlPlaneApplyStatus {
    /// The Workspace is ready.
    #[serde(default)]
    pub ready: bool,
    /// One word about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The revision of the template that was applied last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_applied_revision: Option<String>,
    /// Outputs that are texts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, String>,
    /// The revision of the template that failed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_failed_revision: Option<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_failure_message: Option<String>,
}

/// The state of a control plane's Workspace.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ControlPlaneWorkspaceStatus {
    /// The Workspace is ready.
    #[serde(default)]
    pub ready: bool,
    /// One word about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// What Terraform reported, outputs among it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_object")]
    pub at_provider: Option<Value>,
}

/// What a `CAPTControlPlaneTemplate` holds.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "controlplane.cluster.x-k8s.io",
    version = "v1beta1",
    kind = "CAPTControlPlaneTemplate",
    namespaced,
    category = "capt",
    category = "cluster-api",
    doc = "A CAPTControlPlaneTemplate is what a ClusterClass makes CAPTControlPlanes from.",
    printcolumn(name = "AGE", type_ = "date", json_path = ".metadata.creationTimestamp"),
    derive = "PartialEq"
)]
pub struct CAPTControlPlaneTemplateSpec {
    /// The `CAPTControlPlane` to be made.
    #[x_kube(validation = Rule::new("self == oldSelf").message("a CAPTControlPlaneTemplate cannot be changed: make a new one under another name and refer to that in the ClusterClass"))]
    pub template: CAPTControlPlaneTemplateResource,
}

/// The `CAPTControlPlane` that a template makes.
#[derive(JsonSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CAPTControlPlaneTemplateResource {
    /// Labels and annotations of the `CAPTControlPlane`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMetadata>,
    /// Its spec. The version comes from the topology of the Cluster and may be left out.
    pub spec: CAPTControlPlaneTemplateResourceSpec,
}

/// The spec of a `CAPTControlPlane` that a template makes.
#[derive(KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CAPTControlPlaneTemplateResourceSpec {
    /// The Kubernetes version; Cluster API replaces it by that of the topology.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    #[x_kube(validation = Rule::new("self.matches('^v?[0-9]+[.][0-9]+([.][0-9]+)?([-+][0-9A-Za-z.+-]+)?$')").message("version must look like 1.34 or v1.34.2"))]
    pub version: Option<String>,
    /// The template that makes the control plane.
    pub workspace_template_ref: TemplateReference,
    /// What the module is told about the control plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_config: Option<ControlPlaneConfig>,
    /// Tags for everything that the module makes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 50))]
    pub additional_tags: BTreeMap<String, String>,
    /// Filled in by CAPT on the `CAPTControlPlane`; of no use in a template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<Endpoint>,
    /// Filled in by CAPT on the `CAPTControlPlane`; of no use in a template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub workspace_template_apply_name: Option<String>,
    /// What is taken down in the cluster before Terraform destroys it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_destroy: Option<BeforeDestroy>,
}
