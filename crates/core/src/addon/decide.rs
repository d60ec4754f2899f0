//! What is to be done next with one add-on in one cluster.

use capt_api::addon_stack::{Addon, StepState, StepStatus};
use capt_api::names::Reason;
use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::gate::Gate;
use super::pace;
use super::route::Route;
use super::status::LONGEST_MESSAGE;
use crate::apply::Blocked;
use crate::condition::cut;
use crate::digest::short_digest;
use crate::readiness::{Health, State};

/// What is known of an add-on in a cluster.
#[derive(Debug)]
pub struct Facts<'facts> {
    /// The add-on.
    pub addon: &'facts Addon,
    /// How far it had come.
    pub before: Option<&'facts StepStatus>,
    /// Those it depends on that were never ready here.
    pub missing: Vec<String>,
    /// What its gate says.
    pub gate: Gate,
    /// How it reaches the cluster.
    pub route: &'facts Route,
    /// What is to be brought, or why that is not known.
    pub content: Result<Content, Blocked>,
    /// Whether the cluster can be asked.
    pub reach: Reach,
    /// What `ClusterResourceSets` have done, where they bring the add-on.
    pub sets: Sets,
    /// The user asks for everything to be brought again.
    pub requested: bool,
    /// When it is time to look at it in the cluster again; nobody knows after a restart.
    pub due: Option<Timestamp>,
    /// Now.
    pub now: Timestamp,
}

/// What is to be brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Digest of the manifests, where CAPT brings them itself.
    pub manifests: Option<String>,
    /// Digest of each Secret with values.
    pub values: Vec<String>,
    /// What there is to know about it. It names nothing.
    pub remark: String,
}

impl Content {
    /// Names all of it.
    pub fn digest(&self) -> String {
        let Self { manifests, values, remark: _ } = self;
        let manifests = manifests.as_deref().unwrap_or_default();
        short_digest(std::iter::once(manifests).chain(values.iter().map(String::as_str)), 16)
    }
}

/// Whether a cluster can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It can, as far as is known.
    Open,
    /// It is not there yet.
    Waiting(String),
    /// It cannot, as was just found out.
    Unreachable(String),
    /// It could not, and is not asked again yet.
    StillUnreachable(String),
}

/// What `ClusterResourceSets` have done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sets {
    /// They have brought everything; sometimes there is something to tell.
    Applied {
        /// What to tell.
        remark: Option<String>,
    },
    /// They have not come to it yet.
    Waiting(String),
    /// They could not.
    Failed(String),
}

/// What this reconcile has done so far.
#[derive(Debug, Default)]
pub struct Progress {
    /// Values were written.
    pub values: Option<Result<(), Blocked>>,
    /// The gate label was set.
    pub opened: bool,
    /// Manifests were brought, and so many objects were changed thereby.
    pub delivered: Option<Result<usize, Blocked>>,
    /// The cluster was asked how it is.
    pub health: Option<Result<Health, Blocked>>,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing in the cluster: it stays as it was told last.
    Rest,
    /// Write the values.
    WriteValues,
    /// Set the gate label.
    OpenGate,
    /// Bring the manifests.
    Deliver,
    /// Ask the cluster how it is.
    Look,
    /// Nothing more: tell.
    Tell(Verdict),
}

/// Where an add-on is, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Where it is.
    pub state: StepState,
    /// Why, in one word.
    pub reason: Reason,
    /// Why, in a sentence.
    pub message: String,
}

impl Verdict {
    fn new(state: StepState, reason: Reason, message: impl Into<String>) -> Self {
        Self { state, reason, message: message.into() }
    }
}

/// What is to be done next.
pub fn decide(facts: &Facts<'_>, progress: &Progress) -> Step {
    match held(facts).or_else(|| rests(facts, progress)) {
        Some(step) => step,
        None => go_on(facts, progress),
    }
}

/// Why it does not start, or does not go on.
fn held(facts: &Facts<'_>) -> Option<Step> {
    let started = facts.before.is_some_and(|before| before.started.is_some());
    let by_hand = facts.gate == Gate::Open;
    let tell = |state, reason, message: String| Some(Step::Tell(Verdict::new(state, reason, message)));
    if !facts.missing.is_empty() && !started && !by_hand {
        let names = facts.missing.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        return tell(StepState::Pending, Reason::WaitingForAddons, format!("waits until {names} is ready"));
    }
    if let Gate::Held { message } = &facts.gate {
        return tell(StepState::Blocked, Reason::GateClosed, message.clone());
    }
    if let Err(blocked) = &facts.content {
        let stays = if started { "; what was brought stays" } else { "" };
        return tell(StepState::Blocked, blocked.reason, format!("{}{stays}", blocked.message));
    }
    if let Route::Missing { message } = facts.route {
        return tell(StepState::Blocked, Reason::ResourceSetMissing, message.clone());
    }
    match &facts.reach {
        Reach::Open => None,
        Reach::Waiting(message) if !started => {
            tell(StepState::Pending, Reason::WaitingForCredentials, message.clone())
        }
        Reach::StillUnreachable(message)
            if facts.before.is_some_and(|before| {
                was_unreachable(before) && before.message == cut(message, LONGEST_MESSAGE)
            }) =>
        {
            Some(Step::Rest)
        }
        Reach::Waiting(message) | Reach::Unreachable(message) | Reach::StillUnreachable(message) => {
            tell(StepState::Failed, Reason::ClusterUnreachable, message.clone())
        }
    }
}

/// Whether the cluster could not be reached when it was last told of.
fn was_unreachable(before: &StepStatus) -> bool {
    before.state == StepState::Failed && before.reason == Reason::ClusterUnreachable.as_str()
}

/// Whether there is nothing to do in the cluster now.
fn rests(facts: &Facts<'_>, progress: &Progress) -> Option<Step> {
    let before = facts.before?;
    let touched = progress.values.is_some()
        || progress.opened
        || progress.delivered.is_some()
        || progress.health.is_some();
    if touched || facts.requested || !is_same(facts) {
        return None;
    }
    let exhausted = before.reason == Reason::RetriesExhausted.as_str();
    let rests = match before.state {
        StepState::Ready => facts.due.is_none_or(|due| facts.now < due) && facts.gate != Gate::Closed,
        StepState::Failed if exhausted => true,
        // When the cluster itself is asked again has been waited for.
        StepState::Failed if was_unreachable(before) => false,
        StepState::Failed | StepState::WaitingForReady => facts.due.is_some_and(|due| facts.now < due),
        StepState::Pending | StepState::Blocked | StepState::Delivering | StepState::Removing => false,
    };
    rests.then_some(Step::Rest)
}

/// Whether what is to be brought was tried before, with or without success.
pub(super) fn is_same(facts: &Facts<'_>) -> bool {
    let attempted = facts.before.and_then(|before| before.attempted.as_ref());
    facts.content.as_ref().is_ok_and(|content| attempted == Some(&content.digest()))
}

fn go_on(facts: &Facts<'_>, progress: &Progress) -> Step {
    let has_values = facts.content.as_ref().is_ok_and(|content| !content.values.is_empty());
    match &progress.values {
        None if has_values => return Step::WriteValues,
        Some(Err(blocked)) => return Step::Tell(failed(facts, blocked)),
        None | Some(Ok(())) => {}
    }
    if facts.gate == Gate::Closed && !progress.opened {
        return Step::OpenGate;
    }
    match (facts.route, &progress.delivered, &facts.sets) {
        (Route::Direct, None, _) => return Step::Deliver,
        (Route::Direct, Some(Err(blocked)), _) => return Step::Tell(failed(facts, blocked)),
        (Route::Theirs { .. } | Route::Ours { .. }, _, Sets::Waiting(message)) => {
            return Step::Tell(late(facts, StepState::Delivering, Reason::Delivering, message.clone()));
        }
        (Route::Theirs { .. } | Route::Ours { .. }, _, Sets::Failed(message)) => {
            return Step::Tell(Verdict::new(StepState::Failed, Reason::NotApplied, message.clone()));
        }
        (Route::Direct, Some(Ok(_)), _)
        | (Route::Theirs { .. } | Route::Ours { .. }, _, Sets::Applied { .. })
        | (Route::Nothing | Route::Missing { .. }, _, _) => {}
    }
    match &progress.health {
        None => Step::Look,
        Some(Err(blocked)) => Step::Tell(failed(facts, blocked)),
        Some(Ok(health)) => Step::Tell(judged(facts, health)),
    }
}

/// What could not be done, and is tried again unless the user said otherwise.
fn failed(facts: &Facts<'_>, blocked: &Blocked) -> Verdict {
    let failures = failures(facts).saturating_add(1);
    match pace::pause(facts.addon.retry.as_ref(), failures) {
        Some(_) => Verdict::new(StepState::Failed, blocked.reason, blocked.message.clone()),
        None => Verdict::new(
            StepState::Failed,
            Reason::RetriesExhausted,
            format!(
                "given up after {failures} attempts until something changes or `capt reconcile` is called: {}",
                blocked.message
            ),
        ),
    }
}

/// How often it has failed in a row with what is to be brought now.
pub(super) fn failures(facts: &Facts<'_>) -> u32 {
    facts.before.filter(|_| !facts.requested && is_same(facts)).map_or(0, |before| before.failures)
}

/// Where it is, by what the cluster says of it.
fn judged(facts: &Facts<'_>, health: &Health) -> Verdict {
    let of_sets = match &facts.sets {
        Sets::Applied { remark } => remark.as_deref(),
        Sets::Waiting(_) | Sets::Failed(_) => None,
    };
    let of_content = facts.content.as_ref().ok().map(|content| content.remark.as_str());
    let remarks = of_sets.into_iter().chain(of_content).filter(|remark| !remark.is_empty());
    let remark = remarks.collect::<Vec<_>>().join("; ");
    let was_ready = is_same(facts)
        && facts.before.is_some_and(|before| {
            before.state == StepState::Ready || before.reason == Reason::AddonDegraded.as_str()
        });
    let not_ready = if was_ready { Reason::AddonDegraded } else { Reason::AddonNotReady };
    match health.state {
        State::Current => Verdict::new(StepState::Ready, Reason::AddonReady, remark),
        State::InProgress | State::Terminating => {
            late(facts, StepState::WaitingForReady, not_ready, health.message.clone())
        }
        State::Failed => Verdict::new(StepState::Failed, Reason::AddonFailed, health.message.clone()),
    }
}

/// The same, told as failed when it takes too long.
fn late(facts: &Facts<'_>, state: StepState, reason: Reason, message: String) -> Verdict {
    let limit = SignedDuration::try_from(pace::timeout(facts.addon)).unwrap_or(SignedDuration::MAX);
    // What was ready a moment ago has just begun to be late.
    let since = facts.before.filter(|before| is_same(facts) && before.state != StepState::Ready);
    let since = since.and_then(|before| before.started.as_ref()).map(|time| time.0);
    if since.is_some_and(|since| facts.now.duration_since(since) > limit) {
        let message = format!("not ready after {}: {message}", facts.addon.timeout);
        return Verdict::new(StepState::Failed, Reason::AddonOverdue, message);
    }
    Verdict::new(state, reason, message)
}

#[cfg(test)]
mod tests;
