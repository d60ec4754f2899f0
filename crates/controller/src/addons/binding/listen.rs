//! Listens to a cluster while something in it is not ready: what changes there brings the binding up at once.
//!
//! A cluster in which everything is ready is not listened to. A watch that ends, or that the cluster refuses, is no change: it is
//! asked for again after growing pauses, and meanwhile the cluster is inspected at its intervals.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use capt_api::AddonStackBinding;
use capt_core::addon::pace;
use capt_core::manifest::ObjectKey;
use futures::channel::mpsc::UnboundedSender;
use futures::future::select_all;
use futures::{FutureExt, StreamExt};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{WatchEvent, WatchParams};
use kube::discovery::ApiResource;
use kube::runtime::reflector::ObjectRef;
use kube::runtime::utils::Backoff as _;
use kube::runtime::watcher::DefaultBackoff;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, sleep_until};
use tracing::debug;

use crate::index::Name;
use crate::store::{Guarded, version};
use crate::term::LeadershipTerm;
use crate::workload::Workload;

/// How many objects of one cluster are listened to; the others are looked at when one of these has changed.
const MOST: usize = 8;
/// The version from which on changes of something that is not there are told.
const FROM_NOW: &str = "0";
/// The longest pause before a watch is asked for again.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A watch that has lasted for so long has not ended at once.
const LASTING: Duration = Duration::from_secs(10);

/// An object that is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::addons) struct Awaited {
    pub(in crate::addons) key: ObjectKey,
    /// Its version when it was looked at; `None` where it was not there.
    pub(in crate::addons) version: Option<String>,
}

/// Somebody who listens, until dropped.
pub(in crate::addons) struct Listener {
    ear: Arc<Ear>,
    task: AbortHandle,
    awaited: Vec<Awaited>,
    since: Instant,
}

/// What a listener finds out.
#[derive(Default)]
struct Ear {
    heard: AtomicBool,
    /// What the credentials lack.
    lacks: OnceLock<String>,
}

impl Listener {
    /// Whether something was heard.
    pub(super) fn has_heard(&self) -> bool {
        self.ear.heard.load(Ordering::Acquire)
    }

    /// What the credentials lack, where the cluster does not let them watch.
    pub(super) fn lacks(&self) -> Option<&str> {
        self.ear.lacks.get().map(String::as_str)
    }

    /// For how long this has been going on.
    pub(super) fn age(&self) -> Duration {
        self.since.elapsed()
    }

    /// Whether these are listened to.
    pub(super) fn listens_to(&self, awaited: &[Awaited]) -> bool {
        self.awaited == *awaited.get(..MOST).unwrap_or(awaited) && !self.has_heard()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Listens to objects of a cluster, and announces the binding once when one of them has changed, but not before this pause is over.
pub(super) fn listen(
    binding: Name,
    workload: Arc<Workload>,
    mut awaited: Vec<Awaited>,
    pause: Duration,
    queue: UnboundedSender<ObjectRef<Guarded<AddonStackBinding>>>,
    term: &LeadershipTerm,
) -> Option<Listener> {
    awaited.truncate(MOST);
    if awaited.is_empty() {
        return None;
    }
    let since = Instant::now();
    let ear = Arc::new(Ear::default());
    let (told, objects) = (Arc::clone(&ear), awaited.clone());
    let task = term.spawn(async move {
        let changes = objects.iter().map(|one| change(&workload, one, &told).boxed());
        let _first = select_all(changes).await;
        sleep_until(since + pause).await;
        told.heard.store(true, Ordering::Release);
        // The receiver may be gone when the manager stops.
        let _ = queue.unbounded_send(ObjectRef::new(&binding.name).within(&binding.namespace));
    });
    Some(Listener { ear, task: task.abort_handle(), awaited, since })
}

/// Waits until an object has changed.
async fn change(workload: &Workload, awaited: &Awaited, ear: &Ear) {
    let mut from = awaited.version.clone().unwrap_or_else(|| FROM_NOW.to_owned());
    let mut backoff = DefaultBackoff::default();
    loop {
        let begun = Instant::now();
        match watch(workload, awaited, &mut from).await {
            Ended::Changed => return,
            // The next look finds out when it is.
            Ended::NotServed => return std::future::pending().await,
            Ended::Forbidden(resource) => {
                ear.lacks.get_or_init(|| lack(workload, &resource, awaited.key.namespace.as_deref()));
            }
            Ended::Interrupted => {}
        }
        if begun.elapsed() >= LASTING {
            backoff.reset();
        }
        sleep(backoff.next().unwrap_or(LONGEST_PAUSE)).await;
    }
}

/// Why a watch is over.
enum Ended {
    /// The object has changed.
    Changed,
    /// The cluster does not serve the kind.
    NotServed,
    /// The credentials may not watch the kind.
    Forbidden(ApiResource),
    /// For any other reason.
    Interrupted,
}

/// Watches an object until it has changed, or cannot be watched any longer. `from` is the version up to which it is known.
async fn watch(workload: &Workload, awaited: &Awaited, from: &mut String) -> Ended {
    let Awaited { key, version } = awaited;
    let talk = workload.talk();
    let (resource, scope) = match talk.resolve(&key.api_version, &key.kind).await {
        Ok(Some(found)) => found,
        Ok(None) => return Ended::NotServed,
        Err(failure) => return interrupted(key, &failure.sentence()),
    };
    let api = talk.objects(&resource, &scope, key.namespace.as_deref());
    let parameters = WatchParams::default().fields(&format!("metadata.name={}", key.name));
    let events = match talk.ask(api.watch_metadata(&parameters, from)).await {
        Ok(events) => events,
        Err(failure) => {
            match failure.status().map(|status| status.code) {
                Some(403) => return Ended::Forbidden(resource),
                Some(404) => talk.forget(&key.api_version),
                Some(410) => FROM_NOW.clone_into(from),
                _ => {}
            }
            return interrupted(key, &failure.sentence());
        }
    };
    let mut events = std::pin::pin!(events);
    loop {
        match events.next().await {
            Some(Ok(WatchEvent::Bookmark(mark))) => *from = mark.metadata.resource_version,
            Some(Ok(WatchEvent::Added(object) | WatchEvent::Modified(object))) => {
                if is_newer(&object.metadata, version.as_deref()) {
                    return Ended::Changed;
                }
            }
            Some(Ok(WatchEvent::Deleted(_))) => return Ended::Changed,
            Some(Ok(WatchEvent::Error(status))) => {
                if status.code == 410 {
                    FROM_NOW.clone_into(from);
                }
                return interrupted(key, &status.message);
            }
            Some(Err(error)) => return interrupted(key, &workload.talk().failure(error).sentence()),
            None => return interrupted(key, "the cluster has ended it"),
        }
    }
}

fn interrupted(key: &ObjectKey, why: &str) -> Ended {
    debug!(object = %key, why, "a watch in a cluster is over; it is asked for again");
    Ended::Interrupted
}

/// Whether an object is newer than the version that is known.
fn is_newer(metadata: &ObjectMeta, known: Option<&str>) -> bool {
    let Some(known) = known else { return true };
    match known.parse::<u64>() {
        Ok(known) => version(metadata) > known,
        Err(_) => metadata.resource_version.as_deref() != Some(known),
    }
}

/// What credentials lack that may not watch a kind.
fn lack(workload: &Workload, resource: &ApiResource, namespace: Option<&str>) -> String {
    let kind = match resource.group.as_str() {
        "" => resource.plural.clone(),
        group => format!("{}.{group}", resource.plural),
    };
    let place = namespace.map(|namespace| format!(" in namespace `{namespace}`")).unwrap_or_default();
    format!(
        "the credentials in Secret `{}` lack the verb `watch` for {kind}{place}: grant it, and CAPT notices at once what becomes ready; \
         until then CAPT inspects the cluster every {} s",
        workload.secret(),
        pace::look_again(u32::MAX, 0).as_secs(),
    )
}

#[cfg(test)]
mod tests;
