//! Listens to a cluster while something in it is not ready: what changes there brings the binding up at once.
//!
//! A cluster in which everything is ready is not listened to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use capt_core::manifest::ObjectKey;
use futures::future::select_all;
use futures::{FutureExt, StreamExt};
use kube::api::{WatchEvent, WatchParams};
use kube::runtime::reflector::ObjectRef;
use tokio::task::AbortHandle;

use crate::context::Context;
use crate::index::Name;
use crate::workload::Workload;

/// How many objects of one cluster are listened to; the others are looked at when one of these has changed.
const MOST: usize = 8;
/// The version from which on changes of something that is not there are told.
const FROM_NOW: &str = "0";

/// An object that is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::addons) struct Awaited {
    pub(in crate::addons) key: ObjectKey,
    /// Its version when it was looked at; `None` where it was not there.
    pub(in crate::addons) version: Option<String>,
}

/// Somebody who listens, until dropped.
pub(in crate::addons) struct Listener {
    heard: Arc<AtomicBool>,
    task: AbortHandle,
    awaited: Vec<Awaited>,
}

impl Listener {
    /// Whether something was heard.
    pub(super) fn has_heard(&self) -> bool {
        self.heard.load(Ordering::Acquire)
    }

    /// Whether these are listened to.
    pub(super) fn listens_to(&self, awaited: &[Awaited]) -> bool {
        self.awaited == awaited && !self.has_heard()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Listens to objects of a cluster, and announces the binding once when one of them has changed.
pub(super) fn listen(
    binding: Name,
    workload: Arc<Workload>,
    mut awaited: Vec<Awaited>,
    context: &Arc<Context>,
) -> Option<Listener> {
    awaited.truncate(MOST);
    if awaited.is_empty() {
        return None;
    }
    let heard = Arc::new(AtomicBool::new(false));
    let (told, queue) = (Arc::clone(&heard), context.stack_binding_queue.clone());
    let objects = awaited.clone();
    let task = context.term.spawn(async move {
        let changes = objects.iter().map(|one| change(&workload, one).boxed());
        let _first = select_all(changes).await;
        told.store(true, Ordering::Release);
        // The receiver may be gone when the manager stops.
        let _ = queue.unbounded_send(ObjectRef::new(&binding.name).within(&binding.namespace));
    });
    Some(Listener { heard, task: task.abort_handle(), awaited })
}

/// Waits until an object has changed, or cannot be listened to any longer.
async fn change(workload: &Workload, awaited: &Awaited) {
    let Awaited { key, version } = awaited;
    let talk = workload.talk();
    let Ok(Some(api)) = talk.beside(key).await else {
        // Its kind is not there yet: the next look finds out.
        return std::future::pending().await;
    };
    let parameters = WatchParams::default().fields(&format!("metadata.name={}", key.name));
    let from = version.as_deref().unwrap_or(FROM_NOW);
    let Ok(events) = api.watch_metadata(&parameters, from).await else { return };
    let mut events = std::pin::pin!(events);
    while let Some(Ok(event)) = events.next().await {
        match event {
            WatchEvent::Bookmark(_) => {}
            WatchEvent::Added(_)
            | WatchEvent::Modified(_)
            | WatchEvent::Deleted(_)
            | WatchEvent::Error(_) => return,
        }
    }
}
