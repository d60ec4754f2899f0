//! Tells what came of a reconcile: status and Events, on every exit.

use capt_api::capt_control_plane::SecretState;
use capt_api::names::Reason;
use capt_api::{CAPTControlPlane, WorkspaceTemplateApply};
use capt_core::control_plane::decide::{self, Step};
use capt_core::control_plane::status::{self, Report, Secrets};
use k8s_openapi::jiff::Timestamp;
use kube::{Api, ResourceExt};

use super::act::Done;
use super::credentials::Kept;
use super::observe::{self, Seen};
use crate::context::{A_MOMENT, Context, to_the_second};
use crate::error::Error;
use crate::events;
use crate::leftovers;
use crate::store::key_of;
use crate::write;

/// Writes the status if it has changed, publishes Events, and hands on what went wrong.
pub(super) async fn report(
    control_plane: &CAPTControlPlane,
    step: &Step,
    seen: Option<&Seen>,
    done: Result<Done, Error>,
    kept: Kept,
    context: &Context,
) -> Result<Option<Error>, Error> {
    if matches!(done, Ok(Done::Released)) {
        return Ok(None);
    }
    let outcome = done.as_ref().map(drop).map_err(Error::blocked);
    let now = context.now();
    let apply = apply(control_plane, step, seen, context);
    // Read after the apply, so that it is no older than what the apply says about it.
    let workspace = apply.as_ref().and_then(|apply| observe::workspace(apply, context));
    let overdue = decide::control_plane_deadline(control_plane, apply.as_ref(), now) <= now;
    let Kept { secrets, endpoint, probe, error, .. } = kept;
    let facts = Report {
        control_plane,
        step,
        outcome: &outcome,
        apply: apply.as_ref(),
        workspace: workspace.as_ref(),
        secrets: &secrets,
        endpoint: endpoint.as_ref(),
        probe: probe.as_ref(),
        overdue,
        now: &to_the_second(now),
    };
    let told = tell(control_plane, facts, context).await;
    done.map(drop)?;
    told.map(|()| error)
}

/// The apply as it is after the step, if it is ours.
fn apply(
    control_plane: &CAPTControlPlane,
    step: &Step,
    seen: Option<&Seen>,
    context: &Context,
) -> Option<WorkspaceTemplateApply> {
    let before = seen.and_then(|seen| seen.apply.as_ref());
    let made = match step {
        Step::Write { wanted, .. } => Some(wanted.name.clone()),
        _ => None,
    };
    let name = before.map(ResourceExt::name_any).or(made)?;
    let newest = context.applies.get(control_plane.metadata.namespace.as_deref(), &name);
    newest.map(|newest| (*newest).clone()).or_else(|| before.cloned())
}

/// When there is more to tell of a new control plane that is at its very beginning; nothing is told until then.
pub(super) fn beginning(
    control_plane: &CAPTControlPlane,
    step: &Step,
    secrets: &Secrets,
    context: &Context,
) -> Option<Timestamp> {
    if control_plane.status.is_some() || secrets.state == SecretState::Ready {
        return None;
    }
    match step {
        // Mostly it is found by its Cluster.
        Step::Hold { blocked, until } if blocked.reason == Reason::WaitingForCluster => *until,
        Step::Write { .. } | Step::Settled => {
            let key = key_of(&control_plane.metadata);
            let begun = context.credentials.with(&key, |memory| memory.begun)?;
            begun.checked_add(A_MOMENT).ok().filter(|until| context.now() < *until)
        }
        _ => None,
    }
}

async fn tell(control_plane: &CAPTControlPlane, facts: Report<'_>, context: &Context) -> Result<(), Error> {
    let Some(next) = status::status(facts) else { return Ok(()) };
    events::publish(context, control_plane, &status::notes(facts, &next)).await;
    let early = beginning(control_plane, facts.step, facts.secrets, context).is_some();
    if (early && facts.outcome.is_ok()) || control_plane.status.as_ref() == Some(&next) {
        return Ok(());
    }
    let was_ready = control_plane.status.as_ref().is_some_and(|status| status.initialized);
    if next.initialized && !was_ready {
        context
            .metrics
            .control_plane_initialized(control_plane.metadata.creation_timestamp.as_ref(), facts.now);
    }
    let (namespace, name) = (control_plane.namespace().unwrap_or_default(), control_plane.name_any());
    let control_planes: Api<CAPTControlPlane> = Api::namespaced(context.client.clone(), &namespace);
    let doing = format!("writing the status of CAPTControlPlane `{namespace}/{name}`");
    let written = write::apply_status(&control_planes, control_plane, &next, &doing).await;
    let Some(written) = Error::unless_gone(written)? else { return Ok(()) };
    if let Some(written) =
        leftovers::clear(&control_planes, written, |found| found.status.as_ref(), &next, &doing).await?
    {
        context.control_planes.remember(written);
    }
    Ok(())
}
