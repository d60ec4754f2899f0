//! What to do with a `ClusterResourceSet`, from the facts.

mod cluster;
mod pace;

use capt_api::ClusterResourceSet;
use capt_api::names::{Reason, finalizer};
use capt_api::resource_set::ResourceBinding;
use k8s_openapi::jiff::Timestamp;

use super::observed::{Active, Observed, Resource, Stale, digest, problem};
use crate::apply::Blocked;
use crate::standing::Pause;

pub use pace::{Attempt, remember};

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Nothing at all.
    Leave,
    /// Tell that it is paused.
    Pause(Pause),
    /// Let go of the set, which lives on elsewhere.
    LetGo,
    /// Hold the set, before anything is brought.
    Claim,
    /// Wait until nothing is on its way any more, so that nothing is written down of a set that is gone.
    AwaitDeliveries,
    /// Take the set out of these bindings, then let go of it.
    Finish {
        /// Their names.
        bindings: Vec<String>,
    },
    /// Wait until something changes.
    Hold(Blocked),
    /// Bring what is missing.
    Serve(Plan),
}

/// What to do in each cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The resources.
    pub resources: Vec<Resource>,
    /// The clusters, by name.
    pub clusters: Vec<Judged>,
    /// Bindings that name the set and should not.
    pub stale: Vec<Stale>,
    /// When to look again without an event.
    pub next: Option<Timestamp>,
}

/// What to do in one cluster, and what is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The Cluster.
    pub cluster: String,
    /// What to do.
    pub work: Work,
    /// What is told.
    pub word: Word,
    /// The resources that it lacks and that cannot be brought as they are, by their place among the resources of the plan.
    pub lacking: Vec<usize>,
}

/// What to do in a cluster.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Nothing.
    Nothing,
    /// Write down what is known, there being nothing to bring.
    Note(Vec<ResourceBinding>),
    /// Bring something.
    Bring(Bring),
}

/// What to bring to a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Bring {
    /// The resources, by their place among the resources of the plan.
    pub resources: Vec<usize>,
    /// What was brought before.
    pub before: Vec<ResourceBinding>,
    /// Stands for what is tried, see [`digest`].
    pub attempt: String,
    /// Whether everything that can be brought is among it.
    pub whole: bool,
    /// Whether the cluster failed the last time.
    pub again: bool,
}

/// What is told of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// Everything is there.
    Applied,
    /// Something is on its way.
    Delivering,
    /// The cluster is not there yet.
    Waiting(String),
    /// The user holds the cluster.
    Paused,
    /// Something keeps things from being there.
    Troubled(Blocked),
}

/// Decides what to do.
pub fn decide(set: &ClusterResourceSet, seen: &Observed, now: Timestamp) -> Step {
    match seen {
        Observed::ExternallyManaged => Step::Leave,
        Observed::Paused(pause) => Step::Pause(*pause),
        Observed::Moved => Step::LetGo,
        Observed::Deleting { busy: true, .. } => Step::AwaitDeliveries,
        Observed::Deleting { busy: false, bindings } => Step::Finish { bindings: bindings.clone() },
        Observed::Active(_) if !is_claimed(set) => Step::Claim,
        Observed::Active(active) => match problem(set) {
            Some(problem) => Step::Hold(Blocked::new(Reason::SpecInvalid, problem)),
            None => Step::Serve(plan(set, active, now)),
        },
    }
}

fn is_claimed(set: &ClusterResourceSet) -> bool {
    set.metadata.finalizers.iter().flatten().any(|entry| entry == finalizer::RESOURCE_SET)
}

fn plan(set: &ClusterResourceSet, active: &Active, now: Timestamp) -> Plan {
    let facts = cluster::Facts {
        set: set.metadata.uid.as_deref().unwrap_or_default(),
        resources: &active.resources,
        attempt: digest(&active.resources),
        strategy: set.spec.strategy,
        now,
    };
    let mut next = None;
    let mut clusters = Vec::with_capacity(active.clusters.len());
    for cluster in &active.clusters {
        let (judged, look) = facts.judge(cluster);
        next = [next, look].into_iter().flatten().min();
        clusters.push(judged);
    }
    Plan { resources: active.resources.clone(), clusters, stale: active.stale.clone(), next }
}

#[cfg(test)]
mod tests;
