//! What a decision about a `ClusterResourceSet` rests on.

use std::collections::BTreeMap;

use capt_api::names::annotation;
use capt_api::resource_set::{ResourceBinding, ResourceReference};
use capt_api::{Cluster, ClusterResourceSet};
use k8s_openapi::jiff::Timestamp;

use crate::apply::Blocked;
use crate::digest::short_digest;
use crate::selector;
use crate::standing::Pause;

/// What was seen.
#[derive(Clone, Debug, PartialEq)]
pub enum Observed {
    /// Somebody else looks after it.
    ExternallyManaged,
    /// It is paused.
    Paused(Pause),
    /// It lives on elsewhere.
    Moved,
    /// It is being deleted.
    Deleting {
        /// Whether something is still on its way to a cluster.
        busy: bool,
        /// The bindings that still name it.
        bindings: Vec<String>,
    },
    /// It is to be kept true.
    Active(Active),
}

/// Everything that a set depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Active {
    /// Its resources, each once, in the order of the spec.
    pub resources: Vec<Resource>,
    /// The clusters that it selects, by name.
    pub clusters: Vec<Selected>,
    /// Bindings that name it and should not.
    pub stale: Vec<Stale>,
}

/// One resource of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// What the spec says.
    pub reference: ResourceReference,
    /// What is there.
    pub content: Content,
}

/// What is in a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// There is no such object.
    Missing,
    /// The Secret is of this other type.
    WrongType(String),
    /// Something in it is no manifest.
    Invalid {
        /// Cluster API's hash of it.
        hash: String,
        /// What is wrong, and where.
        problem: String,
    },
    /// Manifests.
    Manifests {
        /// Cluster API's hash of them.
        hash: String,
    },
}

impl Content {
    /// The hash of what can be brought.
    pub fn usable(&self) -> Option<&str> {
        match self {
            Self::Manifests { hash } => Some(hash),
            Self::Missing | Self::WrongType(_) | Self::Invalid { .. } => None,
        }
    }
}

/// A Cluster that a set selects.
#[derive(Clone, Debug, PartialEq)]
pub struct Selected {
    /// Its name.
    pub name: String,
    /// Whether it can be brought something.
    pub state: ClusterState,
    /// What was brought to it, as far as that is still so.
    pub entries: Vec<ResourceBinding>,
    /// What is remembered.
    pub memory: Memory,
}

/// Whether a Cluster can be brought something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterState {
    /// It can.
    Usable,
    /// The user holds it.
    Paused,
    /// It is not there yet; the text says what is missing.
    NotReady(String),
    /// What was brought to it cannot be read.
    Unreadable(String),
}

/// What is remembered of a set in one cluster. All of it may be lost: things are then tried once more.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// Whether something is on its way right now.
    pub busy: bool,
    /// What was tried last, see [`digest`].
    pub attempted: Option<String>,
    /// How often in a row that failed.
    pub failures: u32,
    /// When it is tried again.
    pub due: Option<Timestamp>,
    /// Why it failed.
    pub trouble: Option<Blocked>,
    /// When everything was last seen to be in the cluster.
    pub verified: Option<Timestamp>,
}

/// A binding that names a set and should not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stale {
    /// The Cluster is no longer selected.
    Entry(String),
    /// The Cluster is gone, or going.
    Binding(String),
}

/// The resources of a set, each once, in the order of the spec.
pub fn references(set: &ClusterResourceSet) -> Vec<ResourceReference> {
    let mut references: Vec<ResourceReference> = Vec::new();
    for reference in &set.spec.resources {
        if !references.contains(reference) {
            references.push(reference.clone());
        }
    }
    references
}

/// Stands for everything that can be brought.
pub fn digest(resources: &[Resource]) -> String {
    let texts = resources.iter().flat_map(|Resource { reference, content }| {
        [reference.kind.as_str(), &reference.name, content.usable().unwrap_or_default()]
    });
    short_digest(texts, 16)
}

/// Whether a set selects a Cluster. One that is being deleted is not selected.
pub fn selects(set: &ClusterResourceSet, cluster: &Cluster) -> bool {
    let labels = cluster.metadata.labels.clone().unwrap_or_default();
    cluster.metadata.deletion_timestamp.is_none()
        && problem(set).is_none()
        && selector::matches(&set.spec.cluster_selector, &labels)
}

/// Why the selector of a set selects nothing.
pub fn problem(set: &ClusterResourceSet) -> Option<String> {
    let selector = &set.spec.cluster_selector;
    let is_empty = selector.match_labels.as_ref().is_none_or(BTreeMap::is_empty)
        && selector.match_expressions.as_ref().is_none_or(Vec::is_empty);
    if is_empty {
        return Some(
            "spec.clusterSelector is empty and selects nothing: write a label that the Clusters have"
                .to_owned(),
        );
    }
    selector::problem(selector).map(|problem| format!("spec.clusterSelector: {problem}"))
}

/// Whether the user holds a Cluster.
pub fn is_paused(cluster: &Cluster) -> bool {
    let annotations = cluster.metadata.annotations.as_ref();
    cluster.spec.paused == Some(true)
        || annotations.is_some_and(|annotations| annotations.contains_key(annotation::PAUSED))
}

/// Whether the control plane of a Cluster could be reached once.
pub fn is_initialized(cluster: &Cluster) -> bool {
    let initialization = cluster.status.as_ref().and_then(|status| status.initialization.as_ref());
    initialization.is_some_and(|known| known.control_plane_initialized == Some(true))
}
