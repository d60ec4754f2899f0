//! Who must be looked at again when something changes.
//!
//! Stores have no secondary index, and content that is read on demand is in no store at all. So a reconcile writes down what
//! it is about to read, before it reads it, and a change of that thing brings the object up again. Nothing is missed: the
//! change comes either before the reading or after the note.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::mem::discriminant;
use std::sync::{Mutex, MutexGuard, PoisonError};

use capt_api::flux::SourceKind;
use capt_core::tie::ApplyKey;

/// Who must be looked at again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Dependent {
    /// A `WorkspaceTemplateApply`.
    Apply(ApplyKey),
    /// A Workspace.
    Workspace(String),
    /// A `CAPTCluster`.
    Network(Name),
    /// A `CAPTControlPlane`.
    ControlPlane(Name),
    /// A Cluster, where CAPT looks after those itself.
    Cluster(Name),
    /// An `AddonStack`.
    Stack(Name),
    /// An `AddonStackBinding`.
    StackBinding(Name),
    /// A `ClusterResourceSet`, where CAPT looks after those itself.
    ResourceSet(Name),
}

/// Something that an object depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Dependency {
    /// A `WorkspaceTemplate`.
    Template(Name),
    /// A `WorkspaceTemplateApply`, but for its status.
    Apply(Name),
    /// A `WorkspaceTemplateApply` with its status.
    ApplyStatus(Name),
    /// A `CAPTCluster` with its status.
    Network(Name),
    /// A `CAPTControlPlane` with its status.
    ControlPlane(Name),
    /// A Workspace.
    Workspace(String),
    /// A Cluster, but for its status.
    Cluster(Name),
    /// A Cluster with its status.
    ClusterStatus(Name),
    /// The Clusters of a namespace, but for their status: which there are and what labels they have.
    Clusters(String),
    /// An `AddonStack`, but for its status.
    Stack(Name),
    /// The `AddonStackBindings` of a namespace, with their status.
    StackBindings(String),
    /// The `ClusterResourceSets` of a namespace, with their status.
    ResourceSets(String),
    /// A `ClusterResourceSetBinding`.
    ResourceSetBinding(Name),
    /// A Secret.
    Secret(Name),
    /// A `ConfigMap`.
    ConfigMap(Name),
    /// A Namespace.
    Namespace(String),
    /// A `ProviderConfig`.
    ProviderConfig(String),
    /// A source of Flux.
    FluxSource(SourceKind, Name),
}

/// Namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Name {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl Name {
    pub(crate) fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

/// Which objects depend on what.
#[derive(Debug)]
pub(crate) struct Index<K> {
    links: Mutex<Links<K>>,
}

#[derive(Debug)]
struct Links<K> {
    by_dependency: HashMap<Dependency, HashSet<K>>,
    by_object: HashMap<K, HashSet<Dependency>>,
}

impl<K> Default for Index<K> {
    fn default() -> Self {
        Self { links: Mutex::new(Links { by_dependency: HashMap::new(), by_object: HashMap::new() }) }
    }
}

impl<K: Clone + Eq + Hash> Index<K> {
    /// Begins to note what `object` depends on. What is not noted again is forgotten when the notes are dropped.
    pub(crate) fn note(&self, object: K) -> Notes<'_, K> {
        Notes { index: self, object, seen: Mutex::new(HashSet::new()) }
    }

    /// Every object that depends on this.
    pub(crate) fn dependents(&self, dependency: &Dependency) -> Vec<K> {
        self.lock().by_dependency.get(dependency).into_iter().flatten().cloned().collect()
    }

    /// Every Secret that something depends on.
    pub(crate) fn noted_secrets(&self) -> Vec<Name> {
        let secret = |dependency: &Dependency| match dependency {
            Dependency::Secret(name) => Some(name.clone()),
            _ => None,
        };
        self.lock().by_dependency.keys().filter_map(secret).collect()
    }

    /// Everything of the same kind as one dependency that something depends on and that is not shown.
    pub(crate) fn noted_and_not_shown(
        &self,
        kind: &Dependency,
        shown: &HashSet<Dependency>,
    ) -> Vec<Dependency> {
        let links = self.lock();
        let same_kind = links.by_dependency.keys().filter(|one| discriminant(*one) == discriminant(kind));
        same_kind.filter(|one| !shown.contains(one)).cloned().collect()
    }

    /// Forgets an object that is gone.
    pub(crate) fn forget(&self, object: &K) {
        self.lock().keep(object, &HashSet::new());
    }

    fn lock(&self) -> MutexGuard<'_, Links<K>> {
        // The maps are changed by single calls that cannot panic half-way.
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Clone + Eq + Hash> Links<K> {
    fn add(&mut self, object: &K, dependency: &Dependency) {
        self.by_dependency.entry(dependency.clone()).or_default().insert(object.clone());
        self.by_object.entry(object.clone()).or_default().insert(dependency.clone());
    }

    fn keep(&mut self, object: &K, wanted: &HashSet<Dependency>) {
        let Some(known) = self.by_object.get_mut(object) else { return };
        let outdated: Vec<_> = known.difference(wanted).cloned().collect();
        for dependency in outdated {
            known.remove(&dependency);
            if let Some(objects) = self.by_dependency.get_mut(&dependency) {
                objects.remove(object);
                if objects.is_empty() {
                    self.by_dependency.remove(&dependency);
                }
            }
        }
        if known.is_empty() {
            self.by_object.remove(object);
        }
    }
}

/// What one reconcile has noted so far.
pub(crate) struct Notes<'index, K: Clone + Eq + Hash> {
    index: &'index Index<K>,
    object: K,
    seen: Mutex<HashSet<Dependency>>,
}

impl<K: Clone + Eq + Hash> Notes<'_, K> {
    /// Notes that the object depends on this. To be called before the thing is read.
    pub(crate) fn on(&self, dependency: Dependency) {
        self.index.lock().add(&self.object, &dependency);
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(dependency);
    }
}

impl<K: Clone + Eq + Hash> Drop for Notes<'_, K> {
    fn drop(&mut self) {
        let seen = std::mem::take(self.seen.get_mut().unwrap_or_else(PoisonError::into_inner));
        self.index.lock().keep(&self.object, &seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(name: &str) -> Dependency {
        Dependency::Secret(Name::new("a", name))
    }

    #[test]
    fn a_change_brings_up_those_who_noted_it() {
        let index = Index::default();
        index.note("one").on(secret("x"));
        index.note("two").on(secret("x"));
        index.note("three").on(secret("y"));
        let mut found = index.dependents(&secret("x"));
        found.sort_unstable();
        assert_eq!(found, ["one", "two"]);
        assert!(index.dependents(&Dependency::ConfigMap(Name::new("a", "x"))).is_empty());
    }

    #[test]
    fn what_is_noted_counts_at_once_and_what_is_not_noted_again_is_forgotten() {
        let index = Index::default();
        index.note("one").on(secret("x"));
        let notes = index.note("one");
        notes.on(secret("y"));
        assert_eq!(index.dependents(&secret("x")), ["one"]);
        assert_eq!(index.dependents(&secret("y")), ["one"]);
        drop(notes);
        assert!(index.dependents(&secret("x")).is_empty());
        assert_eq!(index.dependents(&secret("y")), ["one"]);
    }

    #[test]
    fn what_a_listing_does_not_show_is_found() {
        let index = Index::default();
        let map = |name: &str| Dependency::ConfigMap(Name::new("a", name));
        let notes = index.note("one");
        notes.on(map("x"));
        notes.on(map("y"));
        notes.on(secret("z"));
        assert_eq!(index.noted_and_not_shown(&map(""), &HashSet::from([map("x"), map("other")])), [map("y")]);
    }

    #[test]
    fn nothing_is_left_of_what_is_forgotten() {
        let index = Index::default();
        index.note("one").on(secret("x"));
        index.forget(&"one");
        assert!(index.lock().by_dependency.is_empty());
        assert!(index.lock().by_object.is_empty());
    }
}
