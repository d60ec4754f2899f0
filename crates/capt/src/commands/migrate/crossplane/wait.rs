//! Waits until a Workspace has passed from one to the other.

use anyhow::{Context as _, bail};
use capt_api::Workspace;
use capt_api::crossplane::WorkspaceCondition;
use capt_api::names::{Reason, condition};
use capt_core::workspace::handover::{Handover, handover, is_acknowledgement};
use kube::runtime::wait::await_condition;
use kube::{Api, Client};

use super::{Errand, Outcome, Way};

/// Waits for one Workspace, and answers what became of it.
pub(super) async fn wait(
    client: &Client,
    errand: &Errand,
    name: &str,
) -> anyhow::Result<(Outcome, Option<String>)> {
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let is_over = |found: Option<&Workspace>| {
        found.is_none_or(|workspace| match errand.way {
            Way::ToCapt => is_taken(workspace),
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
    let told = synced(&workspace).and_then(|told| told.message.clone()).filter(|text| !text.is_empty());
    Ok(match (errand.way, handover(&workspace.metadata)) {
        (Way::ToCapt, _) => {
            let settled = synced(&workspace).is_some_and(|told| told.status == "True");
            (if settled { Outcome::Done } else { Outcome::Waiting }, told.filter(|_| !settled))
        }
        (Way::ToCrossplane, None) => (Outcome::Done, None),
        (Way::ToCrossplane, Some(_)) => (Outcome::Waiting, told),
    })
}

fn synced(workspace: &Workspace) -> Option<&WorkspaceCondition> {
    workspace.status.as_ref()?.conditions.iter().find(|told| told.type_ == condition::SYNCED)
}

/// Whether CAPT has it and has said how it finds it.
fn is_taken(workspace: &Workspace) -> bool {
    let told = synced(workspace).is_some_and(|told| !is_acknowledgement(told));
    let looked = workspace.status.as_ref().and_then(|status| status.at_provider.as_ref());
    // Crossplane's own word is there until CAPT has looked.
    let own = looked.and_then(|looked| looked.checksum.as_ref()).is_none();
    let failing = synced(workspace)
        .is_some_and(|told| told.status == "False" && told.reason != Reason::ReconcilePaused.as_str());
    handover(&workspace.metadata) == Some(Handover::Taken) && told && (own || failing)
}

/// Whether CAPT has let go of it, or says that it does not.
fn is_given(workspace: &Workspace) -> bool {
    let refused = synced(workspace).and_then(|told| told.message.as_deref());
    handover(&workspace.metadata).is_none()
        || refused.is_some_and(|text| text.contains("not handed back to Crossplane"))
}

fn late(errand: &Errand, name: &str, found: Option<&Workspace>) -> String {
    let seconds = errand.which.timeout.as_secs();
    let progress = found.and_then(|workspace| handover(&workspace.metadata));
    let told = found.and_then(synced).and_then(|told| told.message.clone()).unwrap_or_default();
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
