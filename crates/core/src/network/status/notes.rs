//! The Events that a reconcile of a network gives rise to.

use capt_api::capt_cluster::CAPTClusterStatus;
use capt_api::names::{Reason, condition as type_};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use super::Report;
use crate::condition::{Truth, find};
use crate::network::decide::{Mode, Step};
use crate::note::{GOES_ON, Note, is_same_to_people};

/// What was done, and conditions that changed.
pub fn notes(report: Report<'_>, next: &CAPTClusterStatus) -> Vec<Note> {
    let known = report.network.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
    let changes = [type_::READY, type_::PAUSED]
        .into_iter()
        .filter_map(|name| change(find(known, name), find(&next.conditions, name)?));
    done(report).into_iter().chain(changes).collect()
}

/// A condition that changed, where it is news.
fn change(before: Option<&Condition>, after: &Condition) -> Option<Note> {
    let reason = Reason::find(&after.reason)?;
    let was_true = before.is_some_and(|before| before.status == Truth::True.as_str());
    let news = match reason {
        Reason::NotPaused | Reason::NetworkNotReady | Reason::WaitingForCluster => was_true,
        _ => !before.is_some_and(|before| is_same_to_people(before, after)),
    };
    let message = if reason == Reason::NotPaused { GOES_ON.to_owned() } else { after.message.clone() };
    news.then_some(Note { warning: reason.is_trouble(), reason, message })
}

/// What was done, where it is worth an Event by itself.
fn done(report: Report<'_>) -> Option<Note> {
    let note = |reason, message| Some(Note { warning: false, reason, message });
    report.outcome.as_ref().ok()?;
    match report.step {
        Step::Write { mode, wanted } => {
            let (reason, verb) = match mode {
                Mode::Create => (Reason::ApplyCreated, "created"),
                Mode::Update => (Reason::ApplyUpdated, "updated"),
                Mode::Adopt => (Reason::ApplyUpdated, "took over"),
            };
            note(reason, format!("{verb} WorkspaceTemplateApply `{}`", wanted.name))
        }
        Step::Align { .. }
        | Step::Leave
        | Step::Pause(_)
        | Step::LetGo
        | Step::AwaitControlPlanes(_)
        | Step::DeleteApply { .. }
        | Step::AwaitDeletion { .. }
        | Step::Finish
        | Step::Hold(_)
        | Step::Use { .. }
        | Step::Claim { .. }
        | Step::Settled { .. } => None,
    }
}
