//! Carries out what was decided about a control plane's apply. Every write can be repeated.

use capt_api::CAPTControlPlane;
use capt_api::names::finalizer;
use capt_core::control_plane::decide::Step;
use capt_core::owned_apply::Owner;
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

use super::credentials;
use super::observe::Seen;
use crate::context::Context;
use crate::error::Error;
use crate::store::key_of;
use crate::{owned_apply, write};

/// What came of a step.
pub(super) enum Done {
    /// Nothing was to be done but wait or tell, or it was done.
    Waited,
    /// The control plane itself has changed: look again at once.
    Again,
    /// The control plane was let go and may be gone by now.
    Released,
}

/// Carries out a step.
pub(super) async fn act(
    control_plane: &CAPTControlPlane,
    step: &Step,
    seen: &Seen,
    context: &Context,
) -> Result<Done, Error> {
    match step {
        Step::Leave
        | Step::Pause(_)
        | Step::Hold { .. }
        | Step::Settled
        | Step::AwaitClearing { .. }
        | Step::AwaitDeletion { .. } => Ok(Done::Waited),
        Step::Claim { apply, state } => {
            claim(control_plane, apply, state.as_deref(), context).await.map(|()| Done::Again)
        }
        Step::Write { wanted, create } => {
            let present = if *create { None } else { present(wanted, control_plane, context) };
            if *create && owned_apply::is_put_off(&control_plane.metadata, wanted, context).await? {
                return Ok(Done::Again);
            }
            owned_apply::write(wanted, &Owner::of(control_plane), present.as_ref(), context).await?;
            if *create {
                let now = context.now();
                let key = key_of(&control_plane.metadata);
                context.credentials.with(&key, |memory| memory.begun = Some(now));
            }
            Ok(Done::Waited)
        }
        Step::DeleteApply { .. } => {
            if let Some(apply) = &seen.apply {
                owned_apply::delete(apply, context).await?;
            }
            Ok(Done::Waited)
        }
        Step::LetGo | Step::Finish => release(control_plane, context).await,
    }
}

fn present(
    wanted: &capt_core::owned_apply::Wanted,
    control_plane: &CAPTControlPlane,
    context: &Context,
) -> Option<capt_api::WorkspaceTemplateApply> {
    let namespace = control_plane.namespace();
    context.applies.get(namespace.as_deref(), &wanted.name).map(|apply| (*apply).clone())
}

fn control_planes(control_plane: &CAPTControlPlane, context: &Context) -> Api<CAPTControlPlane> {
    Api::namespaced(context.client.clone(), &control_plane.namespace().unwrap_or_default())
}

/// Takes hold of the control plane and notes its apply's name, before there is an apply.
async fn claim(
    control_plane: &CAPTControlPlane,
    apply: &str,
    state: Option<&str>,
    context: &Context,
) -> Result<(), Error> {
    let name = control_plane.name_any();
    let mut patch = write::header::<CAPTControlPlane>(&name);
    patch["metadata"]["uid"] = json!(control_plane.uid());
    hold(&mut patch, apply);
    owned_apply::remember_state(&mut patch, state);
    let doing = format!("taking hold of CAPTControlPlane `{name}`");
    let claimed = write::apply(&control_planes(control_plane, context), &name, &patch, &doing).await?;
    context.control_planes.remember(claimed);
    Ok(())
}

/// Puts into a patch what takes hold of a control plane.
pub(crate) fn hold(patch: &mut Value, apply: &str) {
    patch["metadata"]["finalizers"] = json!([finalizer::CONTROL_PLANE]);
    patch["spec"] = json!({ "workspaceTemplateApplyName": apply });
}

/// Lets go of the control plane: our finalizer, and that of the earlier implementation, are taken away.
async fn release(control_plane: &CAPTControlPlane, context: &Context) -> Result<Done, Error> {
    credentials::forget(&key_of(&control_plane.metadata), context);
    let ours = [finalizer::CONTROL_PLANE, finalizer::LEGACY_CONTROL_PLANE];
    write::release(&control_planes(control_plane, context), control_plane, &ours).await?;
    Ok(Done::Released)
}
