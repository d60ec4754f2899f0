//! What CAPT's own Terraform engine tells about a Workspace.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the engine does and did.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EngineStatus {
    /// The run that waits for its turn or goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunStatus>,
    /// The plan that waits for approval, or that is only reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanStatus>,
    /// When a plan was applied last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_applied_time: Option<Time>,
    /// When the infrastructure is compared with the Workspace next, if nothing else happens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_check_time: Option<Time>,
    /// Where the state is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<StateStatus>,
    /// Which tool ran last, for example `OpenTofu 1.12.6`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
}

/// A run.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunStatus {
    /// What it does.
    pub operation: RunOperation,
    /// Whether it goes on or waits for its turn.
    pub phase: RunPhase,
    /// Since when.
    pub since: Time,
    /// Steps that are finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "int64"))]
    pub done: Option<u64>,
    /// Steps in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "int64"))]
    pub total: Option<u64>,
    /// What is being worked on, oldest first; the first few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub current: Vec<ActivityStatus>,
}

/// What a run does.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RunOperation {
    /// Finds out what would change.
    Plan,
    /// Finds out what would change, only because somebody wants to see it.
    Preview,
    /// Applies a plan.
    Apply,
    /// Finds out what a destroy would do.
    PlanDestroy,
    /// Destroys.
    Destroy,
    /// Reads the outputs.
    Outputs,
    /// Releases a lock.
    Unlock,
}

impl RunOperation {
    /// Every operation.
    pub const ALL: [Self; 7] = [
        Self::Plan,
        Self::Preview,
        Self::Apply,
        Self::PlanDestroy,
        Self::Destroy,
        Self::Outputs,
        Self::Unlock,
    ];
}

/// Whether a run goes on.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunPhase {
    /// It waits for its turn.
    Queued,
    /// It goes on.
    Running,
    /// It waits for a process that an earlier manager left behind.
    WaitingForEarlierRun,
    /// It was asked to stop.
    Stopping,
}

/// A resource that is being worked on.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivityStatus {
    /// Its address in the module.
    pub address: String,
    /// For example `create`.
    pub action: String,
    /// Since when.
    pub since: Time,
}

/// A plan.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanStatus {
    /// Names what it would do: the value for the annotation `capt.cluster.x-k8s.io/approve-plan`.
    pub hash: String,
    /// For example `2 to add, 0 to change, 1 to replace, 0 to destroy`.
    pub summary: String,
    /// The `ConfigMap` (`namespace/name`) whose key `plan` shows it in full, without secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map: Option<String>,
}

/// Where a state is kept.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StateStatus {
    /// `kubernetes`, or the backend that the module or its `ProviderConfig` declares.
    pub backend: String,
    /// The Secret (`namespace/name`) that holds it, where CAPT placed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Its size in bytes, as it is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "int64"))]
    pub bytes: Option<u64>,
}
