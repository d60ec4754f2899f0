//! Tells what came of a reconcile: status and Events, on every exit.

use capt_api::CAPTCluster;
use capt_core::network::decide::Step;
use capt_core::network::status::{self, Report};
use kube::{Api, ResourceExt};

use super::act::Done;
use super::observe;
use crate::context::{Context, now};
use crate::error::Error;
use crate::events;
use crate::leftovers;
use crate::write;

/// Writes the status if it has changed, publishes Events, and hands on what went wrong.
pub(super) async fn report(
    network: &CAPTCluster,
    step: &Step,
    done: Result<Done, Error>,
    context: &Context,
) -> Result<(), Error> {
    if matches!(done, Ok(Done::Released)) {
        return Ok(());
    }
    let outcome = match &done {
        Ok(_) => Ok(()),
        Err(error) => Err(error.blocked()),
    };
    let (apply, workspace) = observe::own(network, context);
    let now = now();
    let facts = Report {
        network,
        step,
        outcome: &outcome,
        apply: apply.as_ref(),
        workspace: workspace.as_ref(),
        now: &now,
    };
    let told = tell(network, facts, context).await;
    done.and(told)
}

async fn tell(network: &CAPTCluster, facts: Report<'_>, context: &Context) -> Result<(), Error> {
    let Some(next) = status::status(facts) else { return Ok(()) };
    events::publish(context, network, &status::notes(facts, &next)).await;
    if network.status.as_ref() == Some(&next) {
        return Ok(());
    }
    let networks: Api<CAPTCluster> =
        Api::namespaced(context.client.clone(), &network.namespace().unwrap_or_default());
    let name = network.name_any();
    let doing = format!("writing the status of CAPTCluster `{name}`");
    let written = Error::unless_gone(write::apply_status(&networks, network, &next, &doing).await)?;
    let Some(written) = written else { return Ok(()) };
    let Some(written) =
        leftovers::clear(&networks, written, |found| found.status.as_ref(), &next, &doing).await?
    else {
        return Ok(());
    };
    context.networks.remember(written);
    Ok(())
}
