//! What is worth an Event.

use capt_api::crossplane::WorkspaceStatus;
use capt_api::engine_status::{RunPhase, RunStatus};
use capt_api::names::{Reason, condition as type_};

use super::{Effect, Report, words};
use crate::condition::Truth;
use crate::note::Note;
use crate::workspace::decide::{Operation, Start, Step};
use crate::workspace::handover::Move;
use crate::workspace::lock::Release;

/// The Events that a reconcile gives rise to: what was done, and what changed.
pub fn notes(report: Report<'_>, next: &WorkspaceStatus) -> Vec<Note> {
    let mut notes: Vec<Note> = done(report).into_iter().collect();
    let before = report.workspace.status.as_ref();
    for (name, trouble) in [
        (type_::SYNCED, Truth::False),
        (type_::LOCKED, Truth::True),
        (type_::APPROVAL_REQUIRED, Truth::True),
        (type_::DRIFTED, Truth::True),
        (type_::STATE_LARGE, Truth::True),
        (type_::INTERRUPTED_CALLS, Truth::True),
    ] {
        let find =
            |status: &WorkspaceStatus| status.conditions.iter().find(|entry| entry.type_ == name).cloned();
        let Some(after) = find(next).filter(|after| after.status == trouble.as_str()) else { continue };
        let same = before.and_then(find).is_some_and(|before| {
            before.status == after.status && before.reason == after.reason && before.message == after.message
        });
        let reason = specific(report, name).or_else(|| Reason::find(&after.reason));
        if let Some(reason) = reason
            && !same
            && !notes.iter().any(|note| note.reason == reason)
        {
            let message = after.message.unwrap_or_default();
            notes.push(Note { warning: reason.is_trouble(), reason, message });
        }
    }
    notes
}

/// The word for a failure, which the condition in Crossplane's words does not have.
fn specific(report: Report<'_>, name: &str) -> Option<Reason> {
    if name != type_::SYNCED {
        return None;
    }
    match (report.outcome, report.step) {
        (Err(blocked), _) | (Ok(_), Step::Hold { blocked, .. }) => Some(blocked.reason),
        (Ok(_), Step::AwaitLock { failure, .. }) => Some(failure.blocked.reason),
        (Ok(_), _) => None,
    }
}

/// What was done, where it is worth an Event by itself.
pub fn done(report: Report<'_>) -> Option<Note> {
    let note = |reason: Reason, message: String| Some(Note { warning: reason.is_trouble(), reason, message });
    let effect = report.outcome.as_ref().ok()?;
    let plan = || report.plan.map(|plan| format!(": {}", plan.summary)).unwrap_or_default();
    match report.step {
        Step::Start(Start { operation, .. }) => match operation {
            Operation::Apply { hash } => {
                note(Reason::Applying, format!("applying plan {}{}", words::short(hash), plan()))
            }
            Operation::Destroy { hash } => {
                note(Reason::Destroying, format!("destroying by plan {}{}", words::short(hash), plan()))
            }
            Operation::Unlock { id, why: Release::Orphaned } => note(
                Reason::OrphanedLockReleased,
                format!("releasing lock {id} on the state: its holder is dead"),
            ),
            Operation::Unlock { id, why: Release::Forced } => {
                note(Reason::LockForced, format!("releasing lock {id} on the state, as the annotation says"))
            }
            Operation::Plan | Operation::Preview | Operation::PlanDestroy | Operation::Outputs => None,
        },
        Step::Publish => match effect {
            Effect::Published { applied: true, outputs, .. } => {
                note(Reason::Applied, format!("applied; {} outputs that are not sensitive", outputs.len()))
            }
            Effect::Published { .. } | Effect::Nothing | Effect::Requested(_) => None,
        },
        Step::Abandon(freeze) => note(Reason::Dropped, format!("let go without a destroy: {freeze}")),
        Step::Orphan => note(
            Reason::Orphaned,
            "let go; the infrastructure and its state stay, as the policies say".to_owned(),
        ),
        Step::Pass(Move::Take) => {
            note(Reason::TakenOver, "CAPT runs it from now on, Crossplane has put it down".to_owned())
        }
        Step::HandBack => note(Reason::HandedBack, "Crossplane runs it from now on".to_owned()),
        Step::Finish => note(Reason::Destroyed, "nothing of the infrastructure is left".to_owned()),
        // Told when it is let go.
        Step::Drop(_)
        | Step::Leave
        | Step::AwaitCrossplane { .. }
        | Step::Pass(_)
        | Step::Freeze(_)
        | Step::Settle(_)
        | Step::Pause
        | Step::Wait
        | Step::Interrupt
        | Step::Claim
        | Step::Confirm
        | Step::ShowPreview
        | Step::Hold { .. }
        | Step::AwaitLock { .. }
        | Step::AwaitApproval { .. }
        | Step::ReportDrift { .. }
        | Step::AwaitOthers(_)
        | Step::Settled { .. } => None,
    }
}

/// How far a run is, for an Event now and then.
pub fn progress_note(run: &RunStatus) -> Option<Note> {
    let told = run.phase == RunPhase::Running && run.total.is_some_and(|total| total > 0);
    told.then(|| Note { warning: false, reason: Reason::Applying, message: words::run(run) })
}
