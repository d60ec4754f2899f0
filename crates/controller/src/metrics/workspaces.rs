//! Metrics of the Workspaces that CAPT runs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use capt_api::crossplane::WorkspaceCondition;
use capt_api::names::{Reason, condition};
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// Where a Workspace is. What calls for somebody comes first, and stays until something succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
pub(crate) enum WorkspaceState {
    /// It waits for a lock on its state that somebody else holds.
    Locked,
    /// Its plan waits for an approval.
    AwaitingApproval,
    /// Nothing is done for it.
    Paused,
    /// Terraform, or what it needs, failed.
    Failed,
    /// The infrastructure differs.
    Drifted,
    /// All is as it should be.
    Ready,
    /// It is on its way.
    Working,
}

impl WorkspaceState {
    const ALL: [Self; 7] = [
        Self::Locked,
        Self::AwaitingApproval,
        Self::Paused,
        Self::Failed,
        Self::Drifted,
        Self::Ready,
        Self::Working,
    ];

    /// By what its conditions tell.
    pub(crate) fn of(conditions: &[WorkspaceCondition]) -> Self {
        let told = |type_: &str, status: &str| {
            conditions.iter().find(|told| told.type_ == type_ && told.status == status)
        };
        let holds = |type_: &str| told(type_, "True").is_some();
        match told(condition::SYNCED, "False").map(|told| told.reason.as_str()) {
            _ if holds(condition::LOCKED) => Self::Locked,
            _ if holds(condition::APPROVAL_REQUIRED) => Self::AwaitingApproval,
            Some(reason) if reason == Reason::ReconcilePaused.as_str() => Self::Paused,
            Some(_) => Self::Failed,
            None if holds(condition::DRIFTED) => Self::Drifted,
            None if holds(condition::READY) => Self::Ready,
            None => Self::Working,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabels {
    state: WorkspaceState,
}

/// Metrics of Workspaces.
#[derive(Clone)]
pub(super) struct WorkspaceMetrics {
    workspaces: Family<StateLabels, Gauge>,
    /// What is counted, by name.
    counted: Arc<Mutex<HashMap<String, WorkspaceState>>>,
}

impl WorkspaceMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self { workspaces: Family::default(), counted: Arc::default() };
        registry.register(
            "workspaces",
            "Workspaces that CAPT runs, by state. Failed, Locked and AwaitingApproval ones call for somebody.",
            metrics.workspaces.clone(),
        );
        metrics.forget();
        metrics
    }

    /// Where a Workspace is now; nowhere where it is gone.
    pub(super) fn is(&self, workspace: &str, state: Option<WorkspaceState>) {
        let mut counted = self.counted();
        let before = match state {
            Some(state) => counted.insert(workspace.to_owned(), state),
            None => counted.remove(workspace),
        };
        if let Some(before) = before {
            self.gauge(before).dec();
        }
        if let Some(state) = state {
            self.gauge(state).inc();
        }
    }

    /// Somebody else looks after them now.
    pub(super) fn forget(&self) {
        self.counted().clear();
        for state in WorkspaceState::ALL {
            self.gauge(state).set(0);
        }
    }

    fn gauge(&self, state: WorkspaceState) -> Gauge {
        self.workspaces.get_or_create_owned(&StateLabels { state })
    }

    fn counted(&self) -> MutexGuard<'_, HashMap<String, WorkspaceState>> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn told(type_: &str, status: &str, reason: &str) -> Value {
        json!({ "type": type_, "status": status, "reason": reason, "lastTransitionTime": "2026-01-01T00:00:00Z" })
    }

    #[rstest]
    #[case::new(&[], WorkspaceState::Working)]
    #[case::first_run(&[("Ready", "False", "Creating")], WorkspaceState::Working)]
    #[case::ready(&[("Ready", "True", "Available"), ("Synced", "True", "ReconcileSuccess")], WorkspaceState::Ready)]
    #[case::a_change_failed(&[("Ready", "True", "Available"), ("Synced", "False", "ReconcileError")], WorkspaceState::Failed)]
    #[case::paused(&[("Synced", "False", "ReconcilePaused")], WorkspaceState::Paused)]
    #[case::locked(&[("Synced", "False", "ReconcileError"), ("Locked", "True", "Locked")], WorkspaceState::Locked)]
    #[case::no_longer_locked(&[("Synced", "False", "ReconcileError"), ("Locked", "False", "NotLocked")], WorkspaceState::Failed)]
    #[case::asks(&[("Synced", "False", "ApprovalRequired"), ("ApprovalRequired", "True", "ApprovalRequired")], WorkspaceState::AwaitingApproval)]
    #[case::drifted(&[("Ready", "True", "Available"), ("Drifted", "True", "DriftDetected")], WorkspaceState::Drifted)]
    fn a_workspace_is_where_its_conditions_say(
        #[case] conditions: &[(&str, &str, &str)],
        #[case] expected: WorkspaceState,
    ) {
        let conditions = conditions.iter().map(|(type_, status, reason)| told(type_, status, reason));
        let conditions: Vec<WorkspaceCondition> =
            conditions.map(|told| serde_json::from_value(told).unwrap()).collect();

        assert_eq!(WorkspaceState::of(&conditions), expected);
    }
}
