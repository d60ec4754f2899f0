//! What to do with a Workspace, from the facts.

mod active;
mod deleting;
mod left;
#[cfg(test)]
mod tests;

use capt_api::names::{Reason, annotation};
use k8s_openapi::jiff::Timestamp;

use super::backend;
use super::handover::Move;
use super::lock::{self, Lock, Release};
use super::observed::{Ended, Failure, Memory, Observed, Planned, Retry, State};
use super::schedule;
use super::standing::Freeze;
use super::traces::Traces;
use crate::apply::Blocked;

/// So often a plan that went stale is made again at once, and a lock is released at once.
const AT_ONCE: u32 = 3;

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Nothing at all.
    Leave,
    /// Note on it how far it has passed from Crossplane to CAPT, or back.
    Pass(Move),
    /// Wait until Crossplane says that it has put it down.
    AwaitCrossplane {
        /// When that is told to be overdue.
        until: Timestamp,
    },
    /// Tell that its apply wants it left alone.
    Freeze(Freeze),
    /// Let go of it without a destroy.
    Abandon(Freeze),
    /// Remove it without a destroy.
    Drop(Freeze),
    /// Put on record that nothing goes on any more, and tell that its apply wants it left alone.
    Settle(Freeze),
    /// Tell that it is paused.
    Pause,
    /// Wait until its run ends.
    Wait,
    /// Ask its run to stop, since it makes what is to be destroyed.
    Interrupt,
    /// Hold it by our finalizer.
    Claim,
    /// Start a run.
    Start(Start),
    /// Publish the outputs of the run that ended, and put on record what was applied.
    Publish,
    /// Put on record that reality is as it should be.
    Confirm,
    /// Show the plan that somebody asked to see.
    ShowPreview,
    /// Wait until something changes, or until then.
    Hold {
        /// Why.
        blocked: Blocked,
        /// When it is tried again without a change.
        until: Option<Timestamp>,
    },
    /// Wait until somebody lets go of the lock.
    AwaitLock {
        /// What to tell.
        failure: Failure,
        /// When it is tried again.
        until: Timestamp,
    },
    /// Wait until the user approves the plan.
    AwaitApproval {
        /// The hash of the plan.
        hash: String,
        /// Why it needs approval.
        why: Vec<Concern>,
        /// When it is made again without a change.
        next_check: Option<Timestamp>,
    },
    /// Tell what a plan would do, and do nothing.
    ReportDrift {
        /// Its summary.
        summary: String,
        /// When it is made again without a change.
        next_check: Option<Timestamp>,
    },
    /// Wait until others let go of the Workspace.
    AwaitOthers(Vec<String>),
    /// Let go of it and leave the infrastructure alone.
    Orphan,
    /// Leave it to Crossplane, with all that it needs.
    HandBack,
    /// Nothing is left of the infrastructure: remove what was kept and let go.
    Finish,
    /// All is as it should be.
    Settled {
        /// When it is compared with reality next.
        next_check: Option<Timestamp>,
    },
}

/// A run to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// What it does.
    pub operation: Operation,
    /// What goes in.
    pub inputs: Which,
    /// Who goes first.
    pub priority: Priority,
}

/// What a run does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Finds out what would change.
    Plan,
    /// Finds out what would change, only to show it.
    Preview,
    /// Finds out what a destroy would do.
    PlanDestroy,
    /// Applies this plan.
    Apply {
        /// Its hash.
        hash: String,
    },
    /// Applies this plan, which destroys everything.
    Destroy {
        /// Its hash.
        hash: String,
    },
    /// Reads the outputs.
    Outputs,
    /// Releases this lock.
    Unlock {
        /// Its identifier.
        id: String,
        /// Why.
        why: Release,
    },
}

/// What goes into a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// What the Workspace asks for now.
    Current,
    /// What went into the last apply.
    Kept,
    /// What somebody wants to see planned before he applies it.
    Candidate,
}

/// Who goes first when there are more runs than there may be at the same time; the first one named does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// Something is to go.
    Deletion,
    /// Something is to be made.
    Creation,
    /// Something is to change.
    Change,
    /// Somebody looks whether all is well.
    Check,
}

/// Why a plan needs approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Concern {
    /// Somebody else made what it would change.
    TakenOver,
    /// It destroys or replaces protected resources.
    Protected(Vec<String>),
    /// What goes in changed without the approval that the apply's policy asks for.
    ChangedUnderneath,
    /// Somebody put an earlier state back: what was made since is not in it.
    Restored,
    /// It was moved here from another cluster, where a run may have gone on.
    Moved,
    /// Crossplane has made things, and it makes everything anew.
    MadeBefore,
    /// An interrupted apply has made these, and they are not imported.
    NotImported(Vec<String>),
}

/// Decides what to do.
pub fn decide(seen: &Observed) -> Step {
    match seen {
        Observed::NotOurs => Step::Leave,
        Observed::Passing(passing) => Step::Pass(*passing),
        Observed::Asked { unanswered, due, now } if now >= due => {
            Step::Hold { blocked: unanswered.clone(), until: None }
        }
        Observed::Asked { due, .. } => Step::AwaitCrossplane { until: *due },
        Observed::Frozen(freeze) => Step::Freeze(freeze.clone()),
        Observed::Abandoned(freeze) => Step::Abandon(freeze.clone()),
        Observed::LeftBehind { freeze, remains, now } => left::let_go(freeze, remains, *now),
        // What was made is told, whoever paused it meanwhile: nobody else knows of it.
        Observed::Unsettled { publishes: true, freeze: _ } => Step::Publish,
        Observed::Unsettled { publishes: false, freeze } => Step::Settle(freeze.clone()),
        Observed::Paused => Step::Pause,
        Observed::Busy { outdated: true } => Step::Interrupt,
        Observed::Busy { outdated: false } => Step::Wait,
        Observed::Deleting(seen) => deleting::take_down(seen),
        Observed::Active(seen) => active::keep(seen),
    }
}

fn start(operation: Operation, inputs: Which, priority: Priority) -> Step {
    Step::Start(Start { operation, inputs, priority })
}

fn not_our_state(workspace: &str) -> Blocked {
    Blocked::new(
        Reason::StateNotOwned,
        format!(
            "the state of this name belongs to Workspace `{workspace}`: give this one another name with the annotation {}",
            annotation::EXTERNAL_NAME
        ),
    )
}

/// Whether there was a state that is not there now. Where Crossplane has made something, there was one: it may be on a disk of
/// Crossplane's own, and one without anything in it is not it.
fn is_state_missing(state: &State, noted: bool, memory: &Memory, traces: Traces) -> bool {
    let known = memory.applied.is_some() || memory.begun.is_some();
    match state {
        State::Absent => noted || known || traces.made,
        State::Present { empty: true } => traces.made && !known,
        State::Present { empty: false } | State::Elsewhere | State::NotOurs { .. } => false,
    }
}

/// Why nothing goes on without the state, and where it may be.
fn missing_state(traces: Traces, memory: &Memory, consequence: &str, otherwise: &str) -> Blocked {
    let by_crossplane = (traces.theirs || traces.noted) && memory.applied.is_none() && memory.begun.is_none();
    let what = if by_crossplane {
        "Crossplane has made something for this Workspace, but its state is not where the ProviderConfig says"
    } else {
        "the state that was there is missing"
    };
    let how = if by_crossplane {
        "let the ProviderConfig say where it is (if it says nothing, provider-terraform keeps it on its own disk: move it into a backend first)"
    } else {
        "restore it (`capt state restore`)"
    };
    Blocked::new(
        Reason::StateMissing,
        format!(
            "{what}, {consequence}: {how}, or annotate this Workspace with {}=true to {otherwise}",
            annotation::ACCEPT_MISSING_STATE
        ),
    )
}

/// The state does not follow a backend that changes: without it everything would be made a second time, and nothing destroyed.
fn other_backend(memory: &Memory, plan: &Planned) -> Option<Blocked> {
    let (before, now) = (memory.elsewhere.as_deref(), plan.elsewhere.as_deref());
    if memory.applied.is_none() || backend::is_same(before, now) {
        return None;
    }
    let word = |backend: Option<&str>| backend.unwrap_or("kubernetes, as CAPT keeps it").to_owned();
    Some(Blocked::new(
        Reason::StateMissing,
        format!(
            "the state was kept by the backend {}, and what goes in now says {}: change it back, or move the state there yourself and annotate this Workspace with {}=true",
            word(before),
            word(now),
            annotation::ACCEPT_MISSING_STATE
        ),
    ))
}

/// What a further try after a failure depends on.
struct Again<'facts> {
    /// The lock that the user wants released.
    forced: Option<&'facts str>,
    /// Whether somebody asks for it now.
    hurried: bool,
    /// Whether what cannot work without a change is left until there is one.
    awaits_change: bool,
    /// What goes into a run that releases a lock.
    inputs: Which,
    priority: Priority,
    now: Timestamp,
}

/// What to do about a failure; `None` when it is to be tried again now.
fn after_failure(ended: &Ended, failure: &Failure, again: &Again<'_>) -> Option<Step> {
    let until = ended.at.saturating_add(schedule::pause(failure.attempt)).unwrap_or(Timestamp::MAX);
    let over = again.hurried || again.now >= until;
    if let Some(step) = failure.lock.as_ref().and_then(|lock| unlock(lock, again))
        && (over || failure.attempt <= AT_ONCE)
    {
        return Some(step);
    }
    match failure.retry {
        Retry::OnChange if again.awaits_change && !again.hurried => {
            Some(Step::Hold { blocked: failure.blocked.clone(), until: None })
        }
        Retry::Replan if failure.attempt <= AT_ONCE => None,
        _ if over => None,
        Retry::OnChange | Retry::Replan | Retry::Backoff => Some(match failure.lock {
            Some(_) => Step::AwaitLock { failure: failure.clone(), until },
            None => Step::Hold { blocked: failure.blocked.clone(), until: Some(until) },
        }),
    }
}

fn unlock(lock: &Lock, again: &Again<'_>) -> Option<Step> {
    let why = lock::release(lock, again.forced)?;
    Some(start(Operation::Unlock { id: lock.id.clone(), why }, again.inputs, again.priority))
}
