//! Managers of other namespaces: each has a Lease of its own, so that a Lease alone does not make sure of one manager.
//!
//! Invariant: of managers that look at the same objects and know of each other, one acts. Each writes its Lease, waits until the
//! watch of all Leases shows that, and acts only if it shows no other before it. The watch tells writes in their order, so that of
//! two who write at the same time the second sees the first.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use capt_core::lease::{Manager, Scope, Standing, is_rival};
use futures::StreamExt;
use k8s_openapi::api::coordination::v1::Lease;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, ResourceExt};
use tokio::sync::watch;
use tokio::time::timeout;
use tracing::{info, warn};

use crate::feed::is_forbidden;
use crate::metrics::Metrics;
use crate::store::version;

/// The Leases of all managers.
pub(crate) struct Rivals {
    name: String,
    /// The namespace of our own Lease, if we have one.
    own: Option<String>,
    scope: Scope,
    metrics: Metrics,
    seen: Mutex<Seen>,
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct Seen {
    sight: Sight,
    /// By namespace.
    leases: HashMap<String, Sighting>,
    /// What the listing that goes on has shown.
    listing: Vec<Lease>,
}

/// How far Leases can be seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sight {
    /// Not yet.
    #[default]
    Unknown,
    /// All of them.
    Clear,
    /// We may not look.
    Forbidden,
}

struct Sighting {
    lease: Lease,
    since: Instant,
}

/// What is seen of others.
#[derive(Clone, Debug, PartialEq, Eq)]
enum View {
    /// Nothing yet.
    Unknown,
    /// Nobody stands in the way.
    Free,
    /// Somebody does.
    Taken { who: Vec<String>, free_in: Duration },
}

impl Rivals {
    pub(crate) fn new(name: String, own: Option<String>, scope: Scope, metrics: Metrics) -> Self {
        let (seen, changes) = (Mutex::default(), watch::Sender::new(0));
        Self { name, own, scope, metrics, seen, changes }
    }

    /// Keeps up with the Leases for ever.
    pub(crate) async fn follow(&self, client: Client) {
        let leases: Api<Lease> = Api::all(client);
        let config = watcher::Config::default().fields(&format!("metadata.name={}", self.name));
        let mut events = std::pin::pin!(watcher(leases, config).default_backoff());
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => self.lock().take_in(event),
                Err(error) => self.interrupted(&error),
            }
            self.changes.send_modify(|count| *count = count.wrapping_add(1));
        }
    }

    /// Waits until nobody stands in the way, and calls `waits` when somebody does.
    pub(crate) async fn none(&self, standing: Standing, waits: impl Fn()) {
        let mut changes = self.changes.subscribe();
        let mut told = Vec::new();
        loop {
            changes.borrow_and_update();
            match self.view(standing) {
                View::Free => return self.metrics.rivals(0),
                View::Unknown => {
                    let _ = changes.changed().await;
                }
                View::Taken { who, free_in } => {
                    self.tell(&who, &mut told);
                    waits();
                    let _ = timeout(free_in, changes.changed()).await;
                }
            }
        }
    }

    /// Waits until somebody stands in the way of a manager that acts.
    pub(crate) async fn any(&self, standing: Standing) {
        let mut changes = self.changes.subscribe();
        loop {
            changes.borrow_and_update();
            match self.view(standing) {
                View::Taken { .. } => return,
                // The sender lives as long as we do.
                View::Unknown | View::Free => {
                    let _ = changes.changed().await;
                }
            }
        }
    }

    /// Whether nobody was before us who wrote our Lease in this version. Not to know it is to be late.
    pub(crate) async fn are_behind(&self, written: u64, patience: Duration) -> bool {
        let mut changes = self.changes.subscribe();
        let shown = async {
            loop {
                changes.borrow_and_update();
                if self.lock().shows(self.own.as_deref(), written) {
                    return;
                }
                let _ = changes.changed().await;
            }
        };
        timeout(patience, shown).await.is_ok() && self.view(Standing::GivesWay) == View::Free
    }

    fn view(&self, standing: Standing) -> View {
        let seen = self.lock();
        match seen.sight {
            Sight::Unknown => return View::Unknown,
            Sight::Forbidden => return View::Free,
            Sight::Clear => {}
        }
        let others = seen.leases.iter().filter(|(namespace, _)| Some(*namespace) != self.own.as_ref());
        let rivals: Vec<(String, Duration)> = others
            .filter_map(|(namespace, Sighting { lease, since })| {
                let free_in = is_rival(&self.scope, standing, lease, since.elapsed())?;
                Some((named(namespace, lease), free_in))
            })
            .collect();
        let Some(free_in) = rivals.iter().map(|(_, free_in)| *free_in).min() else { return View::Free };
        let mut who: Vec<String> = rivals.into_iter().map(|(who, _)| who).collect();
        who.sort();
        View::Taken { who, free_in }
    }

    /// Tells whom we give way to, once.
    fn tell(&self, who: &[String], told: &mut Vec<String>) {
        self.metrics.rivals(who.len());
        if who != told {
            warn!(
                managers = who.join(", "),
                fix = "remove one of them, or give each a --namespace or a --watch-filter of its own",
                "another manager looks at the same objects; standing by until it stops"
            );
            *told = who.to_vec();
        }
    }

    fn interrupted(&self, error: &watcher::Error) {
        let source = error as &dyn std::error::Error;
        let forbidden = is_forbidden(error);
        let mut seen = self.lock();
        if forbidden && seen.sight == Sight::Unknown {
            seen.sight = Sight::Forbidden;
            info!(error = source, "Leases of other namespaces may not be read; managers there go unnoticed");
        } else if !forbidden {
            warn!(error = source, "watching the Leases of managers was interrupted; trying again");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    fn take_in(&mut self, event: Event<Lease>) {
        match event {
            Event::Init => self.listing.clear(),
            Event::InitApply(lease) => self.listing.push(lease),
            Event::InitDone => {
                let listing = std::mem::take(&mut self.listing);
                let there: Vec<String> = listing.iter().map(namespace).collect();
                self.leases.retain(|namespace, _| there.contains(namespace));
                for lease in listing {
                    self.put(lease);
                }
                self.sight = Sight::Clear;
            }
            Event::Apply(lease) => self.put(lease),
            Event::Delete(lease) => drop(self.leases.remove(&namespace(&lease))),
        }
    }

    /// A Lease that is as it was is as old as it was.
    fn put(&mut self, lease: Lease) {
        let namespace = namespace(&lease);
        let known = self.leases.get(&namespace).map(|known| version(&known.lease.metadata));
        if known != Some(version(&lease.metadata)) {
            self.leases.insert(namespace, Sighting { lease, since: Instant::now() });
        }
    }

    /// Whether the Lease of a namespace is seen in this version or a newer one.
    fn shows(&self, namespace: Option<&str>, written: u64) -> bool {
        let lease = namespace.and_then(|namespace| self.leases.get(namespace));
        self.sight == Sight::Forbidden
            || (self.sight == Sight::Clear
                && lease.is_some_and(|seen| version(&seen.lease.metadata) >= written))
    }
}

fn namespace(lease: &Lease) -> String {
    lease.namespace().unwrap_or_default()
}

/// Who holds a Lease, where, and of which version.
fn named(namespace: &str, lease: &Lease) -> String {
    let holder = lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default();
    let version = Manager::of(lease).map(|manager| format!(", CAPT {}", manager.version));
    format!("{holder} (namespace {namespace}{})", version.unwrap_or_default())
}
