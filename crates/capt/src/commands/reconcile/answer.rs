//! What was asked for and what came of it, for programs and for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use capt_api::AddonStackBinding;
use capt_api::addon_stack::{AddonStackBindingStatus, StepState, StepStatus};
use capt_api::names::{Reason, condition};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::ResourceExt;
use serde::Serialize;

/// What came of a request in one cluster.
#[derive(Debug)]
pub(super) enum Answer {
    /// CAPT has been there.
    Handled(Box<AddonStackBindingStatus>),
    /// There is nothing left to bring.
    Gone,
}

/// Everything that was asked for.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asked {
    pub(super) requested_at: String,
    bindings: Vec<Binding>,
}

/// A stack in a cluster.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Binding {
    name: String,
    namespace: String,
    cluster: String,
    stack: String,
    /// What came of it, where that was waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Outcome>,
    /// Where each add-on is, where that was waited for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    addons: Vec<Addon>,
    /// What holds for the stack as a whole, where it is not ready.
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
}

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
enum Outcome {
    /// CAPT has been there, and nothing calls for anybody.
    Handled,
    /// CAPT has been there, and something calls for somebody.
    Failed,
    /// CAPT has not been there.
    Unanswered,
    /// It was taken away meanwhile.
    Gone,
}

/// Where an add-on is.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Addon {
    name: String,
    state: StepState,
    since: Time,
    reason: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
}

impl Asked {
    /// What was found, without those that could not be asked for.
    pub(super) fn new<T>(
        requested_at: String,
        found: BTreeMap<String, AddonStackBinding>,
        refused: &BTreeMap<String, T>,
    ) -> Self {
        let asked = found.into_iter().filter(|(name, _)| !refused.contains_key(name));
        let bindings = asked.map(|(name, binding)| Binding {
            name,
            namespace: binding.namespace().unwrap_or_default(),
            cluster: binding.spec.cluster_name,
            stack: binding.spec.stack_name,
            result: None,
            addons: Vec::new(),
            message: String::new(),
        });
        Self { requested_at, bindings: bindings.collect() }
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.bindings.iter().map(|binding| binding.name.clone()).collect()
    }

    /// Adds what came of it.
    pub(super) fn tell(&mut self, answers: &BTreeMap<String, Answer>) {
        for binding in &mut self.bindings {
            match answers.get(&binding.name) {
                Some(Answer::Handled(status)) => binding.tell(status),
                Some(Answer::Gone) => binding.result = Some(Outcome::Gone),
                None => binding.result = Some(Outcome::Unanswered),
            }
        }
    }

    /// Those in which something calls for somebody.
    pub(super) fn failed(&self) -> Vec<String> {
        let failed = self.bindings.iter().filter(|binding| binding.result == Some(Outcome::Failed));
        failed.map(|binding| format!("AddonStackBinding `{}`", binding.name)).collect()
    }

    /// The same for people.
    pub(super) fn sentences(&self) -> String {
        self.bindings.iter().map(Binding::sentences).collect::<Vec<_>>().join("\n")
    }
}

impl Binding {
    fn tell(&mut self, status: &AddonStackBindingStatus) {
        let of = |type_: &str| status.conditions.iter().find(|condition| condition.type_ == type_);
        let calls = |condition: &Condition| is_trouble(&condition.reason);
        let failed = status.addons.iter().any(is_failed) || of(condition::READY).is_some_and(calls);
        self.result = Some(if failed { Outcome::Failed } else { Outcome::Handled });
        let paused = of(condition::PAUSED).filter(|paused| paused.status == "True");
        let told = paused.or_else(|| of(condition::READY).filter(|ready| ready.status != "True"));
        self.message = told.map(|told| told.message.clone()).unwrap_or_default();
        self.addons = status.addons.iter().map(Addon::of).collect();
    }

    fn sentences(&self) -> String {
        let Self { cluster, stack, result, addons, message, .. } = self;
        let place = format!("AddonStack `{stack}` in Cluster `{cluster}`");
        let mut text = match result {
            None => return format!("{place} was asked for"),
            Some(Outcome::Gone) => return format!("{place} is gone"),
            Some(Outcome::Unanswered) => return format!("{place} was asked for, without an answer"),
            Some(Outcome::Handled | Outcome::Failed) if addons.is_empty() => format!("{place}: {message}"),
            Some(Outcome::Handled | Outcome::Failed) => format!("{place}:"),
        };
        let names = addons.iter().map(|addon| addon.name.len()).max().unwrap_or_default();
        let states = addons.iter().map(|addon| addon.state.as_str().len()).max().unwrap_or_default();
        for Addon { name, state, message, .. } in addons {
            let line = format!("  {name:names$}  {:states$}  {message}", state.as_str());
            // Writing to a String cannot fail.
            let _ = write!(text, "\n{}", line.trim_end());
        }
        text
    }
}

impl Addon {
    fn of(step: &StepStatus) -> Self {
        let StepStatus { name, state, since, reason, message, .. } = step.clone();
        Self { name, state, since, reason, message }
    }
}

/// Whether an add-on calls for somebody.
fn is_failed(step: &StepStatus) -> bool {
    step.state == StepState::Failed || (step.state != StepState::Ready && is_trouble(&step.reason))
}

fn is_trouble(reason: &str) -> bool {
    Reason::find(reason).is_some_and(Reason::is_trouble)
}

#[cfg(test)]
mod tests;
