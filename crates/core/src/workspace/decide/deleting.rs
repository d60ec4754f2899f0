//! A Workspace that is being deleted.

use super::{
    AT_ONCE, Again, Concern, Operation, Priority, Step, Which, after_failure, is_state_missing,
    missing_state, not_our_state, other_backend, start,
};
use crate::apply::Blocked;
use crate::workspace::observed::{Deleting, Ended, Ending, Failure, Planned, Retry, State};
use crate::workspace::protection::approves;

pub(super) fn take_down(seen: &Deleting) -> Step {
    if !seen.held {
        return Step::Leave;
    }
    if !seen.destroys {
        return Step::Orphan;
    }
    if !seen.others.is_empty() {
        return Step::AwaitOthers(seen.others.clone());
    }
    if is_over(seen) {
        return Step::Finish;
    }
    if let Some(blocked) = obstacle(seen) {
        return Step::Hold { blocked, until: None };
    }
    match &seen.ended {
        Some(Ended { fingerprint, result: Ending::Planned(plan), .. }) if plan.destroy => {
            match planned_with(seen, fingerprint) {
                Some(which) => destroy(seen, plan, which),
                None => begin(seen),
            }
        }
        Some(ended @ Ended { result: Ending::Failed(failure), .. }) if failure.destroying => {
            retry(seen, ended, failure)
        }
        // Whatever failed while the Workspace was to be kept says nothing about a destroy.
        Some(_) | None => begin(seen),
    }
}

/// Whether nothing is left, or there never was anything. While an apply may go on that an earlier manager began, an empty
/// state proves nothing.
fn is_over(seen: &Deleting) -> bool {
    match seen.ended.as_ref().map(|ended| &ended.result) {
        Some(Ending::Applied { destroyed: true }) => return true,
        Some(Ending::Planned(plan)) if plan.destroy && plan.is_empty() => {
            let is_checked = plan.not_imported.is_empty() || approves(&seen.approvals, &plan.hash);
            return is_checked && !is_lost(seen) && other_place(seen).is_none();
        }
        _ => {}
    }
    match &seen.state {
        State::Present { empty: true } => seen.memory.begun.is_none() && !is_lost(seen),
        State::Absent => !is_lost(seen),
        State::NotOurs { .. } => is_untouched(seen),
        State::Elsewhere => is_untouched(seen) && seen.inputs.is_err() && !seen.traces.made,
        State::Present { empty: false } => false,
    }
}

/// Whether something was made whose state is not there, and nobody accepts that.
fn is_lost(seen: &Deleting) -> bool {
    let missing = is_state_missing(&seen.state, seen.state_noted, &seen.memory, seen.traces);
    (missing || is_nothing_elsewhere(seen)) && !seen.missing_state_accepted
}

/// Whether a state that is kept elsewhere turned out to hold nothing, although Crossplane has made something.
fn is_nothing_elsewhere(seen: &Deleting) -> bool {
    let planned = match seen.ended.as_ref().map(|ended| &ended.result) {
        Some(Ending::Planned(plan)) => plan.destroy && plan.is_empty(),
        _ => false,
    };
    planned && seen.state == State::Elsewhere && seen.traces.made && is_untouched(seen)
}

/// What is planned in a backend that is not the one on record destroys nothing, or something else.
fn other_place(seen: &Deleting) -> Option<Blocked> {
    match seen.ended.as_ref().map(|ended| &ended.result) {
        Some(Ending::Planned(plan)) if plan.destroy && !seen.missing_state_accepted => {
            other_backend(&seen.memory, plan)
        }
        _ => None,
    }
}

/// Whether nothing that is there was made or taken over by this Workspace, as far as is known.
fn is_untouched(seen: &Deleting) -> bool {
    seen.memory.applied.is_none() && seen.memory.begun.is_none()
}

fn obstacle(seen: &Deleting) -> Option<Blocked> {
    if let State::NotOurs { workspace } = &seen.state {
        // A destroy would take down what the other one made.
        return Some(not_our_state(workspace));
    }
    if let Some(blocked) = other_place(seen) {
        return Some(blocked);
    }
    // One that is accepted as missing is over already.
    is_lost(seen).then(|| {
        missing_state(seen.traces, &seen.memory, "so nothing can be destroyed", "let go of what it made")
    })
}

fn plan_with(which: Which) -> Step {
    start(Operation::PlanDestroy, which, Priority::Deletion)
}

fn begin(seen: &Deleting) -> Step {
    first_choice(seen).map_or_else(|blocked| Step::Hold { blocked, until: None }, plan_with)
}

/// Somebody who takes back a Workspace before it changed anything does not mean to destroy what was there. What a destroy would
/// leave behind is somebody's to look after first.
fn destroy(seen: &Deleting, plan: &Planned, which: Which) -> Step {
    let hash = plan.hash.clone();
    let taken_over = is_untouched(seen).then_some(Concern::TakenOver);
    let left = (!plan.not_imported.is_empty()).then(|| Concern::NotImported(plan.not_imported.clone()));
    let why: Vec<Concern> = taken_over.into_iter().chain(left).collect();
    if !why.is_empty() && !approves(&seen.approvals, &hash) {
        return Step::AwaitApproval { hash, why, next_check: None };
    }
    start(Operation::Destroy { hash }, which, Priority::Deletion)
}

/// What the Workspace asks for now, or else what went into the last apply.
fn first_choice(seen: &Deleting) -> Result<Which, Blocked> {
    match (&seen.inputs, &seen.kept) {
        (Ok(_), _) => Ok(Which::Current),
        (Err(_), Some(_)) => Ok(Which::Kept),
        (Err(blocked), None) => Err(blocked.clone()),
    }
}

/// Which inputs a plan was made with, if they can still be had.
fn planned_with(seen: &Deleting, fingerprint: &String) -> Option<Which> {
    if seen.inputs.as_ref().is_ok_and(|inputs| inputs.fingerprint == *fingerprint) {
        return Some(Which::Current);
    }
    (seen.kept.as_ref() == Some(fingerprint)).then_some(Which::Kept)
}

/// What the Workspace asks for and what went into the last apply take turns: the second is tried at once, then there is a pause.
fn retry(seen: &Deleting, ended: &Ended, failure: &Failure) -> Step {
    let differs = match (&seen.inputs, &seen.kept) {
        (Ok(inputs), Some(kept)) => inputs.fingerprint != *kept,
        _ => false,
    };
    let is_stale = failure.retry == Retry::Replan && failure.attempt <= AT_ONCE;
    if differs && !failure.kept_inputs && failure.lock.is_none() && !is_stale {
        return plan_with(Which::Kept);
    }
    // Neither a lock nor a stale plan says anything against the inputs.
    let same = failure.kept_inputs && seen.kept.is_some() && (failure.lock.is_some() || is_stale);
    let inputs = match if same { Ok(Which::Kept) } else { first_choice(seen) } {
        Ok(inputs) => inputs,
        Err(blocked) => return Step::Hold { blocked, until: None },
    };
    let again = Again {
        forced: seen.force_unlock.as_deref(),
        hurried: false,
        awaits_change: false,
        inputs,
        priority: Priority::Deletion,
        now: seen.now,
    };
    after_failure(ended, failure, &again).unwrap_or_else(|| plan_with(inputs))
}
