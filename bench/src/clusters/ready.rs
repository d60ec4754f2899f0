//! Which objects are ready, as a watch shows it.

use std::collections::HashSet;
use std::fmt::Debug;
use std::time::Duration;

use anyhow::Context;
use futures::StreamExt;
use kube::core::NamespaceResourceScope;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use super::manifests::NAMESPACE;

/// How long no further object may become ready.
const DEADLINE: Duration = Duration::from_secs(120);

/// Which objects of a kind are ready.
pub(crate) struct Ready {
    kind: String,
    names: watch::Receiver<HashSet<String>>,
    _task: AbortOnDropHandle<()>,
}

impl Ready {
    pub(crate) fn follow<K>(client: Client, is_ready: fn(&K) -> bool) -> Self
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Clone + Debug + DeserializeOwned + Send + 'static,
    {
        let (sender, names) = watch::channel(HashSet::new());
        let task = tokio::spawn(async move {
            let objects: Api<K> = Api::namespaced(client, NAMESPACE);
            let changes = watcher(objects, watcher::Config::default()).default_backoff();
            let mut changes = changes.applied_objects().boxed();
            while let Some(change) = changes.next().await {
                let Ok(found) = change else { continue };
                if is_ready(&found) {
                    sender.send_if_modified(|names| names.insert(found.name_any()));
                }
            }
        });
        Self { kind: K::kind(&()).into_owned(), names, _task: AbortOnDropHandle::new(task) }
    }

    /// Waits until all of these have become ready.
    pub(crate) async fn all(&self, wanted: &[String]) -> anyhow::Result<()> {
        let mut names = self.names.clone();
        loop {
            let ready = names.borrow_and_update().clone();
            let missing = wanted.iter().filter(|name| !ready.contains(*name)).count();
            if missing == 0 {
                return Ok(());
            }
            let changed = tokio::time::timeout(DEADLINE, names.changed()).await;
            changed
                .with_context(|| {
                    format!("{missing} of {} objects of kind {} do not become ready", wanted.len(), self.kind)
                })?
                .context("the watch ended")?;
        }
    }
}
