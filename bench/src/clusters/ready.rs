//! Which control planes are ready, as a watch shows it.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::Context;
use capt_api::CAPTControlPlane;
use futures::StreamExt;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use super::manifests::NAMESPACE;

/// How long no further control plane may become ready.
const DEADLINE: Duration = Duration::from_secs(120);

/// Which control planes are ready.
pub(super) struct Ready {
    names: watch::Receiver<HashSet<String>>,
    _task: AbortOnDropHandle<()>,
}

impl Ready {
    pub(super) fn follow(client: Client) -> Self {
        let (sender, names) = watch::channel(HashSet::new());
        let task = tokio::spawn(async move {
            let control_planes: Api<CAPTControlPlane> = Api::namespaced(client, NAMESPACE);
            let changes = watcher(control_planes, watcher::Config::default()).default_backoff();
            let mut changes = changes.applied_objects().boxed();
            while let Some(change) = changes.next().await {
                let Ok(found) = change else { continue };
                if found.status.as_ref().is_some_and(|status| status.ready) {
                    sender.send_if_modified(|names| names.insert(found.name_any()));
                }
            }
        });
        Self { names, _task: AbortOnDropHandle::new(task) }
    }

    /// Waits until all of these have become ready.
    pub(super) async fn all(&self, wanted: &[String]) -> anyhow::Result<()> {
        let mut names = self.names.clone();
        loop {
            let ready = names.borrow_and_update().clone();
            let missing = wanted.iter().filter(|name| !ready.contains(*name)).count();
            if missing == 0 {
                return Ok(());
            }
            let changed = tokio::time::timeout(DEADLINE, names.changed()).await;
            changed
                .with_context(|| format!("{missing} of {} control planes do not become ready", wanted.len()))?
                .context("the watch of control planes ended")?;
        }
    }
}
