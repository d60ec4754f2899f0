//! The Events about a Cluster: steps on its way, and what calls for the user.

use capt_api::capi::ClusterStatus;
use capt_api::names::{Reason, condition as type_};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use super::{Phase, Report};
use crate::condition::{Truth, find};
use crate::note::{GOES_ON, Note};

/// What is told of a part by the Cluster only. All else the part tells itself.
const OF_REFERENCES: [Reason; 5] = [
    Reason::ReferenceUnsupported,
    Reason::ReferenceNotOwned,
    Reason::ReferenceNotFound,
    Reason::ObjectDeleted,
    Reason::Unreadable,
];

/// The Events that a new status gives rise to.
pub fn notes(report: Report<'_>, next: &ClusterStatus) -> Vec<Note> {
    let before = report.cluster.status.clone().unwrap_or_default();
    let mut notes = Vec::new();
    notes.extend(of_phase(before.phase.as_deref(), next.phase.as_deref()));
    for name in [type_::INFRASTRUCTURE_READY, type_::CONTROL_PLANE_AVAILABLE] {
        if next.phase.as_deref() != Some(Phase::Deleting.as_str()) {
            notes.extend(of_part(find(&before.conditions, name), find(&next.conditions, name)));
        }
    }
    let pair = |name| (find(&before.conditions, name), find(&next.conditions, name));
    notes.extend(of_pause(pair(type_::PAUSED)));
    notes.extend(of_availability(pair(type_::AVAILABLE)));
    notes
}

fn of_phase(before: Option<&str>, next: Option<&str>) -> Option<Note> {
    let calm = |reason, message: &str| Some(Note { warning: false, reason, message: message.to_owned() });
    match next {
        next if next == before => None,
        Some("Provisioned") => {
            calm(Reason::Provisioned, "the network is there, and it is known where the API server is reached")
        }
        Some("Deleting") => calm(Reason::Deleting, "the control plane goes first, then the network"),
        Some(_) | None => None,
    }
}

fn of_part(before: Option<&Condition>, next: Option<&Condition>) -> Option<Note> {
    let next = next?;
    let reason = *OF_REFERENCES.iter().find(|reason| reason.as_str() == next.reason)?;
    let said = |before: &Condition| before.reason == next.reason && before.message == next.message;
    (!before.is_some_and(said)).then(|| Note {
        warning: reason.is_trouble(),
        reason,
        message: next.message.clone(),
    })
}

fn of_pause((before, next): (Option<&Condition>, Option<&Condition>)) -> Option<Note> {
    let is_paused = |condition: Option<&Condition>| {
        condition.is_some_and(|condition| condition.status == Truth::True.as_str())
    };
    match (is_paused(before), is_paused(next)) {
        (false, true) => {
            let message = next.map(|next| next.message.clone()).unwrap_or_default();
            Some(Note { warning: false, reason: Reason::Paused, message })
        }
        (true, false) => {
            Some(Note { warning: false, reason: Reason::NotPaused, message: GOES_ON.to_owned() })
        }
        (true, true) | (false, false) => None,
    }
}

/// A Cluster that is not Available yet is no news; one that no longer is, is.
fn of_availability((before, next): (Option<&Condition>, Option<&Condition>)) -> Option<Note> {
    let next = next?;
    let was = before.is_some_and(|before| before.status == Truth::True.as_str());
    let is = next.status == Truth::True.as_str();
    match (was, is) {
        (false, true) => Some(Note {
            warning: false,
            reason: Reason::Available,
            message: "the cluster can be used".to_owned(),
        }),
        (true, false) => {
            let reason = if next.reason == Reason::NotAvailable.as_str() {
                Reason::NotAvailable
            } else {
                Reason::AvailableUnknown
            };
            Some(Note { warning: false, reason, message: next.message.clone() })
        }
        (true, true) | (false, false) => None,
    }
}
