//! The conditions of a Cluster. Each says of the Cluster what one of its parts says of itself.

use capt_api::capi::ClusterInitialization;
use capt_api::names::{Reason, condition as type_};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use super::Report;
use super::available::available;
use crate::cluster::decide::Step;
use crate::cluster::endpoint::{self, Offer};
use crate::cluster::observed::{Part, Referent, Role};
use crate::condition::{Stamp, Statement, Truth, cut, find};
use crate::standing::Standing;

const LONGEST_MESSAGE: usize = 4096;

fn say(truth: Truth, reason: Reason, message: impl Into<String>) -> Statement {
    Statement::new(truth, reason, cut(&message.into(), LONGEST_MESSAGE))
}

/// Every condition of the Cluster that is CAPT's.
pub(super) fn all(
    report: Report<'_>,
    once: &ClusterInitialization,
    before: &[Condition],
    stamp: &Stamp,
) -> Vec<Condition> {
    let seen = report.seen;
    let no_workers = say(Truth::True, Reason::NoWorkers, "");
    let not_paused = say(Truth::False, Reason::NotPaused, "");
    let mut all = vec![
        part(report, Role::Network, once.infrastructure_provisioned == Some(true), stamp),
        part(report, Role::ControlPlane, once.control_plane_initialized == Some(true), stamp),
        initialized(report, once).into_condition(type_::CONTROL_PLANE_INITIALIZED, stamp),
        reachable(report, stamp),
        rolling_out(&seen.control_plane).into_condition(type_::ROLLING_OUT, stamp),
        no_workers.into_condition(type_::WORKERS_AVAILABLE, stamp),
        deleting(report).into_condition(type_::DELETING, stamp),
        not_paused.into_condition(type_::PAUSED, stamp),
    ];
    keep_times(&mut all, before);
    let mut summary = vec![available(report.cluster, seen.standing == Standing::Deleting, &all, stamp)];
    keep_times(&mut summary, before);
    all.append(&mut summary);
    all
}

/// The transition time moves only when the status does.
fn keep_times(conditions: &mut [Condition], before: &[Condition]) {
    for condition in conditions {
        if let Some(before) = find(before, &condition.type_)
            && before.status == condition.status
        {
            condition.last_transition_time = before.last_transition_time.clone();
        }
    }
}

/// `InfrastructureReady` and `ControlPlaneAvailable`.
fn part(report: Report<'_>, role: Role, once: bool, stamp: &Stamp) -> Condition {
    let (target, source) = match role {
        Role::Network => (type_::INFRASTRUCTURE_READY, type_::READY),
        Role::ControlPlane => (type_::CONTROL_PLANE_AVAILABLE, type_::AVAILABLE),
    };
    match report.seen.referent(role) {
        Referent::There(part) => mirrored(target, part.condition(source), &silent(role, part, once), stamp),
        absent => not_there(role, absent, once, report.seen.standing == Standing::Deleting)
            .into_condition(target, stamp),
    }
}

/// What is said of a part that says nothing of itself.
fn silent(role: Role, part: &Part, once: bool) -> Statement {
    let (yes, no, field) = match role {
        Role::Network => (Reason::Ready, Reason::NotReady, "provisioned"),
        Role::ControlPlane => (Reason::Available, Reason::NotAvailable, "controlPlaneInitialized"),
    };
    let kind = role.kind();
    match &part.unreadable {
        Some(problem) => say(
            Truth::Unknown,
            Reason::Unreadable,
            format!("{kind} `{}` is there but cannot be read: {}", part.name(), cut(problem, 300)),
        ),
        None if once => say(Truth::True, yes, ""),
        None => say(Truth::False, no, format!("{kind} status.initialization.{field} is false")),
    }
}

fn not_there(role: Role, referent: &Referent, once: bool, deleting: bool) -> Statement {
    let kind = role.kind();
    match referent {
        Referent::NotNamed => match role {
            Role::Network => say(Truth::True, Reason::Ready, "the Cluster has no spec.infrastructureRef"),
            Role::ControlPlane => say(
                Truth::False,
                Reason::ObjectDoesNotExist,
                "the Cluster has no spec.controlPlaneRef: name a CAPTControlPlane there",
            ),
        },
        Referent::Unsupported(why) => say(Truth::False, Reason::ReferenceUnsupported, why.clone()),
        Referent::Unlisted { name } => say(
            Truth::Unknown,
            Reason::ReferenceNotFound,
            format!(
                "kind {kind} is not served, so nobody knows whether `{name}` exists; waiting for the kind"
            ),
        ),
        Referent::Missing { name } if once && deleting => {
            say(Truth::False, Reason::ObjectDeleted, format!("{kind} `{name}` has been deleted"))
        }
        Referent::Missing { name } if once => say(
            Truth::False,
            Reason::ObjectDeleted,
            format!("{kind} `{name}` has been deleted while the cluster still exists"),
        ),
        Referent::Missing { name } => {
            say(Truth::False, Reason::ObjectDoesNotExist, format!("{kind} `{name}` does not exist"))
        }
        Referent::OfOther { name, cluster } => say(
            Truth::False,
            Reason::ReferenceNotOwned,
            format!(
                "{kind} `{name}` belongs to Cluster `{cluster}` and is left alone: name another one in {}",
                role.field()
            ),
        ),
        Referent::There(part) => silent(role, part, once),
    }
}

/// Says of the Cluster what a part says of itself, with the time at which the part began to say so.
fn mirrored(target: &str, source: Option<&Condition>, fallback: &Statement, stamp: &Stamp) -> Condition {
    let Some(source) = source else { return fallback.clone().into_condition(target, stamp) };
    let known = [Truth::True, Truth::False].into_iter().find(|truth| truth.as_str() == source.status);
    let reason = if source.reason.is_empty() { fallback.reason.as_str() } else { &source.reason };
    Condition {
        type_: target.to_owned(),
        status: known.unwrap_or(Truth::Unknown).as_str().to_owned(),
        reason: reason.to_owned(),
        message: cut(&source.message, LONGEST_MESSAGE),
        observed_generation: stamp.generation,
        last_transition_time: source.last_transition_time.clone(),
    }
}

fn initialized(report: Report<'_>, once: &ClusterInitialization) -> Statement {
    if once.control_plane_initialized == Some(true) {
        return say(Truth::True, Reason::Initialized, "");
    }
    match &report.seen.control_plane {
        Referent::There(_) => say(Truth::False, Reason::NotInitialized, "Control plane not yet initialized"),
        absent => {
            let deleting = report.seen.standing == Standing::Deleting;
            let Statement { reason, message, .. } = not_there(Role::ControlPlane, absent, false, deleting);
            say(Truth::Unknown, reason, message)
        }
    }
}

/// Cluster API asks the cluster itself; here the control plane has done so already.
fn reachable(report: Report<'_>, stamp: &Stamp) -> Condition {
    let probe = type_::REMOTE_CONNECTION_PROBE;
    let source = report.seen.control_plane.part().and_then(|part| part.condition(type_::REACHABLE));
    let offer = endpoint::offer(report.cluster, report.seen);
    let not_yet = match offer {
        Offer::Unusable(why) if !endpoint::is_known(report.cluster) => why,
        Offer::Unusable(_) | Offer::Endpoint(_) | Offer::Nothing => {
            "Remote connection not established yet".to_owned()
        }
    };
    let mut condition = mirrored(probe, source, &say(Truth::False, Reason::ProbeFailed, not_yet), stamp);
    let succeeded = condition.status == Truth::True.as_str();
    let reason = if succeeded { Reason::ProbeSucceeded } else { Reason::ProbeFailed };
    reason.as_str().clone_into(&mut condition.reason);
    condition
}

fn rolling_out(control_plane: &Referent) -> Statement {
    let source = control_plane.part().and_then(|part| part.condition(type_::ROLLING_OUT));
    let message = source.map(|source| source.message.clone()).unwrap_or_default();
    match source.map(|source| source.status.as_str()) {
        Some("True") => say(Truth::True, Reason::RollingOut, message),
        Some("False") | None => say(Truth::False, Reason::NotRollingOut, message),
        Some(_) => say(Truth::Unknown, Reason::RollingOutUnknown, message),
    }
}

fn deleting(report: Report<'_>) -> Statement {
    let waiting = |role: Role| match role {
        Role::ControlPlane => Reason::WaitingForControlPlaneDeletion,
        Role::Network => Reason::WaitingForInfrastructureDeletion,
    };
    match report.step {
        Step::Delete(target) | Step::AwaitDeletion(target) => say(
            Truth::True,
            waiting(target.role),
            format!("Waiting for {} `{}` to be deleted", target.role.kind(), target.name),
        ),
        Step::AwaitListing { role, name } => say(
            Truth::True,
            waiting(*role),
            format!(
                "kind {} is not served, so nobody knows whether `{name}` is gone; waiting for the kind",
                role.kind()
            ),
        ),
        Step::LetGo | Step::Finish => say(Truth::True, Reason::Deleting, ""),
        Step::Leave | Step::Pause(_) | Step::Claim | Step::Mark(_) | Step::SetEndpoint(_) | Step::Settled => {
            say(Truth::False, Reason::NotDeleting, "")
        }
    }
}
