//! Stacks in a cluster, add-on by add-on.

use capt_api::AddonStackBinding;
use capt_api::addon_stack::{StepState, StepStatus};
use capt_api::names::{Reason, condition as type_};

use crate::overview::conditions::Conditions;
use crate::overview::node::{Mark, Node};
use crate::overview::plain::plain;
use crate::overview::state::{self, State};

pub(super) fn binding(binding: &AddonStackBinding) -> Node {
    let status = binding.status.as_ref();
    let conditions = Conditions::of(status.iter().flat_map(|status| &status.conditions));
    let state = state::of(&binding.metadata, &conditions, &[type_::READY]);
    let name = binding.metadata.name.as_deref().unwrap_or_default();
    let steps = status.iter().flat_map(|status| &status.addons);
    Node::new("AddonStackBinding", name, state).with(steps.map(step))
}

fn step(step: &StepStatus) -> Node {
    let reason = Reason::find(&step.reason);
    let trouble = reason.is_some_and(Reason::is_trouble);
    let mark = match step.state {
        StepState::Ready => Mark::Ready,
        StepState::Failed => Mark::Failing,
        StepState::Blocked if reason == Some(Reason::GateClosed) => Mark::Paused,
        StepState::Pending
        | StepState::Blocked
        | StepState::Delivering
        | StepState::WaitingForReady
        | StepState::Removing => {
            if trouble {
                Mark::Failing
            } else {
                Mark::Waiting
            }
        }
    };
    let state = State::new(mark, &plain(&step.reason), plain(&step.message)).since(Some(step.since.0));
    Node::new("Addon", &step.name, state)
}
