//! `WorkspaceTemplate`: a Terraform module with its defaults, to be used by many applies.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::crossplane::WorkspaceSpec;
use crate::reference::SecretTarget;

/// What a `WorkspaceTemplate` holds.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "infrastructure.cluster.x-k8s.io",
    version = "v1beta1",
    kind = "WorkspaceTemplate",
    namespaced,
    status = "WorkspaceTemplateStatus",
    shortname = "wt",
    category = "capt",
    category = "terraform",
    doc = "A WorkspaceTemplate is a Terraform module with its defaults. A WorkspaceTemplateApply makes a Workspace of it.",
    printcolumn(name = "VERSION", type_ = "string", json_path = ".spec.template.metadata.version"),
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
    printcolumn(
        name = "DESCRIPTION",
        type_ = "string",
        json_path = ".spec.template.metadata.description",
        priority = "1"
    ),
    printcolumn(name = "AGE", type_ = "date", json_path = ".metadata.creationTimestamp"),
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceTemplateSpec {
    /// The Workspace to be made.
    pub template: WorkspaceTemplateDefinition,
    /// The Secret that the outputs go to, unless the apply names another. `${NAME}` placeholders are replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_connection_secret_to_ref: Option<SecretTarget>,
}

/// A Workspace to be made, with a few words about it.
#[derive(KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkspaceTemplateDefinition {
    /// Words about the template, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<WorkspaceTemplateMetadata>,
    /// The spec of the Workspace. In its texts `${NAME}` is replaced where NAME is one of the apply's variables or
    /// `WORKSPACE_NAME`, `CLUSTER_NAME` or `NAMESPACE`; everything else stays as it is written.
    #[schemars(with = "WorkspaceSpec")]
    pub spec: Value,
}

/// Words about a template, for people.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceTemplateMetadata {
    /// What the template makes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub description: Option<String>,
    /// The template's own version.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub version: Option<String>,
    /// Free words to sort templates by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
}

/// What is known of a `WorkspaceTemplate`.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceTemplateStatus {
    /// Written by earlier versions; a template can have many Workspaces, see the applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_name: Option<String>,
    /// The generation that the conditions speak of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Ready says whether the module can be read, and if not, where it is broken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}
