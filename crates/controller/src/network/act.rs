//! Carries out what was decided about a network. Every write can be repeated.

use capt_api::names::finalizer;
use capt_api::{CAPTCluster, WorkspaceTemplateApply};
use capt_core::network::decide::{Mode, Step};
use capt_core::network::observed::Observed;
use capt_core::owned_apply::{Owner, Wanted};
use kube::{Api, ResourceExt};
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
use crate::{owned_apply, write};

/// What came of a step.
pub(super) enum Done {
    /// Nothing was to be done but wait or tell, or what was done is followed by an event.
    Waited,
    /// Something that the decision rests on has changed: look again at once.
    Again,
    /// The network was let go and may be gone by now.
    Released,
}

/// Carries out a step.
pub(super) async fn act(
    network: &CAPTCluster,
    step: &Step,
    seen: &Observed,
    context: &Context,
) -> Result<Done, Error> {
    let apply = match seen {
        Observed::Deleting { apply, .. } | Observed::Templated { apply, .. } => apply.as_deref(),
        Observed::ExternallyManaged
        | Observed::Paused(_)
        | Observed::Moved
        | Observed::Existing { .. }
        | Observed::Blocked(_) => None,
    };
    match step {
        Step::Leave
        | Step::Pause(_)
        | Step::AwaitControlPlanes(_)
        | Step::AwaitDeletion { .. }
        | Step::Hold(_)
        | Step::Use { .. }
        | Step::Settled { .. } => Ok(Done::Waited),
        Step::Claim { apply, state } => {
            claim(network, apply, state.as_deref(), context).await.map(|()| Done::Again)
        }
        Step::Write { mode, wanted } => {
            let creates = *mode == Mode::Create;
            if creates && owned_apply::is_put_off(&network.metadata, wanted, context).await? {
                return Ok(Done::Again);
            }
            write_apply(network, wanted, apply, context).await.map(|()| Done::Waited)
        }
        Step::Align { wanted } => write_apply(network, wanted, apply, context).await.map(|()| Done::Again),
        Step::DeleteApply { .. } => {
            if let Some(apply) = apply {
                owned_apply::delete(apply, context).await?;
            }
            Ok(Done::Waited)
        }
        Step::LetGo | Step::Finish => release(network, context).await,
    }
}

fn networks(network: &CAPTCluster, context: &Context) -> Api<CAPTCluster> {
    Api::namespaced(context.client.clone(), &network.namespace().unwrap_or_default())
}

/// Takes hold of the network and notes its apply's name, before there is an apply. Nothing else is applied to the network
/// itself by this field manager, or what is left out here would be taken away.
async fn claim(
    network: &CAPTCluster,
    apply: &str,
    state: Option<&str>,
    context: &Context,
) -> Result<(), Error> {
    let name = network.name_any();
    let mut patch = write::header::<CAPTCluster>(&name);
    patch["metadata"]["uid"] = json!(network.uid());
    patch["metadata"]["finalizers"] = json!([finalizer::NETWORK]);
    patch["spec"] = json!({ "workspaceTemplateApplyName": apply });
    owned_apply::remember_state(&mut patch, state);
    let doing = format!("noting WorkspaceTemplateApply `{apply}` on CAPTCluster `{name}`");
    let claimed = write::apply(&networks(network, context), &name, &patch, &doing).await?;
    context.networks.remember(claimed);
    Ok(())
}

async fn write_apply(
    network: &CAPTCluster,
    wanted: &Wanted,
    present: Option<&WorkspaceTemplateApply>,
    context: &Context,
) -> Result<(), Error> {
    let owner = Owner::of(network);
    owned_apply::write(wanted, &owner, present, context).await
}

/// Lets go of the network: our finalizer, and that of the earlier implementation, are taken away.
async fn release(network: &CAPTCluster, context: &Context) -> Result<Done, Error> {
    let ours = [finalizer::NETWORK, finalizer::LEGACY, finalizer::LEGACY_NETWORK];
    write::release(&networks(network, context), network, &ours).await?;
    Ok(Done::Released)
}
