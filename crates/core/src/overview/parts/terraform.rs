//! An apply, its Workspace, and how far Terraform is.

use capt_api::engine_status::EngineStatus;
use capt_api::names::{Reason, annotation, condition as type_};
use capt_api::{Workspace, WorkspaceTemplateApply};

use crate::overview::conditions::Conditions;
use crate::overview::facts::{Applied, Seen};
use crate::overview::node::{Mark, Node};
use crate::overview::plain::plain;
use crate::overview::state::{self, State};
use crate::tie::{ApplyKey, Belongs, belongs};
use crate::workspace::handover::is_paused;
use crate::workspace::status::run_sentence;

/// An apply with its Workspace, and below that the Secret that its outputs go to.
pub(super) fn apply(applied: &Applied, connection: Option<Node>) -> Option<Node> {
    let kind = "WorkspaceTemplateApply";
    let (node, apply) = match &applied.apply {
        Seen::There(apply) => (Node::new(kind, &applied.name, apply_state(apply)), apply),
        // Whoever makes it says why it is not there.
        Seen::Missing => {
            let state = State::new(Mark::Waiting, "", "it is not there yet");
            return Some(Node::new(kind, &applied.name, state).following());
        }
        Seen::Unread(why) => return Some(Node::new(kind, &applied.name, State::unread(why))),
        Seen::NotAsked => return None,
    };
    Some(match applied.workspace.as_ref().and_then(|(name, seen)| workspace(name, seen, apply)) {
        Some(workspace) => node.with([workspace.with(connection)]),
        None => node.with(connection),
    })
}

fn apply_state(apply: &WorkspaceTemplateApply) -> State {
    let conditions = Conditions::of(apply.status.iter().flat_map(|status| &status.conditions));
    let state = state::of(&apply.metadata, &conditions, &[type_::READY]);
    // What is there stays there while a change of it is held up; that has to be told all the same.
    let behind = conditions.failing(type_::APPLIED);
    match behind {
        Some(behind)
            if state.mark == Mark::Ready && (behind.is_trouble() || behind.is(Reason::ApprovalRequired)) =>
        {
            State::beside(behind)
        }
        Some(_) | None => state,
    }
}

fn workspace(name: &str, seen: &Seen<Workspace>, apply: &WorkspaceTemplateApply) -> Option<Node> {
    let node = |state: State| Node::new("Workspace", name, state);
    match seen {
        Seen::There(workspace) => match belongs(&workspace.metadata, &ApplyKey::of(apply)) {
            Belongs::ToUs | Belongs::ToNobody => Some(node(workspace_state(workspace))),
            Belongs::ToApply(_) => None,
        },
        Seen::Missing if apply.metadata.deletion_timestamp.is_some() => None,
        Seen::Missing => {
            let reason = Reason::WorkspaceMissing.as_str();
            Some(node(State::new(Mark::Waiting, reason, "it is not there")).following())
        }
        Seen::Unread(why) => Some(node(State::unread(why))),
        Seen::NotAsked => None,
    }
}

/// What is worst about a Workspace, and what Terraform does with it.
fn workspace_state(workspace: &Workspace) -> State {
    let status = workspace.status.as_ref();
    let conditions = Conditions::of(status.iter().flat_map(|status| &status.conditions));
    let base = state::of(&workspace.metadata, &conditions, &[type_::READY]);
    if let Some(paused) = paused(workspace, &conditions) {
        return paused.holding(base.holds);
    }
    let running = status.and_then(|status| status.engine.as_ref()).and_then(run);
    let synced = conditions.failing(type_::SYNCED).filter(|synced| synced.is_trouble());
    if let Some(told) = conditions.holding(type_::LOCKED) {
        return State::beside(told).holding(base.holds);
    }
    if let Some(told) = conditions.holding(type_::APPROVAL_REQUIRED) {
        return State::beside(told).holding(base.holds);
    }
    if let Some(told) = synced {
        let state = State::beside(told).holding(base.holds);
        return match running {
            Some(running) => State { message: format!("{running}; last attempt: {}", told.message), ..state },
            None => state,
        };
    }
    if let Some(running) = running {
        return State { message: running, ..base };
    }
    let remarks = [type_::INTERRUPTED_CALLS, type_::DRIFTED, type_::STATE_LARGE];
    let remark = remarks.into_iter().find_map(|type_| conditions.holding(type_));
    match remark {
        Some(told) if base.mark == Mark::Ready => State::beside(told),
        Some(_) | None => base,
    }
}

fn run(engine: &EngineStatus) -> Option<String> {
    engine.run.as_ref().map(|run| plain(&run_sentence(run)))
}

fn paused(workspace: &Workspace, conditions: &Conditions) -> Option<State> {
    let reason = Reason::ReconcilePaused;
    if let Some(told) = conditions.failing(type_::SYNCED).filter(|synced| synced.is(reason)) {
        return Some(State { mark: Mark::Paused, ..State::told(told) });
    }
    let message = format!("it has the annotation {}", annotation::CROSSPLANE_PAUSED);
    is_paused(&workspace.metadata).then(|| State::new(Mark::Paused, reason.as_str(), message))
}
