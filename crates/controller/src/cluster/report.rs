//! Tells what came of a reconcile: status and Events.

use capt_api::Cluster;
use capt_api::names::Reason;
use capt_core::cluster::decide::Step;
use capt_core::cluster::observed::Observed;
use capt_core::cluster::status::{self, Report};
use capt_core::note::Note;
use kube::api::Patch;
use kube::{Api, ResourceExt};
use serde_json::json;

use super::act::{Done, parameters};
use crate::context::{Context, now};
use crate::error::{Error, Retry};
use crate::events;
use crate::write;

/// Writes the status if it has changed, publishes Events, and hands on what went wrong.
pub(super) async fn report(
    cluster: &Cluster,
    seen: &Observed,
    step: &Step,
    done: Result<Done, Error>,
    context: &Context,
) -> Result<(), Error> {
    if matches!(done, Ok(Done::Released | Done::SteppedBack)) || !context.cluster_serving.is_ours() {
        return done.map(drop);
    }
    let now = now();
    let facts = Report { cluster, seen, step, done: done.is_ok(), now: &now };
    let told = tell(facts, done.as_ref().err(), context).await;
    done.and(told)
}

async fn tell(facts: Report<'_>, failure: Option<&Error>, context: &Context) -> Result<(), Error> {
    let cluster = facts.cluster;
    let Some(next) = status::status(facts) else { return Ok(()) };
    let mut notes = status::notes(facts, &next);
    notes.extend(failure.and_then(note));
    events::publish(context, cluster, &notes).await;
    // Publishing takes time, and this is the last write.
    if status::is_told(cluster, &next) || !context.cluster_serving.is_ours() {
        return Ok(());
    }
    let name = cluster.name_any();
    let mut patch = write::header::<Cluster>(&name);
    patch["metadata"]["uid"] = json!(cluster.uid());
    patch["status"] = json!(next);
    let clusters: Api<Cluster> =
        Api::namespaced(context.client.clone(), &cluster.namespace().unwrap_or_default());
    let doing = format!("writing the status of Cluster `{name}`");
    let written = clusters.patch_status(&name, &parameters(), &Patch::Apply(patch)).await;
    if let Some(written) = Error::unless_gone(written.map_err(Error::api(doing)))? {
        context.clusters.remember(written);
    }
    Ok(())
}

/// No condition of a Cluster has room for this. That somebody else was faster is not worth telling.
fn note(error: &Error) -> Option<Note> {
    match error.retry() {
        Retry::AtOnce => None,
        Retry::Backoff | Retry::Rarely => {
            Some(Note { warning: true, reason: Reason::ApiError, message: error.sentence() })
        }
    }
}
