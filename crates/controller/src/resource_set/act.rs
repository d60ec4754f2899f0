//! Carries out what was decided about a set. Every write can be repeated, and none is made once sets are somebody else's.

use std::sync::Arc;
use std::time::Duration;

use capt_api::ClusterResourceSet;
use capt_api::names::finalizer;
use capt_core::resource_set::decide::{Judged, Plan, Step, Work};
use capt_core::resource_set::observed::Stale;
use futures::future::join_all;
use futures::stream::{self, StreamExt};
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::observe::Seen;
use super::serve::{Job, serve};
use super::{binding, memory};
use crate::context::Context;
use crate::error::Error;
use crate::index::Name;
use crate::resources::Loaded;
use crate::store::key_of;
use crate::write;

/// How many bindings are written at the same time.
const AT_ONCE: usize = 8;
/// How long what is brought is waited for before the status is written without it.
const A_MOMENT: Duration = Duration::from_secs(1);

/// What came of a step.
pub(super) enum Done {
    /// Nothing was to be done but wait or tell.
    Waited,
    /// Something that the decision rests on has changed: look again at once.
    Again,
    /// The set was let go and may be gone by now.
    Released,
    /// Sets are somebody else's by now.
    SteppedBack,
}

/// Carries out a step.
pub(super) async fn act(
    set: &ClusterResourceSet,
    step: &Step,
    seen: Seen,
    context: &Arc<Context>,
) -> Result<Done, Error> {
    if !context.cluster_serving.is_ours() {
        return Ok(Done::SteppedBack);
    }
    match step {
        Step::Leave | Step::Hold(_) | Step::AwaitDeliveries => Ok(Done::Waited),
        Step::Pause(_) => {
            context.resource_set_memories.stop(set);
            Ok(Done::Waited)
        }
        Step::Claim => claim(set, context).await.map(|()| Done::Again),
        Step::Finish { bindings } => {
            all(bindings.iter().map(|name| binding::forget(set, name, context)).collect()).await?;
            release(set, context).await
        }
        Step::LetGo => release(set, context).await,
        Step::Serve(plan) => carry_out(set, plan, seen.contents, context).await,
    }
}

fn sets(set: &ClusterResourceSet, context: &Context) -> Api<ClusterResourceSet> {
    Api::namespaced(context.client.clone(), &set.namespace().unwrap_or_default())
}

/// Takes hold of the set before anything is brought. The finalizer is Cluster API's own, which does the same by a patch.
async fn claim(set: &ClusterResourceSet, context: &Context) -> Result<(), Error> {
    let mut finalizers = set.finalizers().to_vec();
    finalizers.push(finalizer::RESOURCE_SET.to_owned());
    let patch =
        json!({ "metadata": { "finalizers": finalizers, "resourceVersion": set.resource_version() } });
    let name = set.name_any();
    let claimed = sets(set, context)
        .patch(&name, &PatchParams::default(), &Patch::Merge(patch))
        .await
        .map_err(Error::api(format!("taking hold of ClusterResourceSet `{name}`")))?;
    context.resource_sets.remember(claimed);
    Ok(())
}

async fn release(set: &ClusterResourceSet, context: &Context) -> Result<Done, Error> {
    if !context.cluster_serving.is_ours() {
        return Ok(Done::SteppedBack);
    }
    write::release(&sets(set, context), set, &[finalizer::RESOURCE_SET]).await?;
    context.resource_set_memories.forget(&set.uid().unwrap_or_default());
    Ok(Done::Released)
}

/// Starts to bring what is missing. Where nothing is, bindings are put in order.
async fn carry_out(
    set: &ClusterResourceSet,
    plan: &Plan,
    contents: Vec<Arc<Loaded>>,
    context: &Arc<Context>,
) -> Result<Done, Error> {
    let under_way = start(set, plan, contents, context);
    if !under_way.is_empty() {
        // Most clusters answer at once, and one status is enough for all of them then. Nobody waits for the others.
        let _ = tokio::time::timeout(A_MOMENT, join_all(under_way)).await;
        return Ok(Done::Again);
    }
    let noted = all(plan.clusters.iter().map(|judged| note(set, judged, context)).collect()).await;
    let removed = all(plan.stale.iter().map(|stale| remove(set, stale, context)).collect()).await;
    noted.and(removed).map(|()| Done::Waited)
}

/// Writes down what is known of a cluster that is brought nothing.
async fn note(set: &ClusterResourceSet, judged: &Judged, context: &Context) -> Result<(), Error> {
    let Work::Note(entries) = &judged.work else { return Ok(()) };
    match context.clusters.get(set.metadata.namespace.as_deref(), &judged.cluster) {
        Some(cluster) => binding::put(set, &cluster, entries, context).await,
        None => Ok(()),
    }
}

async fn remove(set: &ClusterResourceSet, stale: &Stale, context: &Context) -> Result<(), Error> {
    match stale {
        Stale::Entry(name) => binding::forget(set, name, context).await,
        Stale::Binding(name) => binding::delete(set, name, context).await,
    }
}

/// Writes several, some at a time. One that fails keeps none of the others from being written.
async fn all(writes: Vec<impl Future<Output = Result<(), Error>>>) -> Result<(), Error> {
    let results: Vec<_> = stream::iter(writes).buffer_unordered(AT_ONCE).collect().await;
    results.into_iter().collect()
}

/// Starts a task for every cluster that is to be brought something.
fn start(
    set: &ClusterResourceSet,
    plan: &Plan,
    contents: Vec<Arc<Loaded>>,
    context: &Arc<Context>,
) -> Vec<JoinHandle<Option<()>>> {
    let namespace = key_of(&set.metadata).namespace;
    let shared = Arc::new(set.clone());
    let resources: Arc<[_]> = plan.resources.clone().into();
    let contents: Arc<[_]> = contents.into();
    let mut under_way = Vec::new();
    for judged in &plan.clusters {
        let Work::Bring(bring) = &judged.work else { continue };
        let Some(cluster) = context.clusters.get(Some(&namespace), &judged.cluster) else { continue };
        let job = Job {
            set: Arc::clone(&shared),
            cluster: Name::new(&namespace, &judged.cluster),
            uid: cluster.uid().unwrap_or_default(),
            bring: bring.clone(),
            resources: Arc::clone(&resources),
            contents: Arc::clone(&contents),
        };
        let stop = CancellationToken::new();
        let begin = |memory: &mut memory::Memory| memory.stop = Some(stop.clone());
        context.resource_set_memories.with(set, &job.uid, begin);
        under_way.push(context.term.spawn(serve(job, stop, Arc::clone(context))));
    }
    under_way
}
