//! The driver of `CAPTControlPlane`: observe → decide → act, then its credentials, then report.

mod act;
mod clearing;
mod credentials;
mod observe;
mod probe;
mod report;

use std::sync::Arc;
use std::time::{Duration, Instant};

use capt_api::CAPTControlPlane;
use capt_api::names::group;
use capt_core::control_plane::decide::{self, Step, decide};
use k8s_openapi::api::rbac::v1::PolicyRule;
use k8s_openapi::jiff::Timestamp;
use kube::runtime::controller::Action;

use act::Done;
pub(crate) use act::hold;
pub(crate) use credentials::{Credentials, forget};

use crate::context::Context;
use crate::error::Error;
use crate::metrics::{Kind, Outcome};
use crate::rbac::rule;
use crate::store::key_of;

/// A claim and a new apply are followed by more in the same reconcile; more rounds than this mean that somebody works against us.
const MOST_ROUNDS: u32 = 4;

/// What this driver needs permission for.
pub(crate) fn rules() -> Vec<PolicyRule> {
    vec![
        rule(group::CONTROL_PLANE, &["captcontrolplanes"], &["get", "list", "watch", "patch"]),
        rule(group::CONTROL_PLANE, &["captcontrolplanes/status"], &["patch"]),
        rule(group::CONTROL_PLANE, &["captcontrolplanes/finalizers"], &["update"]),
        rule(
            group::INFRASTRUCTURE,
            &["workspacetemplateapplies"],
            &["get", "list", "watch", "create", "patch", "delete"],
        ),
        rule(group::INFRASTRUCTURE, &["workspacetemplates", "captclusters"], &["get", "list", "watch"]),
        rule(group::CLUSTER, &["clusters"], &["get", "list", "watch"]),
        rule("", &["secrets"], &["get", "list", "watch", "create", "patch", "delete"]),
    ]
}

/// Brings one control plane in line.
pub(crate) async fn reconcile(
    control_plane: CAPTControlPlane,
    context: Arc<Context>,
) -> Result<Action, Error> {
    let started = Instant::now();
    let key = key_of(&control_plane.metadata);
    let result = rounds(control_plane, &context).await;
    let outcome = match &result {
        Ok((Step::Settled, _)) => Outcome::Settled,
        Ok(_) => Outcome::Waiting,
        Err(_) => Outcome::Failed,
    };
    context.metrics.reconciled(Kind::CAPTControlPlane, outcome, started.elapsed());
    match result {
        Ok((_, next)) => {
            context.attempts.succeeded(Kind::CAPTControlPlane, key);
            Ok(next.map_or_else(Action::await_change, |next| requeue(next, context.now())))
        }
        Err(error) => {
            context.metrics.failed(Kind::CAPTControlPlane, error.reason());
            Err(error)
        }
    }
}

async fn rounds(
    mut control_plane: CAPTControlPlane,
    context: &Arc<Context>,
) -> Result<(Step, Option<Timestamp>), Error> {
    let mut round = 1;
    loop {
        control_plane = context.control_planes.newest(control_plane);
        let clearing::Looked { inside, next: look } = clearing::look(&control_plane, context).await;
        let seen = observe::observe(&control_plane, inside, context);
        let step = match &seen {
            Ok(seen) => decide(&control_plane, &seen.observed),
            Err(error) => Step::Hold { blocked: error.blocked(), until: None },
        };
        let done = match &seen {
            Ok(seen) => act::act(&control_plane, &step, seen, context).await,
            Err(_) => Ok(Done::Waited),
        };
        if matches!(done, Ok(Done::Again)) && round < MOST_ROUNDS {
            round += 1;
            continue;
        }
        let kept = match &seen {
            Ok(seen) if hands_out(&step) => credentials::keep(&control_plane, seen, context).await,
            _ => credentials::Kept::nothing(&control_plane),
        };
        // The endpoint may have been written: what is told now speaks of the spec as it is then.
        control_plane = context.control_planes.newest(control_plane);
        let next = next_look(&step, &control_plane, seen.as_ref().ok(), &kept, context.now());
        let soon = report::beginning(&control_plane, &step, &kept.secrets, context);
        let next = next.into_iter().chain(look).chain(soon).min();
        let failed = kept.error.is_some() || seen.is_err();
        let (seen, error) = match seen {
            Ok(seen) => (Some(seen), None),
            Err(error) => (None, Some(error)),
        };
        let kept_error = report::report(&control_plane, &step, seen.as_ref(), done, kept, context).await?;
        return match error.or(kept_error) {
            Some(error) if failed => Err(error),
            _ => Ok((step, next)),
        };
    }
}

/// Credentials are kept up as long as the control plane may be there: its way down needs them too.
fn hands_out(step: &Step) -> bool {
    match step {
        Step::Leave | Step::Pause(_) | Step::LetGo | Step::Finish => false,
        Step::Claim { .. }
        | Step::Hold { .. }
        | Step::Write { .. }
        | Step::Settled
        | Step::AwaitClearing { .. }
        | Step::DeleteApply { .. }
        | Step::AwaitDeletion { .. } => true,
    }
}

/// When it is looked at again without an event: a deadline, a token that is to be renewed, a question to the cluster.
fn next_look(
    step: &Step,
    control_plane: &CAPTControlPlane,
    seen: Option<&observe::Seen>,
    kept: &credentials::Kept,
    now: Timestamp,
) -> Option<Timestamp> {
    let held = match step {
        Step::Hold { until, .. } | Step::AwaitClearing { until, .. } => *until,
        _ => None,
    };
    let apply = seen.and_then(|seen| seen.apply.as_ref());
    let late = match step {
        Step::Write { .. } | Step::Settled if !kept.is_ready() => {
            Some(decide::control_plane_deadline(control_plane, apply, now))
        }
        _ => None,
    };
    [held, late.filter(|deadline| *deadline > now), kept.next].into_iter().flatten().min()
}

fn requeue(next: Timestamp, now: Timestamp) -> Action {
    let pause = Duration::try_from(next.duration_since(now)).unwrap_or(Duration::ZERO);
    // A moment later, so that the time has come when it is looked at.
    Action::requeue(pause + Duration::from_millis(100))
}
