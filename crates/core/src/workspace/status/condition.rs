//! Conditions of a Workspace, which have fewer fields than Kubernetes' own.

use capt_api::crossplane::WorkspaceCondition;
use capt_api::names::Reason;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use crate::condition::{Truth, cut};

/// Longer messages help nobody, and the object has to stay small.
const LONGEST_MESSAGE: usize = 8192;

/// Conditions in the making.
pub(super) struct Conditions<'now> {
    all: Vec<WorkspaceCondition>,
    generation: Option<i64>,
    now: &'now Time,
}

impl<'now> Conditions<'now> {
    pub(super) fn new(all: Vec<WorkspaceCondition>, generation: Option<i64>, now: &'now Time) -> Self {
        Self { all, generation, now }
    }

    pub(super) fn into_inner(self) -> Vec<WorkspaceCondition> {
        self.all
    }

    /// Whether a condition is True.
    pub(super) fn holds(&self, type_: &str) -> bool {
        self.all.iter().any(|entry| entry.type_ == type_ && entry.status == Truth::True.as_str())
    }

    /// Sets a condition. The transition time moves only when the status does.
    pub(super) fn set(&mut self, type_: &str, truth: Truth, reason: Reason, message: &str) {
        let mut next = WorkspaceCondition {
            type_: type_.to_owned(),
            status: truth.as_str().to_owned(),
            reason: reason.as_str().to_owned(),
            last_transition_time: self.now.0.to_string(),
            message: (!message.is_empty()).then(|| cut(message, LONGEST_MESSAGE)),
            observed_generation: self.generation,
        };
        match self.all.iter_mut().find(|entry| entry.type_ == type_) {
            Some(old) => {
                if old.status == next.status {
                    next.last_transition_time.clone_from(&old.last_transition_time);
                }
                *old = next;
            }
            None => self.all.push(next),
        }
    }

    /// Sets a condition to False, if it was ever told.
    pub(super) fn clear(&mut self, type_: &str, reason: Reason) {
        if self.all.iter().any(|entry| entry.type_ == type_) {
            self.set(type_, Truth::False, reason, "");
        }
    }
}
