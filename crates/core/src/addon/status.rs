//! What is told of a stack in a cluster.

use capt_api::addon_stack::{AddonStackBindingStatus, StepState, StepStatus, ValuesStatus};
use capt_api::names::{Reason, condition as type_};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::decide::{Facts, Progress, Verdict, failures, is_same};
use super::pace;
use crate::condition::{Stamp, Statement, Truth, cut, to_the_second, upsert};
use crate::note::Note;

/// How much of a reason is told.
pub(super) const LONGEST_MESSAGE: usize = 1024;

/// What is told of one add-on after it was looked at.
pub fn step(
    facts: &Facts<'_>,
    progress: &Progress,
    verdict: &Verdict,
    values: Vec<ValuesStatus>,
) -> StepStatus {
    let now = to_the_second(facts.now);
    let before = facts.before;
    let content = facts.content.as_ref().ok();
    let failures = if is_attempt(verdict) { failures(facts).saturating_add(1) } else { 0 };
    let pause = (failures > 0).then(|| pace::pause(facts.addon.retry.as_ref(), failures)).flatten();
    let next_attempt = pause.and_then(|pause| now.0.checked_add(pause).ok()).map(Time);
    let delivered = match (&progress.delivered, content) {
        (Some(Ok(_)), Some(content)) => content.manifests.clone(),
        _ => before.and_then(|before| before.delivered.clone()),
    };
    let attempted = match (began(verdict), content) {
        (true, Some(content)) => Some(content.digest()),
        _ => before.and_then(|before| before.attempted.clone()),
    };
    StepStatus {
        name: facts.addon.name.clone(),
        state: verdict.state,
        since: before
            .filter(|before| before.state == verdict.state)
            .map_or(now.clone(), |before| before.since.clone()),
        reason: verdict.reason.as_str().to_owned(),
        message: cut(&verdict.message, LONGEST_MESSAGE),
        started: started(facts, verdict, &now),
        ready_once: before
            .and_then(|before| before.ready_once.clone())
            .or_else(|| (verdict.state == StepState::Ready).then(|| now.clone())),
        failed_since: failed_since(facts, verdict, &now),
        gate_opened: progress.opened || before.is_some_and(|before| before.gate_opened),
        removal: facts.addon.removal,
        failures,
        next_attempt,
        attempted,
        delivered,
        values: if progress.values.is_some() {
            values
        } else {
            before.map(|before| before.values.clone()).unwrap_or_default()
        },
    }
}

/// Whether something was done for it in the cluster.
fn began(verdict: &Verdict) -> bool {
    match verdict.state {
        StepState::Pending | StepState::Blocked | StepState::Removing => false,
        StepState::Delivering | StepState::WaitingForReady | StepState::Ready | StepState::Failed => true,
    }
}

/// Whether it failed in a way that is tried again with growing pauses; what is only not ready is looked at again.
fn is_attempt(verdict: &Verdict) -> bool {
    verdict.state == StepState::Failed
        && !matches!(verdict.reason, Reason::AddonOverdue | Reason::AddonFailed | Reason::NotApplied)
}

/// Since when it is in trouble: from the first word of it until it is ready.
fn failed_since(facts: &Facts<'_>, verdict: &Verdict, now: &Time) -> Option<Time> {
    let before = facts.before.and_then(|before| before.failed_since.clone());
    match verdict.state {
        StepState::Ready => None,
        StepState::Failed => before.or_else(|| Some(now.clone())),
        StepState::Blocked if verdict.reason.is_trouble() => before.or_else(|| Some(now.clone())),
        StepState::Pending
        | StepState::Blocked
        | StepState::Delivering
        | StepState::WaitingForReady
        | StepState::Removing => before,
    }
}

/// From when on the add-on is given its time.
fn started(facts: &Facts<'_>, verdict: &Verdict, now: &Time) -> Option<Time> {
    let before = facts.before.and_then(|before| before.started.clone());
    let was_ready = facts.before.is_some_and(|before| before.state == StepState::Ready);
    let anew = !is_same(facts) || (was_ready && verdict.state != StepState::Ready);
    match began(verdict) {
        false => before,
        true if anew => Some(now.clone()),
        true => before.or_else(|| Some(now.clone())),
    }
}

/// The add-on at which a stack stands in a cluster: what failed first, then what is blocked, then what is not ready.
pub fn stands_at(steps: &[StepStatus]) -> Option<&StepStatus> {
    let first = |state: StepState| steps.iter().find(|step| step.state == state);
    first(StepState::Failed)
        .or_else(|| first(StepState::Blocked))
        .or_else(|| steps.iter().find(|step| step.state != StepState::Ready))
}

/// Why a whole stack does not go on in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whole {
    /// It does.
    Goes,
    /// Somebody has paused it.
    Paused(String),
    /// The stack cannot be used.
    Invalid {
        /// One word.
        reason: Reason,
        /// A sentence.
        message: String,
    },
    /// It is being taken away.
    Removing,
}

/// What is told of a stack in a cluster.
pub fn status(
    before: Option<&AddonStackBindingStatus>,
    steps: Vec<StepStatus>,
    whole: &Whole,
    request: Option<&str>,
    stack_generation: Option<i64>,
    cluster: Option<String>,
    stamp: &Stamp,
) -> AddonStackBindingStatus {
    let mut conditions = before.map(|before| before.conditions.clone()).unwrap_or_default();
    let ready = ready(&steps, whole);
    upsert(&mut conditions, ready.into_condition(type_::READY, stamp));
    let paused = match whole {
        Whole::Paused(message) => Statement::new(Truth::True, Reason::Paused, message),
        Whole::Goes | Whole::Invalid { .. } | Whole::Removing => {
            Statement::new(Truth::False, Reason::NotPaused, "")
        }
    };
    upsert(&mut conditions, paused.into_condition(type_::PAUSED, stamp));
    let at = stands_at(&steps);
    let latest_ready = || steps.iter().map(|step| step.since.clone()).max();
    AddonStackBindingStatus {
        at: at.map(|step| step.name.clone()),
        state: at.map(|step| step.state).or_else(|| (!steps.is_empty()).then_some(StepState::Ready)),
        since: at.map(|step| step.since.clone()).or_else(latest_ready),
        cluster: cluster.or_else(|| before.and_then(|before| before.cluster.clone())),
        last_handled_request: request.map(ToOwned::to_owned),
        stack_generation,
        conditions,
        addons: steps,
    }
}

fn ready(steps: &[StepStatus], whole: &Whole) -> Statement {
    match (whole, stands_at(steps)) {
        (Whole::Removing, at) => {
            let message = at.map(|step| format!("`{}`: {}", step.name, step.message)).unwrap_or_default();
            Statement::new(Truth::False, Reason::Removing, message)
        }
        (Whole::Invalid { reason, message }, _) => Statement::new(Truth::False, *reason, message),
        (Whole::Goes | Whole::Paused(_), Some(step)) => {
            let reason = Reason::find(&step.reason).unwrap_or(Reason::AddonNotReady);
            Statement::new(Truth::False, reason, format!("`{}`: {}", step.name, step.message))
        }
        (Whole::Goes | Whole::Paused(_), None) => {
            let names = steps.iter().map(|step| step.name.as_str()).collect::<Vec<_>>().join(", ");
            Statement::new(Truth::True, Reason::AddonsReady, format!("ready: {names}"))
        }
    }
}

/// That something was changed in the cluster and is as it should be again.
pub fn repaired(facts: &Facts<'_>, progress: &Progress) -> Option<Note> {
    let before = facts.before.filter(|before| before.state == StepState::Ready && is_same(facts))?;
    match progress.delivered {
        Some(Ok(written)) if written > 0 => {
            let objects = if written == 1 { "1 object".to_owned() } else { format!("{written} objects") };
            let message = format!(
                "`{}`: {objects} had been changed in the cluster and were brought in line",
                before.name
            );
            Some(Note { warning: false, reason: Reason::DriftRepaired, message })
        }
        _ => None,
    }
}

/// What is worth an Event: an add-on that fails, is blocked, gets ready, or recovers.
pub fn notes(before: Option<&AddonStackBindingStatus>, next: &AddonStackBindingStatus) -> Vec<Note> {
    let known = |name: &str| before?.addons.iter().find(|step| step.name == name);
    next.addons.iter().filter_map(|step| note(known(&step.name), step)).collect()
}

fn note(before: Option<&StepStatus>, step: &StepStatus) -> Option<Note> {
    let reason = Reason::find(&step.reason)?;
    let same = before.is_some_and(|before| {
        before.state == step.state
            && before.reason == step.reason
            && (!reason.is_trouble() || before.message == step.message)
    });
    let told = |reason: Reason, message: String| {
        Some(Note { warning: reason.is_trouble(), reason, message: format!("`{}`: {message}", step.name) })
    };
    let had_failed = before.is_some_and(|before| before.failed_since.is_some());
    match step.state {
        _ if same => None,
        StepState::Ready if had_failed => {
            told(Reason::AddonRecovered, "ready again after it had failed".to_owned())
        }
        StepState::Ready => told(reason, "ready".to_owned()),
        StepState::Failed | StepState::Blocked => told(reason, step.message.clone()),
        StepState::WaitingForReady if reason == Reason::AddonDegraded => told(reason, step.message.clone()),
        StepState::Delivering | StepState::WaitingForReady | StepState::Removing | StepState::Pending => None,
    }
}

/// What is told on the Cluster of all stacks that select it.
pub fn of_cluster<'bindings>(
    bindings: impl IntoIterator<Item = (&'bindings str, Option<&'bindings AddonStackBindingStatus>)>,
) -> (Truth, Reason, String) {
    let mut worst: Option<(u8, Reason, String)> = None;
    let mut ready = Vec::new();
    for (stack, status) in bindings {
        let Some(status) = status else {
            let waiting =
                (1, Reason::AddonNotReady, format!("AddonStack `{stack}` has not been looked at yet"));
            worst = worst.filter(|worst| worst.0 >= waiting.0).or(Some(waiting));
            continue;
        };
        let told = crate::condition::find(&status.conditions, type_::READY);
        if told.is_some_and(|told| told.status == Truth::True.as_str()) {
            ready.push(stack);
            continue;
        }
        let rank = match status.state {
            Some(StepState::Failed) => 3,
            Some(StepState::Blocked) => 2,
            _ => 1,
        };
        let reason = told.and_then(|told| Reason::find(&told.reason)).unwrap_or(Reason::AddonNotReady);
        let why = told.map(|told| told.message.clone()).unwrap_or_default();
        if worst.as_ref().is_none_or(|worst| worst.0 < rank) {
            worst = Some((rank, reason, format!("AddonStack `{stack}`: {why}")));
        }
    }
    match worst {
        Some((_, reason, message)) => (Truth::False, reason, cut(&message, LONGEST_MESSAGE)),
        None => (Truth::True, Reason::AddonsReady, format!("ready: {}", ready.join(", "))),
    }
}

#[cfg(test)]
mod tests;
