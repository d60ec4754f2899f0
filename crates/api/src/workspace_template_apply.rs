//! `WorkspaceTemplateApply`: one use of a template.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reference::{
    KeySelector, OutputSelector, SecretRequirement, SecretTarget, TemplateReference, WorkspaceReference,
};

/// What a `WorkspaceTemplateApply` asks for.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "infrastructure.cluster.x-k8s.io",
    version = "v1beta1",
    kind = "WorkspaceTemplateApply",
    namespaced,
    status = "WorkspaceTemplateApplyStatus",
    shortname = "wtapply",
    category = "capt",
    category = "terraform",
    doc = "A WorkspaceTemplateApply makes one Workspace from a WorkspaceTemplate and keeps it in line with template and variables.",
    printcolumn(name = "WORKSPACE", type_ = "string", json_path = ".status.workspaceName"),
    printcolumn(name = "APPLIED", type_ = "boolean", json_path = ".status.applied"),
    printcolumn(
        name = "READY",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].status"
    ),
    printcolumn(
        name = "REASON",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].reason"
    ),
    printcolumn(name = "TEMPLATE", type_ = "string", json_path = ".spec.templateRef.name", priority = "1"),
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
pub struct WorkspaceTemplateApplySpec {
    /// The template to be used.
    pub template_ref: TemplateReference,
    /// Values for the module's variables and for `${NAME}` placeholders of the template.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 512))]
    #[x_kube(validation = Rule::new("self.all(name, name.matches('^[A-Za-z_][A-Za-z0-9_-]{0,127}$'))").message("names of variables start with a letter or underscore and go on with letters, digits, underscores and hyphens (128 at most), for example cluster_name"))]
    pub variables: BTreeMap<String, String>,
    /// Values that are taken from elsewhere and followed when they change there. They win over `variables`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["variable".into()]))]
    pub variables_from: Vec<VariableSource>,
    /// Secrets that must be there, with their keys, before the Workspace is made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub wait_for_secrets: Vec<SecretRequirement>,
    /// Workspaces that must be Ready before this one is made. They are destroyed after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub wait_for_workspaces: Vec<WorkspaceReference>,
    /// The Secret that the outputs go to; it wins over what the template says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_connection_secret_to_ref: Option<SecretTarget>,
    /// Leave the Workspace and its infrastructure alone when this object is deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retain_workspace_on_delete: bool,
    /// How a later change of template or variables reaches the Workspace.
    #[serde(default)]
    pub update_policy: UpdatePolicy,
    /// What is done when the infrastructure was changed behind Terraform's back; `Correct` if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift_policy: Option<DriftPolicy>,
    /// Types (`aws_db_instance`) or addresses (`module.db.aws_db_instance.main`) of resources that are not destroyed or replaced
    /// without approval, beside control planes and networks; `*` for all of them, `none` for none at all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 512)))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    #[x_kube(validation = Rule::new("self.all(name, name.trim() != '')").message("names must not be empty: write types or addresses of resources, for example aws_db_instance"))]
    #[x_kube(validation = Rule::new("!('*' in self && 'none' in self)").message("* protects everything and none takes the protection away: write one of them"))]
    pub protected_resources: Vec<String>,
}

/// What is done when the infrastructure was changed behind Terraform's back; `Correct` if nothing is said.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DriftPolicy {
    /// Make it again as it was applied.
    #[default]
    Correct,
    /// Tell, and change nothing.
    Report,
    /// Do not look.
    Ignore,
}

/// How a later change of template or variables reaches the Workspace.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum UpdatePolicy {
    /// At once.
    #[default]
    Automatic,
    /// When the user has approved it: `status.pendingDigest` goes into the annotation `capt.cluster.x-k8s.io/approve`.
    Approve,
    /// Not at all, until this policy is changed.
    Pinned,
}

/// A variable's value that is kept elsewhere.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("[has(self.configMapKeyRef), has(self.secretKeyRef), has(self.workspaceOutputRef)].filter(given, given).size() == 1").message("give exactly one of configMapKeyRef, secretKeyRef and workspaceOutputRef"))]
#[x_kube(validation = Rule::new("self.variable.matches('^[A-Za-z_][A-Za-z0-9_-]*$')").message("variable is the name of a Terraform variable: it starts with a letter or underscore and goes on with letters, digits, underscores and hyphens"))]
pub struct VariableSource {
    /// The variable that gets the value.
    #[schemars(length(max = 128))]
    pub variable: String,
    /// A key of a `ConfigMap`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_map_key_ref: Option<KeySelector>,
    /// A key of a Secret. The value reaches Terraform through a file and can not be used as a placeholder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_key_ref: Option<KeySelector>,
    /// An output of another Workspace, which is then destroyed after this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_output_ref: Option<OutputSelector>,
    /// Go on without the value if it is not there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

/// What is known of a `WorkspaceTemplateApply`.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceTemplateApplyStatus {
    /// The name of the Workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_name: Option<String>,
    /// Whether template and variables have been carried to the Workspace.
    #[serde(default)]
    pub applied: bool,
    /// When the Workspace was written last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_applied_time: Option<Time>,
    /// The generation of the template that was applied last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template_generation: Option<i64>,
    /// Digest of the Workspace spec that was applied last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied_digest: Option<String>,
    /// Digest of a Workspace spec that waits for approval or is held back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_digest: Option<String>,
    /// The generation of the Workspace as it was written last; another one means that somebody else changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_generation: Option<i64>,
    /// The generation of this object that the conditions speak of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Ready, Applied, Synced and Paused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}
