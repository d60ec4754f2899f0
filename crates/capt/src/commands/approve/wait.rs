//! Waits until what was approved is applied.

use anyhow::{Context as _, bail};
use capt_api::crossplane::WorkspaceCondition;
use capt_api::names::{Reason, condition};
use capt_api::{Workspace, WorkspaceTemplateApply};
use kube::runtime::wait::await_condition;
use kube::{Api, Client};

use super::pending::{self, Pending};
use crate::commands::running::is_running;

/// Where a Workspace stands after an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Standing {
    /// The end is not seen yet.
    Working,
    /// It is applied.
    Applied,
    /// It failed, or something else waits now.
    Stopped(String),
}

/// Returns when it is applied; an error says what came instead.
pub(super) async fn until_applied(client: &Client, what: &Pending) -> anyhow::Result<()> {
    let approved = match what {
        Pending::Plan { hash, .. } => Some(hash.as_str()),
        Pending::Change { namespace, apply, digest, .. } => {
            let applies: Api<WorkspaceTemplateApply> = Api::namespaced(client.clone(), namespace);
            let carried =
                |found: Option<&WorkspaceTemplateApply>| found.is_none_or(|apply| is_carried(apply, digest));
            await_condition(applies, apply, carried).await.context("watching the WorkspaceTemplateApply")?;
            None
        }
    };
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let is_over = |found: Option<&Workspace>| {
        found.is_none_or(|workspace| standing(workspace, approved) != Standing::Working)
    };
    let found =
        await_condition(workspaces, what.workspace(), is_over).await.context("watching the Workspace")?;
    match found.map(|workspace| standing(&workspace, approved)) {
        // Gone, as it was to be.
        None | Some(Standing::Applied | Standing::Working) => Ok(()),
        Some(Standing::Stopped(why)) => bail!("{} was approved, but is not applied: {why}", what.name()),
    }
}

fn is_carried(apply: &WorkspaceTemplateApply, digest: &str) -> bool {
    let status = apply.status.as_ref();
    status.is_some_and(|status| {
        status.applied_digest.as_deref() == Some(digest) && status.pending_digest.is_none()
    })
}

fn standing(workspace: &Workspace, approved: Option<&str>) -> Standing {
    let of = |type_: &str| {
        let conditions = workspace.status.iter().flat_map(|status| &status.conditions);
        conditions.clone().find(|entry| entry.type_ == type_)
    };
    let message = |entry: &WorkspaceCondition| entry.message.clone().unwrap_or_default();
    let waiting = pending::plan_hash(workspace);
    let generation = workspace.metadata.generation;
    let is_seen = workspace.status.as_ref().is_some_and(|status| status.observed_generation == generation);
    match of(condition::SYNCED) {
        _ if is_running(workspace) || !is_seen || (waiting.is_some() && waiting.as_deref() == approved) => {
            Standing::Working
        }
        _ if waiting.is_some() => Standing::Stopped("another plan waits for approval now".to_owned()),
        Some(synced) if synced.status == "True" => Standing::Applied,
        Some(synced) if synced.reason == Reason::ReconcileError.as_str() => {
            Standing::Stopped(message(synced))
        }
        Some(synced) if synced.reason == Reason::ReconcilePaused.as_str() => {
            Standing::Stopped(message(synced))
        }
        Some(_) | None => Standing::Working,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn workspace(status: Value) -> Workspace {
        let mut status = status;
        status["observedGeneration"] = status.get("observedGeneration").cloned().unwrap_or(json!(2));
        serde_json::from_value(json!({
            "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace",
            "metadata": { "name": "x", "generation": 2 },
            "spec": { "forProvider": { "source": "Inline", "module": "" } },
            "status": status,
        }))
        .unwrap()
    }

    fn told(type_: &str, status: &str, reason: &str) -> Value {
        json!({ "type": type_, "status": status, "reason": reason, "message": "no quota", "lastTransitionTime": "2026-01-01T00:00:00Z" })
    }

    #[rstest]
    #[case::not_seen_yet(json!({ "conditions": [told("Synced", "False", "ApprovalRequired"), told("ApprovalRequired", "True", "ApprovalRequired")], "engine": { "plan": { "hash": "h", "summary": "" } } }), Standing::Working)]
    #[case::runs(json!({ "conditions": [told("Synced", "True", "ReconcileSuccess")], "engine": { "run": { "operation": "Apply", "phase": "Running", "since": "2026-01-01T00:00:00Z" } } }), Standing::Working)]
    #[case::between_two_runs(json!({ "conditions": [told("Synced", "False", "ApprovalRequired"), told("ApprovalRequired", "False", "NothingPending")] }), Standing::Working)]
    #[case::an_older_generation(json!({ "conditions": [told("Synced", "True", "ReconcileSuccess")], "observedGeneration": 1 }), Standing::Working)]
    #[case::done(json!({ "conditions": [told("Synced", "True", "ReconcileSuccess")] }), Standing::Applied)]
    #[case::failed(json!({ "conditions": [told("Synced", "False", "ReconcileError")] }), Standing::Stopped("no quota".to_owned()))]
    #[case::another_plan(json!({ "conditions": [told("ApprovalRequired", "True", "ApprovalRequired")], "engine": { "plan": { "hash": "i", "summary": "" } } }), Standing::Stopped("another plan waits for approval now".to_owned()))]
    fn the_end_is_known_when_it_is_seen(#[case] status: Value, #[case] expected: Standing) {
        assert_eq!(standing(&workspace(status), Some("h")), expected);
    }
}
