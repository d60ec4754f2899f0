//! Tells what came of a reconcile: status and Events, on every exit.

use capt_api::ClusterResourceSet;
use capt_core::resource_set::decide::Step;
use capt_core::resource_set::status::{self, Report};
use kube::{Api, ResourceExt};

use super::act::Done;
use crate::context::{Context, now};
use crate::error::Error;
use crate::events;
use crate::write;

/// Writes the status if it has changed, publishes Events, and hands on what went wrong.
pub(super) async fn report(
    set: &ClusterResourceSet,
    step: &Step,
    done: Result<Done, Error>,
    context: &Context,
) -> Result<(), Error> {
    if matches!(done, Ok(Done::Released | Done::SteppedBack)) || !context.cluster_serving.is_ours() {
        return done.map(drop);
    }
    let outcome = match &done {
        Ok(_) => Ok(()),
        Err(error) => Err(error.blocked()),
    };
    let now = now();
    let told = tell(Report { set, step, outcome: &outcome, now: &now }, context).await;
    done.and(told)
}

async fn tell(facts: Report<'_>, context: &Context) -> Result<(), Error> {
    let set = facts.set;
    let Some(next) = status::status(facts) else { return Ok(()) };
    let mut notes = context.resource_set_memories.take_notes(set);
    notes.extend(status::notes(facts, &next));
    events::publish(context, set, &notes).await;
    // Publishing takes time, and this is the last write.
    if set.status.as_ref() == Some(&next) || !context.cluster_serving.is_ours() {
        return Ok(());
    }
    let sets: Api<ClusterResourceSet> =
        Api::namespaced(context.client.clone(), &set.namespace().unwrap_or_default());
    let doing = format!("writing the status of ClusterResourceSet `{}`", set.name_any());
    let written = write::apply_status(&sets, set, &next, &doing).await;
    if let Some(written) = Error::unless_gone(written)? {
        context.resource_sets.remember(written);
    }
    Ok(())
}
