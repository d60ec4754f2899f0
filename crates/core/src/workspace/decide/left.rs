//! What is left of a Workspace whose apply lives on elsewhere: removed without a destroy, unless something of it is only here.
//! Without the Workspace nobody would know whose that is.

use capt_api::names::Reason;
use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::Step;
use crate::apply::Blocked;
use crate::workspace::observed::Remains;
use crate::workspace::standing::Freeze;

/// When it is looked again whether a process that is not ours has ended: nothing tells.
const LOOK_AGAIN: SignedDuration = SignedDuration::from_secs(10);

/// What to do with it.
pub(super) fn let_go(freeze: &Freeze, remains: &Remains, now: Timestamp) -> Step {
    let (blocked, until) = match remains {
        Remains::Nothing | Remains::EmptyState => return Step::Drop(freeze.clone()),
        Remains::Process => (working(freeze), now.checked_add(LOOK_AGAIN).ok()),
        Remains::Unstored => (unstored(freeze), None),
        Remains::State(secret) => (state(freeze, secret), None),
    };
    Step::Hold { blocked, until }
}

fn working(freeze: &Freeze) -> Blocked {
    let message =
        format!("{freeze}, but a run that an earlier manager began still goes on here: its end is awaited");
    Blocked::new(Reason::StateLeftBehind, message)
}

fn unstored(freeze: &Freeze) -> Blocked {
    Blocked::new(
        Reason::StatePushFailed,
        format!(
            "{freeze}, but a state that could not be stored is in the working directory of this Workspace: compare errored.tfstate there with the state that was moved and store it if it is newer, then delete this Workspace; nothing is destroyed by that"
        ),
    )
}

fn state(freeze: &Freeze, secret: &str) -> Blocked {
    Blocked::new(
        Reason::StateLeftBehind,
        format!(
            "{freeze}, but Terraform has written a state here since, in Secret `{secret}`: a run that the move did not wait for. Copy that state over the one in the other cluster before anything is approved there, then delete the Secret here: nothing is destroyed, and this Workspace goes by itself"
        ),
    )
}
