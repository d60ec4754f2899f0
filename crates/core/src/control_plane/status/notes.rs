//! The Events that a reconcile of a control plane gives rise to.

use capt_api::capt_control_plane::{CAPTControlPlaneStatus, SecretState};
use capt_api::names::{Reason, condition as type_};

use super::Report;
use crate::condition::{Truth, find};
use crate::control_plane::decide::Step;
use crate::control_plane::secret_state;
use crate::note::{GOES_ON, Note, is_same_to_people};

/// What was done, which way the Secrets went, and conditions that changed.
pub fn notes(report: Report<'_>, next: &CAPTControlPlaneStatus) -> Vec<Note> {
    let mut notes: Vec<Note> = done(report).into_iter().chain(secrets(report)).collect();
    for name in [type_::READY, type_::PAUSED, type_::REACHABLE] {
        notes.extend(changed(name, report, next, &notes));
    }
    notes.extend(clearing(report, next));
    notes
}

/// That the cluster is being cleared, and that the time for it is over: once each, and not with every machine that goes.
fn clearing(report: Report<'_>, next: &CAPTControlPlaneStatus) -> Option<Note> {
    let Step::AwaitClearing { blocked, .. } = report.step else { return None };
    let before = report.control_plane.status.as_ref();
    let before = before.and_then(|status| find(&status.conditions, type_::DELETING));
    let after = find(&next.conditions, type_::DELETING)?;
    if before.is_some_and(|before| before.reason == after.reason) {
        return None;
    }
    Some(Note {
        warning: blocked.reason.is_trouble(),
        reason: blocked.reason,
        message: blocked.message.clone(),
    })
}

/// What was done, where it is worth an Event by itself.
fn done(report: Report<'_>) -> Option<Note> {
    report.outcome.as_ref().ok()?;
    let note = |reason, message| Some(Note { warning: false, reason, message });
    match report.step {
        Step::Write { wanted, create: true } => {
            note(Reason::ApplyCreated, format!("created WorkspaceTemplateApply `{}`", wanted.name))
        }
        Step::DeleteApply { left: Some(left) } => Some(Note {
            warning: true,
            reason: Reason::ClusterNotCleared,
            message: format!("Terraform destroys the cluster all the same, since the time is over: {left}"),
        }),
        Step::Write { wanted, create: false } => {
            note(Reason::ApplyUpdated, format!("updated WorkspaceTemplateApply `{}`", wanted.name))
        }
        Step::Leave
        | Step::Pause(_)
        | Step::LetGo
        | Step::Claim { .. }
        | Step::Hold { .. }
        | Step::Settled
        | Step::AwaitClearing { .. }
        | Step::DeleteApply { left: None }
        | Step::AwaitDeletion { .. }
        | Step::Finish => None,
    }
}

/// One Event for the whole way that the Secrets went.
fn secrets(report: Report<'_>) -> Option<Note> {
    let secrets = report.secrets;
    let before = report.control_plane.status.as_ref().and_then(|status| status.secret_state);
    let path = secret_state::path(before, secrets.state, secrets.news);
    // That a new control plane has no Secret yet is no news.
    let dull = before.is_none() && secrets.state == SecretState::WaitingForSecret;
    if path.is_empty() || dull || matches!(report.step, Step::Pause(_) | Step::Leave) {
        return None;
    }
    let way = secret_state::words(before, &path);
    let message = if secrets.message.is_empty() { way } else { format!("{way}: {}", secrets.message) };
    Some(Note { warning: secrets.reason.is_trouble(), reason: secrets.reason, message })
}

fn changed(name: &str, report: Report<'_>, next: &CAPTControlPlaneStatus, told: &[Note]) -> Option<Note> {
    let before = report.control_plane.status.as_ref().and_then(|status| find(&status.conditions, name));
    let after = find(&next.conditions, name)?;
    let reason = Reason::find(&after.reason)?;
    let same = before.is_some_and(|before| is_same_to_people(before, after));
    let was_true = before.is_some_and(|before| before.status == Truth::True.as_str());
    // Waiting at the beginning is no news, nor is what another Event of this reconcile says.
    let dull = match name {
        type_::PAUSED => before.is_none() && reason == Reason::NotPaused,
        type_::REACHABLE => before.is_none() && reason == Reason::Reachable,
        _ => !was_true && after.status != Truth::True.as_str() && !reason.is_trouble(),
    };
    // Ready comes with the Secrets, whose way has just been told.
    let said = told.iter().any(|note| {
        note.reason == reason
            || (note.reason == Reason::SecretsWritten && reason == Reason::ControlPlaneReady)
    });
    if same || dull || said {
        return None;
    }
    let message = match reason {
        Reason::NotPaused => GOES_ON.to_owned(),
        Reason::ControlPlaneReady => "the control plane is ready".to_owned(),
        _ => after.message.clone(),
    };
    Some(Note { warning: reason.is_trouble(), reason, message })
}
