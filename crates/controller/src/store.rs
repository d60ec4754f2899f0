//! What is known of objects: the watch's store, and for a moment what CAPT itself has just written.
//!
//! A watch lags behind a write by some milliseconds. A reconcile in that gap must not take the state before its own last write
//! for the truth, or it would write again.

use std::collections::HashSet;
use std::fmt::Debug;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::DeserializeGuard;
use kube::core::error_boundary::InvalidObject;
use kube::runtime::reflector::{ObjectRef, Store};
use tokio::sync::watch;

use crate::index::Name;
use crate::unseen::Unseen;

/// An object as it came from the API server; one that cannot be read does not stop the watch.
pub(crate) type Guarded<K> = DeserializeGuard<K>;

/// What is known of a kind as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Nothing yet.
    Unknown,
    /// It is not served, at least not in our version and not yet.
    Absent,
    /// It is not installed: its objects are gone with it.
    Uninstalled,
    /// Its objects are listed.
    Listed,
}

/// Objects of one kind.
#[derive(Clone)]
pub(crate) struct Reader<K: Resource<DynamicType = ()> + Clone + Debug + 'static> {
    store: Store<Guarded<K>>,
    written: Arc<Mutex<Unseen<Arc<K>>>>,
    presence: Arc<watch::Sender<Presence>>,
}

/// An object, from the store or from memory.
pub(crate) enum Held<K> {
    /// From the store.
    Stored(Arc<Guarded<K>>),
    /// As CAPT has just written it.
    Written(Arc<K>),
}

impl<K: Resource<DynamicType = ()> + Clone + Debug + 'static> Reader<K> {
    pub(crate) fn new(store: Store<Guarded<K>>) -> Self {
        Self { store, written: Arc::default(), presence: Arc::new(watch::Sender::new(Presence::Unknown)) }
    }

    /// Tells what is known of the kind as a whole.
    pub(crate) fn set_presence(&self, presence: Presence) {
        self.presence.send_if_modified(|known| std::mem::replace(known, presence) != presence);
    }

    /// Follows what is known of the kind as a whole.
    pub(crate) fn presence(&self) -> watch::Receiver<Presence> {
        self.presence.subscribe()
    }

    /// The store itself.
    pub(crate) fn store(&self) -> &Store<Guarded<K>> {
        &self.store
    }

    /// Whether the listing is complete.
    pub(crate) fn is_listed(&self) -> bool {
        *self.presence.borrow() == Presence::Listed
    }

    /// Whether an object that is not seen does not exist.
    pub(crate) fn is_certain(&self) -> bool {
        match *self.presence.borrow() {
            Presence::Unknown | Presence::Absent => false,
            Presence::Uninstalled | Presence::Listed => true,
        }
    }

    /// The newest known version of an object that can be read.
    pub(crate) fn get(&self, namespace: Option<&str>, name: &str) -> Option<Held<K>> {
        let stored = self.stored(namespace, name).filter(|object| object.0.is_ok()).map(Held::Stored);
        let written = self.lock().get(&name_of(namespace, name)).cloned().map(Held::Written);
        match (stored, written) {
            (Some(stored), Some(written)) if version(stored.meta()) >= version(written.meta()) => {
                Some(stored)
            }
            (_, Some(written)) => Some(written),
            (stored, None) => stored,
        }
    }

    /// The object as it is after our own last write, which the watch may not show yet.
    pub(crate) fn newest(&self, object: K) -> K {
        let key = key_of(object.meta());
        let namespace = (!key.namespace.is_empty()).then_some(key.namespace.as_str());
        self.get(namespace, &key.name).map_or(object, |newest| (*newest).clone())
    }

    /// An object that is there but cannot be read.
    pub(crate) fn unreadable(&self, namespace: Option<&str>, name: &str) -> Option<InvalidObject> {
        self.stored(namespace, name).and_then(|object| object.0.as_ref().err().cloned())
    }

    fn stored(&self, namespace: Option<&str>, name: &str) -> Option<Arc<Guarded<K>>> {
        let mut key = ObjectRef::new(name);
        key.namespace = namespace.map(ToOwned::to_owned);
        self.store.get(&key)
    }

    /// Every readable object of the store.
    pub(crate) fn all(&self) -> Vec<Held<K>> {
        self.store.state().into_iter().filter(|object| object.0.is_ok()).map(Held::Stored).collect()
    }

    /// Every readable object of a namespace that the store shows, as it is after our own last write.
    pub(crate) fn within(&self, namespace: &str) -> Vec<Held<K>> {
        let all = self.all().into_iter();
        let of_namespace = all.filter(|object| object.meta().namespace.as_deref() == Some(namespace));
        of_namespace.filter_map(|object| self.get(Some(namespace), object.meta().name.as_deref()?)).collect()
    }

    /// Remembers what was written until the watch has caught up.
    pub(crate) fn remember(&self, object: K) {
        let metadata = object.meta().clone();
        self.lock().remember(&metadata, Arc::new(object));
    }

    /// The store shows an object, or something newer of it.
    pub(crate) fn there(&self, seen: &ObjectMeta) {
        self.lock().there(seen);
    }

    /// The store shows an object no more.
    pub(crate) fn gone(&self, seen: &ObjectMeta) {
        self.lock().gone(seen);
    }

    /// A listing begins.
    pub(crate) fn relisting(&self) {
        self.lock().relisting();
    }

    /// A listing is complete, and the store shows it. These were there before and are not any more. Answers what went though the
    /// store has never shown it.
    pub(crate) fn listed<'object>(
        &self,
        gone: impl IntoIterator<Item = &'object ObjectMeta>,
    ) -> Vec<ObjectMeta> {
        let there = self.store.state();
        let versions = there.iter().map(|object| version(object.meta()));
        let over = self.lock().listed(versions, gone);
        let names: HashSet<_> = there.iter().map(|object| key_of(object.meta())).collect();
        let lost =
            over.iter().map(|object| object.meta()).filter(|metadata| !names.contains(&key_of(metadata)));
        lost.cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Unseen<Arc<K>>> {
        // It is changed by plain assignments that cannot panic half-way.
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Resource<DynamicType = ()>> Deref for Held<K> {
    type Target = K;

    fn deref(&self) -> &K {
        match self {
            Self::Stored(object) => match &object.0 {
                Ok(object) => object,
                #[expect(clippy::panic, reason = "Reader hands out readable objects only")]
                Err(invalid) => panic!("an unreadable object was handed out: {invalid}"),
            },
            Self::Written(object) => object,
        }
    }
}

fn name_of(namespace: Option<&str>, name: &str) -> Name {
    Name::new(namespace.unwrap_or_default(), name)
}

pub(crate) fn key_of(metadata: &ObjectMeta) -> Name {
    name_of(metadata.namespace.as_deref(), metadata.name.as_deref().unwrap_or_default())
}

/// Resource versions of one kind can be compared as numbers.
pub(crate) fn version(metadata: &ObjectMeta) -> u64 {
    metadata.resource_version.as_deref().and_then(|version| version.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use capt_api::WorkspaceTemplateApply;
    use kube::runtime::reflector;
    use kube::runtime::watcher::Event;
    use serde_json::json;

    use super::*;

    fn apply(version: u64) -> WorkspaceTemplateApply {
        serde_json::from_value(json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
            "metadata": { "name": "x", "namespace": "a", "resourceVersion": version.to_string() },
            "spec": { "templateRef": { "name": "t" } },
        }))
        .unwrap()
    }

    fn seen_version(reader: &Reader<WorkspaceTemplateApply>) -> Option<u64> {
        reader.get(Some("a"), "x").map(|object| version(object.meta()))
    }

    #[test]
    fn what_was_written_is_known_before_the_watch_shows_it() {
        let (store, mut writer) = reflector::store::<Guarded<WorkspaceTemplateApply>>();
        let reader = Reader::new(store);
        assert_eq!(seen_version(&reader), None);
        reader.remember(apply(5));
        assert_eq!(seen_version(&reader), Some(5));
        writer.apply_watcher_event(&Event::Apply(DeserializeGuard(Ok(apply(4)))));
        reader.there(apply(4).meta());
        assert_eq!(seen_version(&reader), Some(5));
        writer.apply_watcher_event(&Event::Apply(DeserializeGuard(Ok(apply(9)))));
        assert_eq!(seen_version(&reader), Some(9));
        reader.there(apply(9).meta());
        assert!(reader.lock().get(&Name::new("a", "x")).is_none());
    }

    #[test]
    fn an_unreadable_object_is_as_good_as_absent() {
        let (store, mut writer) = reflector::store::<Guarded<WorkspaceTemplateApply>>();
        let invalid = InvalidObject { error: "broken".to_owned(), metadata: apply(3).metadata };
        writer.apply_watcher_event(&Event::Apply(DeserializeGuard(Err(invalid))));
        let reader = Reader::new(store);
        assert_eq!(seen_version(&reader), None);
        assert_eq!(reader.unreadable(Some("a"), "x").map(|invalid| invalid.error).as_deref(), Some("broken"));
        assert!(reader.all().is_empty());
    }
}
