//! What to tell about a Workspace: its status and Events, computed from what was decided and what came of it.

mod condition;
mod notes;
mod words;

use std::collections::BTreeMap;

use capt_api::Workspace;
use capt_api::crossplane::{WorkspaceObservation, WorkspaceStatus};
use capt_api::engine_status::{PlanStatus, RunOperation, RunStatus, StateStatus};
use capt_api::names::{Reason, condition as type_};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::Value;

use super::decide::Step;
use super::interrupted::{self, InterruptedCall};
use super::lock;
use crate::apply::Blocked;
use crate::condition::Truth;
use condition::Conditions;

pub use notes::{done, notes, progress_note};
pub use words::run as run_sentence;

/// Near this size a state is told to be large; a Secret holds a mebibyte.
const LARGE_STATE: u64 = 700 * 1024;

/// What came of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Nothing that the status has to tell.
    Nothing,
    /// A run was started for the user's request.
    Requested(String),
    /// Outputs were published.
    Published {
        /// Those that are not sensitive.
        outputs: BTreeMap<String, Value>,
        /// Whether something was applied before.
        applied: bool,
        /// The address of the module, if it is a remote one.
        remote_source: Option<String>,
    },
}

/// Everything that the status is computed from.
#[derive(Clone, Copy, Debug)]
pub struct Report<'facts> {
    /// The Workspace as it was read.
    pub workspace: &'facts Workspace,
    /// What was decided.
    pub step: &'facts Step,
    /// What came of it.
    pub outcome: &'facts Result<Effect, Blocked>,
    /// The run that waits or goes on after the step.
    pub run: Option<&'facts RunStatus>,
    /// The plan at hand that was not applied.
    pub plan: Option<&'facts PlanStatus>,
    /// Where the state is, as far as this reconcile looked.
    pub state: Option<&'facts StateStatus>,
    /// Calls of an apply that died, as far as this reconcile looked.
    pub interrupted: Option<&'facts [InterruptedCall]>,
    /// Which tool runs.
    pub tool: &'facts str,
    /// Now.
    pub now: &'facts Time,
}

impl Report<'_> {
    fn deleting(&self) -> bool {
        self.workspace.metadata.deletion_timestamp.is_some()
    }

    /// Whether a plan is made that is only shown: what is told stays so meanwhile.
    fn is_preview(&self) -> bool {
        *self.step == Step::ShowPreview || self.run.is_some_and(|run| run.operation == RunOperation::Preview)
    }

    fn name(&self) -> &str {
        self.workspace.metadata.name.as_deref().unwrap_or_default()
    }
}

/// The status of a Workspace; `None` where nothing may or can be written.
pub fn status(report: Report<'_>) -> Option<WorkspaceStatus> {
    let mut status = report.workspace.status.clone().unwrap_or_default();
    let generation = report.workspace.metadata.generation;
    match report.step {
        Step::Leave | Step::Abandon(_) | Step::Drop(_) | Step::Orphan | Step::HandBack | Step::Finish
            if report.outcome.is_ok() =>
        {
            return None;
        }
        Step::Leave | Step::Pass(_) | Step::AwaitCrossplane { .. } => return None,
        _ => {}
    }
    let mut conditions = Conditions::new(std::mem::take(&mut status.conditions), generation, report.now);
    match report.outcome {
        Err(blocked) => failed(&mut conditions, report, &blocked.message),
        Ok(_) => told(&mut conditions, report),
    }
    told_state(&mut conditions, report.state);
    report_interrupted(&mut conditions, report);
    status.conditions = conditions.into_inner();
    status.observed_generation = generation;
    if let Ok(effect) = report.outcome {
        carry(&mut status, effect, report.now);
    }
    fill_engine(&mut status, report);
    Some(status)
}

/// What the step says about the conditions.
fn told(conditions: &mut Conditions, report: Report<'_>) {
    match report.step {
        Step::Leave
        | Step::Pass(_)
        | Step::AwaitCrossplane { .. }
        | Step::Abandon(_)
        | Step::Drop(_)
        | Step::Orphan
        | Step::HandBack
        | Step::Finish
        | Step::ShowPreview => {}
        Step::Freeze(freeze) | Step::Settle(freeze) => {
            conditions.set(type_::SYNCED, Truth::False, Reason::ReconcilePaused, &freeze.to_string());
        }
        Step::Pause => conditions.set(
            type_::SYNCED,
            Truth::False,
            Reason::ReconcilePaused,
            "the Workspace is paused by its annotation or by empty spec.managementPolicies",
        ),
        Step::Wait | Step::Start(_) if report.is_preview() => {}
        Step::Wait | Step::Interrupt | Step::Start(_) | Step::Claim => working(conditions, report),
        Step::Publish => {
            conditions.set(type_::READY, Truth::True, Reason::Available, "");
            synced(conditions);
            conditions.clear(type_::DRIFTED, Reason::NoDrift);
        }
        Step::Confirm => {
            synced(conditions);
            conditions.clear(type_::DRIFTED, Reason::NoDrift);
        }
        Step::Settled { .. } => {
            conditions.set(type_::READY, Truth::True, Reason::Available, "");
            synced(conditions);
        }
        Step::Hold { blocked, until: _ } => {
            failed(conditions, report, &blocked.message);
            conditions.clear(type_::LOCKED, Reason::NotLocked);
        }
        Step::AwaitLock { failure, until: _ } => {
            let told = failure.lock.as_ref().map(|lock| lock::describe(lock, report.name()));
            let message = told.unwrap_or_else(|| failure.blocked.message.clone());
            conditions.set(type_::LOCKED, Truth::True, Reason::Locked, &message);
            failed(conditions, report, &message);
        }
        Step::AwaitApproval { hash, why, next_check: _ } => {
            let message = words::approval(report, hash, why);
            conditions.set(type_::APPROVAL_REQUIRED, Truth::True, Reason::ApprovalRequired, &message);
            conditions.set(type_::SYNCED, Truth::False, Reason::ApprovalRequired, &message);
            unready(conditions, report, &message);
        }
        Step::ReportDrift { summary, next_check: _ } => {
            conditions.set(
                type_::DRIFTED,
                Truth::True,
                Reason::DriftDetected,
                &words::drift(report, summary),
            );
            conditions.set(type_::READY, Truth::True, Reason::Available, "");
            synced(conditions);
        }
        Step::AwaitOthers(others) => {
            let message = words::others(others);
            conditions.set(type_::READY, Truth::False, Reason::Deleting, &message);
        }
    }
    if !report.is_preview()
        && !matches!(
            report.step,
            Step::AwaitApproval { .. } | Step::Freeze(_) | Step::Settle(_) | Step::Pause
        )
    {
        conditions.clear(type_::APPROVAL_REQUIRED, Reason::NothingPending);
    }
}

fn synced(conditions: &mut Conditions) {
    conditions.set(type_::SYNCED, Truth::True, Reason::ReconcileSuccess, "");
    conditions.clear(type_::LOCKED, Reason::NotLocked);
}

/// A run waits or goes on. What failed before stays told until something succeeds.
fn working(conditions: &mut Conditions, report: Report<'_>) {
    let message = report.run.map_or_else(|| "waiting for Terraform".to_owned(), words::run);
    unready(conditions, report, &message);
}

fn failed(conditions: &mut Conditions, report: Report<'_>, message: &str) {
    conditions.set(type_::SYNCED, Truth::False, Reason::ReconcileError, message);
    unready(conditions, report, message);
}

/// What was there once stays there when a change of it fails; what is being deleted does not.
fn unready(conditions: &mut Conditions, report: Report<'_>, message: &str) {
    if report.deleting() {
        conditions.set(type_::READY, Truth::False, Reason::Deleting, message);
    } else if !conditions.holds(type_::READY) {
        conditions.set(type_::READY, Truth::False, Reason::Creating, message);
    }
}

fn told_state(conditions: &mut Conditions, state: Option<&StateStatus>) {
    let Some(bytes) = state.and_then(|state| state.bytes) else { return };
    if bytes >= LARGE_STATE {
        let message = format!(
            "the state has {} KiB and a Secret holds 1024 KiB: divide the module, or give it a backend of its own",
            bytes / 1024
        );
        conditions.set(type_::STATE_LARGE, Truth::True, Reason::StateNearLimit, &message);
    } else {
        conditions.clear(type_::STATE_LARGE, Reason::StateSizeFine);
    }
}

fn report_interrupted(conditions: &mut Conditions, report: Report<'_>) {
    match report.interrupted {
        None => {}
        Some([]) => conditions.clear(type_::INTERRUPTED_CALLS, Reason::NoInterruptedCalls),
        Some(calls) => conditions.set(
            type_::INTERRUPTED_CALLS,
            Truth::True,
            Reason::InterruptedCalls,
            &interrupted::message(calls, report.name()),
        ),
    }
}

fn carry(status: &mut WorkspaceStatus, effect: &Effect, now: &Time) {
    match effect {
        Effect::Nothing => {}
        Effect::Requested(value) => status.last_handled_reconcile_at = Some(value.clone()),
        Effect::Published { outputs, applied, remote_source } => {
            let seen = status.at_provider.get_or_insert_with(WorkspaceObservation::default);
            seen.outputs.clone_from(outputs);
            seen.remote_source.clone_from(remote_source);
            // Crossplane's own: the driver takes it away, so that one which is there later was written since.
            seen.checksum = None;
            if *applied {
                status.engine.get_or_insert_default().last_applied_time = Some(now.clone());
            }
        }
    }
}

fn fill_engine(status: &mut WorkspaceStatus, report: Report<'_>) {
    let engine = status.engine.get_or_insert_default();
    engine.run = report.run.cloned();
    engine.plan = match report.step {
        Step::AwaitApproval { .. } | Step::ReportDrift { .. } => report.plan.cloned(),
        Step::Freeze(_) | Step::Settle(_) | Step::Pause => engine.plan.take(),
        _ if report.is_preview() => engine.plan.take(),
        _ => None,
    };
    if let Some(state) = report.state {
        engine.state = Some(state.clone());
    }
    if let Step::Settled { next_check }
    | Step::ReportDrift { next_check, .. }
    | Step::AwaitApproval { next_check, .. } = report.step
    {
        engine.next_check_time = next_check.map(Time);
    }
    engine.tool = Some(report.tool.to_owned());
}

#[cfg(test)]
mod tests;
