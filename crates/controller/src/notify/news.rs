//! What is news of the add-ons in a cluster, and how it is written.

use capt_api::AddonStackBinding;
use capt_api::addon_stack::{AddonStackBindingStatus, StepState, StepStatus};
use capt_api::names::Reason;
use capt_core::digest::short_digest;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;
use serde_json::json;

/// How many digits keep news apart.
const DIGITS: usize = 16;

/// What happened to an add-on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// It failed, or cannot go on before somebody does something.
    Failed,
    /// It had failed, and is ready.
    Recovered,
}

impl Event {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "Failed",
            Self::Recovered => "Recovered",
        }
    }
}

/// Something that happened to an add-on in a cluster.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct News {
    /// When it was noticed.
    pub(crate) time: Time,
    /// The namespace of the Cluster and of the stack.
    pub(crate) namespace: String,
    pub(crate) cluster: String,
    pub(crate) stack: String,
    pub(crate) addon: String,
    pub(crate) event: Event,
    /// Where the add-on is now.
    pub(crate) state: StepState,
    pub(crate) reason: String,
    pub(crate) message: String,
    /// How often in a row it has failed.
    pub(crate) failures: u32,
    /// Since when it is where it is.
    pub(crate) since: Time,
}

impl News {
    /// One line of JSON.
    pub(super) fn line(&self) -> String {
        let line = json!({
            "id": self.id(),
            "time": self.time,
            "namespace": self.namespace,
            "cluster": self.cluster,
            "stack": self.stack,
            "addon": self.addon,
            "event": self.event.as_str(),
            "state": self.state,
            "reason": self.reason,
            "message": self.message,
            "failures": self.failures,
            "since": self.since,
        });
        format!("{line}\n")
    }

    /// The same for the same news, however often and by whichever manager it is told.
    fn id(&self) -> String {
        let since = self.since.0.to_string();
        let event = self.event.as_str();
        let parts =
            [self.namespace.as_str(), &self.cluster, &self.stack, &self.addon, &since, event, &self.reason];
        short_digest(parts, DIGITS)
    }
}

/// What is news in the next status of a stack in a cluster.
pub(crate) fn news(
    before: Option<&AddonStackBindingStatus>,
    next: &AddonStackBindingStatus,
    binding: &AddonStackBinding,
    now: &Time,
) -> Vec<News> {
    let known = |name: &str| before?.addons.iter().find(|step| step.name == name);
    let happened = next.addons.iter().filter_map(|step| Some((step, event(known(&step.name), step)?)));
    let news = happened.map(|(step, event)| News {
        time: now.clone(),
        namespace: binding.namespace().unwrap_or_default(),
        cluster: binding.spec.cluster_name.clone(),
        stack: binding.spec.stack_name.clone(),
        addon: step.name.clone(),
        event,
        state: step.state,
        reason: step.reason.clone(),
        message: step.message.clone(),
        failures: step.failures,
        since: step.since.clone(),
    });
    news.collect()
}

fn event(before: Option<&StepStatus>, step: &StepStatus) -> Option<Event> {
    let was_in_trouble = before.is_some_and(|before| before.failed_since.is_some());
    let is_the_same = before.is_some_and(|before| before.state == step.state && before.reason == step.reason);
    if is_in_trouble(step) {
        return (!is_the_same).then_some(Event::Failed);
    }
    (was_in_trouble && step.state == StepState::Ready).then_some(Event::Recovered)
}

/// Whether an add-on calls for the user.
fn is_in_trouble(step: &StepStatus) -> bool {
    match step.state {
        StepState::Failed => true,
        StepState::Blocked => Reason::find(&step.reason).is_some_and(Reason::is_trouble),
        StepState::Pending
        | StepState::Delivering
        | StepState::WaitingForReady
        | StepState::Ready
        | StepState::Removing => false,
    }
}
