//! The Events that a reconcile of a set gives rise to.

use capt_api::names::{Reason, condition as type_};
use capt_api::resource_set::ClusterResourceSetStatus;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use super::Report;
use crate::condition::{Truth, find};
use crate::note::{GOES_ON, Note, is_same_to_people};

/// Conditions that changed.
pub fn notes(report: Report<'_>, next: &ClusterResourceSetStatus) -> Vec<Note> {
    let known = report.set.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
    let changes = [type_::RESOURCES_APPLIED, type_::PAUSED]
        .into_iter()
        .filter_map(|name| change(find(known, name), find(&next.conditions, name)?));
    changes.collect()
}

/// A condition that changed, where it is news. That something is on its way or waited for is none.
fn change(before: Option<&Condition>, after: &Condition) -> Option<Note> {
    let reason = Reason::find(&after.reason)?;
    let was_true = before.is_some_and(|before| before.status == Truth::True.as_str());
    let news = match reason {
        Reason::NotPaused => was_true,
        Reason::Delivering | Reason::WaitingForCredentials | Reason::NoClusters => false,
        _ => !before.is_some_and(|before| is_same_to_people(before, after)),
    };
    let message = if reason == Reason::NotPaused { GOES_ON.to_owned() } else { after.message.clone() };
    news.then_some(Note { warning: reason.is_trouble(), reason, message })
}
