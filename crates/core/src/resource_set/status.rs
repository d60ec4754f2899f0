//! What to tell about a `ClusterResourceSet`: its status, and what is worth an Event.

mod notes;
mod words;

use capt_api::ClusterResourceSet;
use capt_api::names::{Reason, condition as type_};
use capt_api::resource_set::ClusterResourceSetStatus;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::decide::Step;
use crate::apply::Blocked;
use crate::condition::{Stamp, Statement, Truth, upsert};

pub use notes::notes;

/// Everything that the status is computed from.
#[derive(Clone, Copy, Debug)]
pub struct Report<'facts> {
    /// The set as it was read.
    pub set: &'facts ClusterResourceSet,
    /// What was decided.
    pub step: &'facts Step,
    /// What came of it.
    pub outcome: &'facts Result<(), Blocked>,
    /// Now.
    pub now: &'facts Time,
}

/// The status of a set; `None` where nothing may be written.
pub fn status(report: Report<'_>) -> Option<ClusterResourceSetStatus> {
    let Report { set, step, outcome, now } = report;
    let stamp = Stamp { generation: set.metadata.generation, now: now.clone() };
    let mut status = set.status.clone().unwrap_or_default();
    let paused = match step {
        Step::Leave => return None,
        Step::Pause(pause) => {
            Statement::new(Truth::True, Reason::Paused, pause.message("ClusterResourceSet"))
        }
        _ => Statement::new(Truth::False, Reason::NotPaused, ""),
    };
    let is_paused = paused.truth == Truth::True;
    upsert(&mut status.conditions, paused.into_condition(type_::PAUSED, &stamp));
    if is_paused {
        return Some(status);
    }
    status.observed_generation = set.metadata.generation;
    let applied = match outcome {
        Err(blocked) => Statement::from(blocked),
        Ok(()) => words::statement(set, step),
    };
    upsert(&mut status.conditions, applied.into_condition(type_::RESOURCES_APPLIED, &stamp));
    Some(status)
}

#[cfg(test)]
mod tests;
