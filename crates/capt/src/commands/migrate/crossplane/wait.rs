//! Waits until a Workspace has passed from one to the other.

use anyhow::{Context as _, bail};
use capt_api::Workspace;
use capt_api::crossplane::{WorkspaceCondition, WorkspaceStatus};
use capt_api::names::condition;
use capt_core::workspace::handover::{Handover, handover, is_acknowledgement};
use kube::runtime::wait::await_condition;
use kube::{Api, Client};

use super::{Errand, Outcome, Way};

/// Waits for one Workspace, and answers what became of it.
pub(super) async fn wait(
    client: &Client,
    errand: &Errand,
    name: &str,
    before: Option<&WorkspaceStatus>,
) -> anyhow::Result<(Outcome, Option<String>)> {
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let is_over = |found: Option<&Workspace>| {
        found.is_none_or(|workspace| match errand.way {
            Way::ToCapt => is_taken(workspace, before),
            Way::ToCrossplane => is_given(workspace),
        })
    };
    let waited =
        tokio::time::timeout(errand.which.timeout, await_condition(workspaces.clone(), name, is_over));
    let Ok(found) = waited.await else {
        let found = workspaces.get_opt(name).await.with_context(|| format!("reading Workspace `{name}`"))?;
        bail!("{}", late(errand, name, found.as_ref()));
    };
    let found = found.with_context(|| format!("waiting for Workspace `{name}`"))?;
    let Some(workspace) = found else {
        return Ok((Outcome::Done, Some("it was deleted meanwhile".to_owned())));
    };
    let told = synced(workspace.status.as_ref())
        .and_then(|told| told.message.clone())
        .filter(|text| !text.is_empty());
    Ok(match (errand.way, handover(&workspace.metadata)) {
        (Way::ToCapt, _) => {
            let settled = synced(workspace.status.as_ref()).is_some_and(|told| told.status == "True");
            (if settled { Outcome::Done } else { Outcome::Waiting }, told.filter(|_| !settled))
        }
        (Way::ToCrossplane, None) => (Outcome::Done, None),
        (Way::ToCrossplane, Some(_)) => (Outcome::Waiting, told),
    })
}

fn synced(status: Option<&WorkspaceStatus>) -> Option<&WorkspaceCondition> {
    status?.conditions.iter().find(|told| told.type_ == condition::SYNCED)
}

/// Whether CAPT has it and has said how it finds it. What Crossplane said last is there until then: where it was stopped before it
/// could say that it has put the Workspace down, that is what was there when this began.
fn is_taken(workspace: &Workspace, before: Option<&WorkspaceStatus>) -> bool {
    let status = workspace.status.as_ref();
    let told = synced(status).is_some_and(|told| !is_acknowledgement(told));
    // Crossplane's kind does not have this: whoever has it was CAPT's before, and nothing changes.
    let is_ours = status.is_some_and(|status| status.engine.is_some());
    let is_new = own_word(status) != own_word(before);
    handover(&workspace.metadata) == Some(Handover::Taken) && told && (is_ours || is_new)
}

/// What CAPT changes of a status when it has looked: its word, which generation that is about, and Crossplane's mark.
fn own_word(status: Option<&WorkspaceStatus>) -> (Option<&WorkspaceCondition>, Option<i64>, Option<&String>) {
    let generation = status.and_then(|status| status.observed_generation);
    let mark = status.and_then(|status| status.at_provider.as_ref()?.checksum.as_ref());
    (synced(status), generation, mark)
}

/// Whether CAPT has let go of it, or says that it does not.
fn is_given(workspace: &Workspace) -> bool {
    let refused = synced(workspace.status.as_ref()).and_then(|told| told.message.as_deref());
    handover(&workspace.metadata).is_none()
        || refused.is_some_and(|text| text.contains("not handed back to Crossplane"))
}

fn late(errand: &Errand, name: &str, found: Option<&Workspace>) -> String {
    let seconds = errand.which.timeout.as_secs();
    let progress = found.and_then(|workspace| handover(&workspace.metadata));
    let told = synced(found.and_then(|workspace| workspace.status.as_ref()));
    let told = told.and_then(|told| told.message.clone()).unwrap_or_default();
    let why = match (errand.way, progress) {
        (Way::ToCapt, None) => "no manager has begun with it: see whether one runs with `--engine auto`",
        (Way::ToCapt, Some(Handover::Pausing)) => {
            "Crossplane has not said that it has put it down: see whether provider-terraform runs; if it is stopped, add --provider-stopped"
        }
        (Way::ToCapt, Some(Handover::Taken)) => "CAPT has it, and its first plan is not there yet",
        (Way::ToCrossplane, _) => {
            "CAPT has not let go of it: a run may go on (`capt logs workspace NAME -f`), or no manager runs"
        }
    };
    let told = if told.is_empty() { String::new() } else { format!(" ({told})") };
    format!(
        "Workspace `{name}` has not passed over within {seconds} s: {why}{told}. Running this again goes on"
    )
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn workspace(status: &Value) -> Workspace {
        let taken = "capt.cluster.x-k8s.io/handover";
        serde_json::from_value(json!({
            "metadata": { "name": "x", "annotations": { taken: "taken" } },
            "spec": { "forProvider": { "source": "Inline", "module": "" } },
            "status": status,
        }))
        .unwrap()
    }

    fn told(status: &str, reason: &str, message: Option<&str>) -> Value {
        json!({ "conditions": [{
            "type": "Synced", "status": status, "reason": reason, "message": message,
            "lastTransitionTime": "2026-01-01T10:00:00Z",
        }] })
    }

    #[rstest]
    #[case::well(told("True", "ReconcileSuccess", None))]
    #[case::failing(told("False", "ReconcileError", Some("no quota")))]
    #[case::put_down(told("False", "ReconcilePaused", None))]
    fn what_crossplane_said_last_is_not_the_word_of_capt(#[case] theirs: Value) {
        let before = workspace(&theirs);
        assert!(!is_taken(&before, before.status.as_ref()));
        let waiting = workspace(&told("False", "ApprovalRequired", Some("the plan waits")));
        assert!(is_taken(&waiting, before.status.as_ref()));
    }

    #[test]
    fn what_was_with_capt_before_needs_no_new_word() {
        let mut ours = told("True", "ReconcileSuccess", None);
        ours["engine"] = json!({});
        let ours = workspace(&ours);
        assert!(is_taken(&ours, ours.status.as_ref()));
    }

    #[rstest]
    #[case::by_the_generation(json!({ "observedGeneration": 2 }))]
    #[case::by_the_mark_of_crossplane(json!({ "atProvider": { "checksum": null } }))]
    fn the_same_word_of_capt_is_told_from_that_of_crossplane(#[case] changed: Value) {
        let mut theirs = told("True", "ReconcileSuccess", None);
        theirs["atProvider"] = json!({ "checksum": "c" });
        let mut ours = theirs.clone();
        ours.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
        assert!(is_taken(&workspace(&ours), workspace(&theirs).status.as_ref()));
    }
}
