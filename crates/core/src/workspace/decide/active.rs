//! A Workspace that is to be kept in line.

use capt_api::names::Reason;
use capt_api::workspace_template_apply::{DriftPolicy, UpdatePolicy};

use super::{
    Again, Concern, Operation, Priority, Step, Which, after_failure, is_state_missing, not_our_state,
    other_backend, start,
};
use crate::apply::Blocked;
use crate::workspace::handover;
use crate::workspace::observed::{
    Active, Connection, Effect, Ended, Ending, Failure, Inputs, Planned, PlannedAction, Preview, State,
};
use crate::workspace::policy::Permissions;
use crate::workspace::protection::approves;

pub(super) fn keep(seen: &Active) -> Step {
    if !seen.held {
        return Step::Claim;
    }
    if seen.preview == Preview::Made {
        return Step::ShowPreview;
    }
    if let Some(step) = hand_back(seen) {
        return step;
    }
    let permissions = match &seen.permissions {
        Err(blocked) => return hold(blocked.clone()),
        Ok(permissions) if !permissions.any => return Step::Pause,
        Ok(permissions) => *permissions,
    };
    if let State::NotOurs { workspace } = &seen.state {
        return hold(not_our_state(workspace));
    }
    // What was applied is told even when nobody could say what to apply next.
    if let Some(Ended { result: Ending::Applied { destroyed: false } | Ending::Outputs, .. }) = &seen.ended {
        return Step::Publish;
    }
    let lost = (is_missing(seen) && !seen.missing_state_accepted).then(|| hold(missing_state(seen)));
    if seen.preview == Preview::CandidateWanted {
        // Whatever is the matter with what the Workspace says, it is not that which is planned.
        return lost.unwrap_or_else(|| start(Operation::Preview, Which::Candidate, Priority::Change));
    }
    let inputs = match &seen.inputs {
        Err(blocked) => return hold(blocked.clone()),
        Ok(inputs) => inputs,
    };
    if let Some(step) = lost {
        return step;
    }
    if seen.preview == Preview::Wanted {
        // Somebody waits for it.
        return start(Operation::Preview, Which::Current, Priority::Change);
    }
    Keeping { seen, inputs, permissions }.step()
}

fn hold(blocked: Blocked) -> Step {
    Step::Hold { blocked, until: None }
}

fn missing_state(seen: &Active) -> Blocked {
    let consequence = "and without it everything would be made a second time";
    super::missing_state(seen.traces, &seen.memory, consequence, "begin anew")
}

/// What follows from the wish that Crossplane goes on with it. What was begun is ended first: a process of an earlier manager
/// may still be at work, and a state that could not be stored is stored by nobody else.
fn hand_back(seen: &Active) -> Option<Step> {
    let possible = seen.hand_back.as_ref()?;
    let settled = match seen.ended.as_ref().map(|ended| &ended.result) {
        Some(Ending::Applied { .. } | Ending::Outputs) => false,
        Some(Ending::Failed(failure)) => {
            failure.blocked.reason != Reason::StatePushFailed && failure.lock.is_none()
        }
        Some(Ending::Planned(_) | Ending::Unlocked) | None => seen.memory.begun.is_none(),
    };
    // What is not permitted is not ended either.
    let idle = seen.permissions.as_ref().map_or(true, |permissions| !permissions.any);
    match possible {
        Err(blocked) => Some(hold(blocked.clone())),
        Ok(()) if is_missing(seen) && !seen.missing_state_accepted && !is_only_theirs(seen) => {
            Some(hold(handover::refused(&missing_state(seen).message)))
        }
        Ok(()) if seen.unstored => idle.then(|| hold(unstored())),
        Ok(()) => (settled || idle).then_some(Step::HandBack),
    }
}

/// Whether only Crossplane has ever made something for this very Workspace: it finds its state where it left it.
fn is_only_theirs(seen: &Active) -> bool {
    let unknown = seen.memory.applied.is_none() && seen.memory.begun.is_none();
    seen.traces.theirs && !seen.state_noted && unknown
}

fn unstored() -> Blocked {
    Blocked::new(
        Reason::StatePushFailed,
        "the Workspace is to be handed back to Crossplane, but a state that could not be stored is in its working directory: let spec.managementPolicies permit something, so that CAPT stores it",
    )
}

fn is_missing(seen: &Active) -> bool {
    is_state_missing(&seen.state, seen.state_noted, &seen.memory, seen.traces)
}

/// Nothing is in the way of a decision.
struct Keeping<'facts> {
    seen: &'facts Active,
    inputs: &'facts Inputs,
    permissions: Permissions,
}

impl Keeping<'_> {
    fn step(&self) -> Step {
        let ended = self.seen.ended.as_ref().filter(|ended| ended.fingerprint == self.inputs.fingerprint);
        match ended.map(|ended| (ended, &ended.result)) {
            Some((ended, Ending::Planned(plan))) if !plan.destroy && !self.is_due(Some(ended)) => {
                self.judge(ended, plan)
            }
            Some((ended, Ending::Failed(failure))) => self.retry(ended, failure),
            Some(_) => self.plan(),
            // What is not stored yet is stored by any run.
            None if self.seen.unstored => self.plan(),
            None if !self.is_in_line() || self.is_due(None) || is_missing(self.seen) => self.plan(),
            None => self.settle(),
        }
    }

    /// Whether it is time for a look at reality, and none was taken since.
    fn is_due(&self, planned: Option<&Ended>) -> bool {
        let is_older = |next| planned.is_none_or(|planned| planned.at < next);
        self.seen.requested
            || self.seen.next_check.is_some_and(|next| next <= self.seen.now && is_older(next))
    }

    /// Whether what goes in is what was applied last; where nothing may be changed, what was looked at last. An earlier state that
    /// was put back is of something else, and so is what Crossplane ran since.
    fn is_in_line(&self) -> bool {
        let (memory, fingerprint) = (&self.seen.memory, &self.inputs.fingerprint);
        let applied = memory.applied.as_ref().is_some_and(|applied| applied.fingerprint == *fingerprint);
        let observed = !self.permissions.update && memory.observed.as_ref() == Some(fingerprint);
        let stays = !self.seen.restored && !self.seen.traces.ran;
        stays && (observed || (applied && memory.begun.is_none() && !self.seen.moved))
    }

    /// Whether the user wants everything made anew, since the state that was there is lost.
    fn begins_anew(&self) -> bool {
        let seen = self.seen;
        let lost = match seen.state {
            State::Absent | State::Present { empty: true } => true,
            State::Present { empty: false } | State::Elsewhere | State::NotOurs { .. } => false,
        };
        lost && seen.missing_state_accepted
    }

    fn priority(&self) -> Priority {
        match &self.seen.memory.applied {
            _ if self.is_in_line() => Priority::Check,
            None => Priority::Creation,
            Some(_) => Priority::Change,
        }
    }

    fn start(&self, operation: Operation) -> Step {
        start(operation, Which::Current, self.priority())
    }

    fn plan(&self) -> Step {
        self.start(Operation::Plan)
    }

    /// Nothing is to be applied.
    fn settle(&self) -> Step {
        match &self.seen.connection {
            Connection::Incomplete => start(Operation::Outputs, Which::Current, Priority::Change),
            Connection::Refused(blocked) => {
                Step::Hold { blocked: blocked.clone(), until: self.seen.next_check }
            }
            Connection::NotWanted | Connection::Complete => {
                Step::Settled { next_check: self.seen.next_check }
            }
        }
    }

    fn retry(&self, ended: &Ended, failure: &Failure) -> Step {
        let again = Again {
            forced: self.seen.force_unlock.as_deref(),
            hurried: self.seen.requested,
            awaits_change: true,
            inputs: Which::Current,
            priority: self.priority(),
            now: self.seen.now,
        };
        after_failure(ended, failure, &again).unwrap_or_else(|| self.plan())
    }

    /// Decides what becomes of a plan.
    fn judge(&self, ended: &Ended, plan: &Planned) -> Step {
        let seen = self.seen;
        if let Some(blocked) = other_backend(&seen.memory, plan)
            && !seen.missing_state_accepted
        {
            return hold(blocked);
        }
        let in_line = self.is_in_line() && !self.begins_anew();
        let changes = match plan.effect {
            Effect::Nothing => false,
            // Nobody asked for it, and after an apply the next plan might show it again.
            Effect::OutputsAlone => !in_line,
            Effect::Resources => true,
        };
        if !changes {
            return match () {
                // The state that was put back is as good as the one before it.
                () if seen.restored => Step::Confirm,
                () if !self.is_in_line() => self.start(Operation::Outputs),
                () if seen.memory.checked_at.is_none_or(|checked| checked < ended.at) => Step::Confirm,
                () => self.settle(),
            };
        }
        if let Some(step) = self.unless_permitted(plan, in_line) {
            return step;
        }
        if in_line {
            match seen.drift_policy {
                DriftPolicy::Correct => {}
                DriftPolicy::Report | DriftPolicy::Ignore => return self.report(plan),
            }
        }
        let why = self.concerns(plan);
        if !why.is_empty() && !approves(&seen.approvals, &plan.hash) {
            return Step::AwaitApproval { hash: plan.hash.clone(), why, next_check: seen.next_check };
        }
        self.start(Operation::Apply { hash: plan.hash.clone() })
    }

    /// What to do instead of an apply that the policies do not permit.
    fn unless_permitted(&self, plan: &Planned, in_line: bool) -> Option<Step> {
        let Permissions { create, update, .. } = self.permissions;
        let new = self.is_new(plan);
        // Whoever may make it may go on with what was begun.
        let unfinished = self.seen.memory.applied.is_none() && self.seen.memory.begun.is_some();
        match () {
            () if new && create => None,
            () if new => Some(Step::Hold {
                blocked: Blocked::new(
                    Reason::NotPermitted,
                    format!(
                        "nothing is there yet, and spec.managementPolicies do not permit Create ({})",
                        plan.summary
                    ),
                ),
                until: self.seen.next_check,
            }),
            () if update || (unfinished && create) => None,
            // What is there can be read all the same.
            () if !in_line && !self.seen.restored => Some(self.start(Operation::Outputs)),
            () => Some(self.report(plan)),
        }
    }

    /// Tells of a plan that is not to be applied, once the outputs are where they should be.
    fn report(&self, plan: &Planned) -> Step {
        match &self.seen.connection {
            Connection::Incomplete => self.settle(),
            Connection::Refused(_) | Connection::NotWanted | Connection::Complete => {
                Step::ReportDrift { summary: plan.summary.clone(), next_check: self.seen.next_check }
            }
        }
    }

    /// Whether nothing was there before.
    fn is_new(&self, plan: &Planned) -> bool {
        let untouched = match &self.seen.state {
            State::Absent | State::Present { empty: true } => true,
            State::Present { empty: false } | State::NotOurs { .. } => false,
            State::Elsewhere => !touches_existing(plan),
        };
        untouched && (self.seen.memory.applied.is_none() || self.begins_anew())
    }

    /// Everything about a plan that needs the user's approval.
    fn concerns(&self, plan: &Planned) -> Vec<Concern> {
        let memory = &self.seen.memory;
        let traces = self.seen.traces;
        let unknown = memory.applied.is_none() && memory.begun.is_none();
        let there = self.seen.state == State::Present { empty: false } || touches_existing(plan);
        let since = traces.ran && !self.is_new(plan);
        let taken_over = ((unknown && there) || since).then_some(Concern::TakenOver);
        // Nobody has looked into a state that is elsewhere: if it is not the one, this shows only here.
        let blind = self.seen.state == State::Elsewhere && !self.seen.missing_state_accepted;
        let made_before = (unknown && traces.made && blind && !there).then_some(Concern::MadeBefore);

        let hurt: Vec<String> =
            self.seen.protection.hurt_by(plan).into_iter().map(ToOwned::to_owned).collect();
        let protected = (!hurt.is_empty()).then_some(Concern::Protected(hurt));

        let underneath = self.is_changed_underneath().then_some(Concern::ChangedUnderneath);
        let restored = self.seen.restored.then_some(Concern::Restored);
        let moved = self.seen.moved.then_some(Concern::Moved);
        let again = made_again(plan);
        [taken_over, made_before, restored, moved, again, protected, underneath]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Whether what goes in changed although the apply, which asks for approval, did not; and no apply of it was begun.
    fn is_changed_underneath(&self) -> bool {
        let (memory, inputs) = (&self.seen.memory, self.inputs);
        let guarded = match self.seen.update_policy {
            UpdatePolicy::Automatic => false,
            UpdatePolicy::Approve | UpdatePolicy::Pinned => true,
        };
        let Some(applied) = &memory.applied else { return false };
        let begun = memory.begun.as_ref().map(|begun| &begun.fingerprint);
        guarded
            && applied.digest.is_some()
            && applied.digest == inputs.digest
            && applied.fingerprint != inputs.fingerprint
            && begun != Some(&inputs.fingerprint)
    }
}

/// What an interrupted apply has made and this plan would make a second time.
fn made_again(plan: &Planned) -> Option<Concern> {
    let is_made = |address: &&String| {
        plan.changes.iter().any(|change| {
            change.address == **address
                && matches!(
                    change.action,
                    PlannedAction::Create | PlannedAction::Replace | PlannedAction::Unknown
                )
        })
    };
    let addresses: Vec<String> = plan.not_imported.iter().filter(is_made).cloned().collect();
    (!addresses.is_empty()).then_some(Concern::NotImported(addresses))
}

/// Whether a plan shows that something is there already.
fn touches_existing(plan: &Planned) -> bool {
    plan.changes.iter().any(|change| match change.action {
        PlannedAction::Update
        | PlannedAction::Replace
        | PlannedAction::Delete
        | PlannedAction::Forget
        | PlannedAction::Move
        | PlannedAction::Unknown => true,
        // What is imported is there, but it is not changed, and the module says so itself.
        PlannedAction::Create | PlannedAction::Read | PlannedAction::Import => false,
    })
}
