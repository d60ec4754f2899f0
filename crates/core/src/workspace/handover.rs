//! Whether CAPT or Crossplane runs a Workspace, where both could.
//!
//! Crossplane leaves a Workspace alone while it is paused, and says so when whatever it had begun is over. So CAPT runs one that
//! is Crossplane's only when it is paused for Crossplane and Crossplane has said so. Both are noted on the Workspace itself:
//!
//! ```text
//! run-by: capt ─▶ paused, handover: pausing ─▶ (Crossplane: ReconcilePaused) ─▶ handover: taken ─▶ CAPT runs it
//! run-by: crossplane ─▶ (CAPT's run ends, what CAPT keeps is let go) ─▶ neither of the other two ─▶ Crossplane runs it
//! its apply was moved ─▶ paused, frozen ─▶ (Crossplane: ReconcilePaused) ─▶ CAPT removes it without a destroy
//! ```
//!
//! Every arrow is one write to the version that was looked at, so that each can be repeated and none can be passed over.

pub mod leaving;
pub mod made;
pub mod survey;

use capt_api::Workspace;
use capt_api::crossplane::WorkspaceCondition;
use capt_api::names::{Reason, annotation, condition};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt;
use serde_json::{Map, Value, json};

use super::traces::is_create_open;
use crate::apply::Blocked;

/// The values of `run-by`.
pub const CAPT: &str = "capt";
/// See [`CAPT`].
pub const CROSSPLANE: &str = "crossplane";

const PAUSING: &str = "pausing";
const TAKEN: &str = "taken";

/// Who runs the Workspaces that say nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serves {
    /// CAPT: nobody else is there.
    Capt,
    /// CAPT: it is told to, although the kind is Crossplane's.
    CaptInstead,
    /// Crossplane.
    Crossplane,
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// CAPT's.
    Ours,
    /// CAPT's, until it has handed the Workspace back.
    HandBack,
    /// Somebody else's.
    Theirs,
    /// Nobody's before this is noted.
    Pass(Move),
}

/// What is noted on a Workspace that passes from one to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// Crossplane is asked to put it down.
    Pause,
    /// Crossplane has put it down.
    Take,
    /// Crossplane is asked to put it down, since its apply lives on in another cluster.
    Freeze,
}

/// How far a Workspace has passed to CAPT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handover {
    /// Crossplane is asked to put it down.
    Pausing,
    /// CAPT has it.
    Taken,
}

/// How far a Workspace with this metadata has passed to CAPT. What is not a word of ours has not got there.
pub fn handover(workspace: &ObjectMeta) -> Option<Handover> {
    noted(workspace, annotation::HANDOVER)
        .map(|word| if word == TAKEN { Handover::Taken } else { Handover::Pausing })
}

/// Whether Crossplane is told to leave the Workspace alone.
pub fn is_paused_for_crossplane(workspace: &ObjectMeta) -> bool {
    noted(workspace, annotation::CROSSPLANE_PAUSED) == Some("true")
}

/// Whether the user has paused the Workspace: a pause that only keeps Crossplane away is none.
pub fn is_paused(workspace: &ObjectMeta) -> bool {
    is_paused_for_crossplane(workspace) && handover(workspace).is_none()
}

/// Whose turn it is. `keeps` says that CAPT keeps the state where Crossplane would not find it: it would make everything a
/// second time.
pub fn turn(workspace: &Workspace, serves: Serves, keeps: bool) -> Turn {
    let metadata = &workspace.metadata;
    let deleting = metadata.deletion_timestamp.is_some();
    let wish = noted(metadata, annotation::RUN_BY);
    let paused = is_paused_for_crossplane(metadata);
    let handover = handover(metadata);
    let acknowledged = || is_acknowledged(workspace);
    match (serves, handover, paused) {
        (Serves::Capt, Some(Handover::Pausing), true) => Turn::Pass(Move::Take),
        (Serves::Capt, None, false) if wish == Some(CAPT) && !deleting => Turn::Pass(Move::Take),
        // Where its user has paused it, that is told.
        (Serves::Capt, _, _) | (Serves::CaptInstead, None, true) => Turn::Ours,

        (Serves::CaptInstead, None, false) if wish == Some(CROSSPLANE) => Turn::Theirs,
        (Serves::CaptInstead, _, false) | (Serves::CaptInstead, Some(Handover::Pausing), true) => {
            Turn::Pass(Move::Take)
        }

        // Whoever has begun to take it down ends it.
        (Serves::Crossplane, None, false) if wish == Some(CAPT) && !deleting => Turn::Pass(Move::Pause),
        (Serves::Crossplane, None, false) if keeps => Turn::Pass(Move::Pause),
        (Serves::Crossplane, Some(_), false) => Turn::Pass(Move::Pause),
        (Serves::Crossplane, Some(Handover::Pausing), true) if acknowledged() => Turn::Pass(Move::Take),
        (Serves::Crossplane, None, _) | (Serves::Crossplane, Some(Handover::Pausing), true) => Turn::Theirs,

        (Serves::CaptInstead | Serves::Crossplane, Some(Handover::Taken), true) => match wish {
            Some(CROSSPLANE) | None if !deleting => Turn::HandBack,
            // What nobody understands changes nothing.
            _ => Turn::Ours,
        },
    }
}

/// Whose turn it is with a Workspace whose apply was moved to another cluster, and which would be Crossplane's: it goes on there, so
/// nobody may run it here any more. Once Crossplane has said so, it is CAPT's to remove, which destroys nothing.
pub fn after_move(workspace: &Workspace, turn: Turn) -> Turn {
    let metadata = &workspace.metadata;
    let frozen = noted(metadata, annotation::FROZEN).is_some() && is_paused_for_crossplane(metadata);
    match turn {
        Turn::Theirs | Turn::Pass(Move::Pause) if !frozen => Turn::Pass(Move::Freeze),
        Turn::Theirs if is_acknowledged(workspace) => Turn::Ours,
        turn => turn,
    }
}

/// Whether Crossplane is asked to put a Workspace down and has not said that it has: nobody runs it then.
pub fn is_asked(workspace: &Workspace) -> bool {
    let metadata = &workspace.metadata;
    let asked =
        handover(metadata) == Some(Handover::Pausing) || noted(metadata, annotation::FROZEN).is_some();
    asked && is_paused_for_crossplane(metadata) && !is_acknowledged(workspace)
}

/// What is told of a Workspace that stays with CAPT, although it is to be Crossplane's.
pub fn refused(why: &str) -> Blocked {
    Blocked::new(Reason::HandBackRefused, format!("the Workspace is not handed back to Crossplane: {why}"))
}

/// What is told when Crossplane does not answer.
pub fn unanswered(workspace: &Workspace) -> Blocked {
    let name = workspace.name_any();
    let what = if noted(&workspace.metadata, annotation::FROZEN).is_some() {
        format!(
            "take its finalizers away and delete it (its apply lives on in another cluster, and nothing is destroyed by that): kubectl patch workspace {name} --type merge -p '{{\"metadata\":{{\"finalizers\":null}}}}'; kubectl delete workspace {name}"
        )
    } else {
        format!("capt migrate from-crossplane {name} --provider-stopped")
    };
    Blocked::new(
        Reason::HandoverUnanswered,
        format!(
            "Crossplane was asked to put this Workspace down and has not said that it has, so nobody runs it: see whether provider-terraform runs. If it is stopped: {what}"
        ),
    )
}

/// Whether Crossplane has said that it leaves the Workspace alone: in the same word as CAPT, which gives a reason beside it.
pub fn is_acknowledged(workspace: &Workspace) -> bool {
    let mut told = workspace.status.iter().flat_map(|status| &status.conditions);
    told.any(is_acknowledgement)
}

/// Whether a condition is Crossplane's word that it leaves the Workspace alone.
pub fn is_acknowledgement(told: &WorkspaceCondition) -> bool {
    told.type_ == condition::SYNCED
        && told.reason == Reason::ReconcilePaused.as_str()
        && told.message.as_deref().unwrap_or_default().is_empty()
}

impl Move {
    /// The annotations that are written, in one go.
    pub fn annotations(self, workspace: &ObjectMeta) -> Value {
        let handover = match self {
            Self::Pause => PAUSING,
            Self::Take => TAKEN,
            Self::Freeze => return frozen(),
        };
        let mut annotations = Map::new();
        annotations.insert(annotation::HANDOVER.to_owned(), json!(handover));
        annotations.insert(annotation::CROSSPLANE_PAUSED.to_owned(), json!("true"));
        // The user's wish stays. One that was taken away is a wish, too, once CAPT has begun.
        if noted(workspace, annotation::RUN_BY).is_none() && self::handover(workspace).is_none() {
            annotations.insert(annotation::RUN_BY.to_owned(), json!(CAPT));
        }
        Value::Object(annotations)
    }
}

/// The annotations of a Workspace that belongs to another cluster now.
pub fn frozen() -> Value {
    json!({ annotation::CROSSPLANE_PAUSED: "true", annotation::FROZEN: "true" })
}

/// The annotations that leave the Workspace to Crossplane, in one go. That it is Crossplane's stays written: a manager that runs
/// all that say nothing would take it back at once.
///
/// `applied` says that CAPT has brought to its end whatever Crossplane had begun to make. Only then is Crossplane told so: it
/// waits for a human otherwise, and it is right to.
pub fn back(workspace: &Workspace, terraform_workspace: &str, applied: bool, now: &str) -> Value {
    let mut annotations = json!({
        annotation::RUN_BY: CROSSPLANE,
        annotation::HANDOVER: null,
        annotation::CROSSPLANE_PAUSED: null,
        annotation::EXTERNAL_NAME: terraform_workspace,
    });
    if applied && is_create_open(workspace) {
        annotations[annotation::EXTERNAL_CREATE_SUCCEEDED] = json!(now);
    }
    annotations
}

fn noted<'it>(workspace: &'it ObjectMeta, key: &str) -> Option<&'it str> {
    workspace.annotations.as_ref()?.get(key).map(String::as_str)
}

#[cfg(test)]
mod tests;
