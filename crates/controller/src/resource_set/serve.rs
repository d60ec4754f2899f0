//! Brings a set to one cluster, and writes down what became of it.

mod goods;

use std::sync::Arc;

use capt_api::ClusterResourceSet;
use capt_api::names::{RESOURCE_SET_FIELD_MANAGER, Reason};
use capt_api::resource_set::Strategy;
use capt_core::apply::Blocked;
use capt_core::note::Note;
use capt_core::resource_set::decide::{Attempt, Bring, remember};
use capt_core::resource_set::entry::{Fate, entries, find};
use capt_core::resource_set::observed::{Resource, selects};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info};

use goods::Goods;

use super::binding;
use crate::context::{Context, to_the_second};
use crate::deliver::{Delivered, Known, Mode, Order, deliver};
use crate::index::Name;
use crate::resources::Loaded;
use crate::workload::{Identity, Unavailable};

/// What is to be brought to one cluster.
pub(super) struct Job {
    pub(super) set: Arc<ClusterResourceSet>,
    /// The Cluster's name.
    pub(super) cluster: Name,
    /// The Cluster's uid.
    pub(super) uid: String,
    pub(super) bring: Bring,
    pub(super) resources: Arc<[Resource]>,
    pub(super) contents: Arc<[Arc<Loaded>]>,
}

/// What became of a job.
struct Served {
    /// What became of each resource that was brought, in the order of the job.
    fates: Vec<Fate>,
    trouble: Option<Blocked>,
    identity: Option<Identity>,
    note: Option<Note>,
}

/// Says that something is on its way, until it is dropped.
struct Turn<'job> {
    job: &'job Job,
    context: &'job Context,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let Job { set, uid, .. } = self.job;
        self.context.resource_set_memories.ended(set, uid);
    }
}

/// Does a job, unless it is stopped. What was brought is written down in any case.
pub(super) async fn serve(job: Job, stop: CancellationToken, context: Arc<Context>) {
    let turn = Turn { job: &job, context: &context };
    let served = tokio::select! {
        biased;
        () = stop.cancelled() => None,
        served = job.serve(&context) => served,
    };
    if let Some(served) = served {
        job.write_down(served, &context).await;
    }
    drop(turn);
}

impl Job {
    /// Brings what is to be brought; `None` where that is no longer for us to do.
    async fn serve(&self, context: &Context) -> Option<Served> {
        let memories = &context.resource_set_memories;
        // The semaphore is never closed.
        let _permit = memories.lane(self.bring.again).acquire().await.ok()?;
        let workload = match context.workloads.of(&self.cluster, context).await {
            Ok(workload) => workload,
            Err(unavailable) => return Some(self.unserved(unavailable)),
        };
        if !self.is_wanted(context) {
            return None;
        }
        let goods = Goods::load(&self.bring.resources, &self.contents);
        let talk = workload.talk();
        let order = Order {
            manifests: &goods.manifests,
            manager: RESOURCE_SET_FIELD_MANAGER,
            claim: None,
            mode: match self.set.spec.strategy {
                Strategy::ApplyOnce => Mode::Once,
                Strategy::Reconcile => Mode::Keep,
            },
            known: &Known::new(),
        };
        let delivered = deliver(&talk, &order).await;
        context.metrics.cluster_asked(talk.requests());
        info!(cluster = self.cluster.name, written = delivered.written(), "brought what there was to bring");
        let trouble = delivered.trouble().map(|trouble| Blocked::new(trouble.reason, trouble.message));
        let identity = Some(workload.identity().clone());
        let note = self.repaired(&goods, &delivered);
        Some(Served { fates: goods.fates(&delivered), trouble, identity, note })
    }

    fn unserved(&self, unavailable: Unavailable) -> Served {
        let trouble = match unavailable {
            Unavailable::NoCredentials(message) => Blocked::new(Reason::WaitingForCredentials, message),
            Unavailable::Unusable(message) => Blocked::new(Reason::ClusterUnreachable, message),
            Unavailable::Error(error) => error.blocked(),
        };
        let fates = vec![Fate::Untried; self.bring.resources.len()];
        Served { fates, trouble: Some(trouble), identity: None, note: None }
    }

    /// Whether the set is still there and still selects the Cluster, and all of it is still ours.
    fn is_wanted(&self, context: &Context) -> bool {
        let namespace = Some(self.cluster.namespace.as_str());
        let name = self.set.metadata.name.as_deref().unwrap_or_default();
        let set = context.resource_sets.get(namespace, name);
        let is_same = set.is_some_and(|set| {
            set.metadata.uid == self.set.metadata.uid && set.metadata.deletion_timestamp.is_none()
        });
        let cluster = context.clusters.get(namespace, &self.cluster.name);
        let is_selected = cluster.is_some_and(|cluster| {
            cluster.metadata.uid.as_ref() == Some(&self.uid) && selects(&self.set, &cluster)
        });
        is_same && is_selected && context.cluster_serving.is_ours()
    }

    /// What to tell of objects that were there, and were gone or changed.
    fn repaired(&self, goods: &Goods, delivered: &Delivered) -> Option<Note> {
        let was_there = |place: usize| {
            let Resource { reference, content } = self.resources.get(place)?;
            let entry = find(&self.bring.before, reference).filter(|entry| entry.applied)?;
            (entry.hash.as_deref() == content.usable()).then_some(())
        };
        let repaired = goods.written(delivered, |place| was_there(place).is_some());
        let message = format!("Cluster `{}`: brought {repaired} in line again", self.cluster.name);
        (!repaired.is_empty()).then_some(Note { warning: false, reason: Reason::DriftRepaired, message })
    }

    /// Writes down what became of it, in the binding and in memory.
    async fn write_down(&self, served: Served, context: &Context) {
        let Served { fates, trouble, identity, note } = served;
        let now = context.now();
        let fate = |place: usize| {
            let index = self.bring.resources.iter().position(|other| *other == place)?;
            fates.get(index).copied()
        };
        let strategy = self.set.spec.strategy;
        let entries = entries(&self.resources, &self.bring.before, strategy, fate, &to_the_second(now));
        let cluster = context.clusters.get(Some(&self.cluster.namespace), &self.cluster.name);
        let Some(cluster) = cluster.filter(|_| self.is_wanted(context)) else {
            debug!(cluster = self.cluster.name, "no longer wanted there");
            return;
        };
        let written = binding::put(&self.set, &cluster, &entries, context).await;
        let is_written = written.is_ok();
        let trouble = trouble.or_else(|| written.err().map(|error| error.blocked()));
        let attempt = Attempt { digest: self.bring.attempt.clone(), whole: self.bring.whole, trouble };
        context.resource_set_memories.with(&self.set, &self.uid, |memory| {
            memory.known = remember(&memory.known, attempt, now);
            memory.identity = identity.or_else(|| memory.identity.take());
            // What is written down is about the cluster as it is now.
            memory.replaced &= !is_written;
            memory.notes.extend(note);
        });
    }
}
