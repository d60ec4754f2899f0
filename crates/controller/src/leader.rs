//! Leadership by a Lease: one manager acts, others stand by and take over at once when it is released.
//!
//! Invariant: a manager that could not renew its Lease stops acting before anybody else may take it.

use std::time::{Duration, Instant};

use capt_api::crd::CAPT_VERSION;
use capt_api::names::annotation;
use capt_core::cause::sentence;
use capt_core::lease::{Holder, Manager, Scope, holder};
use futures::StreamExt;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use kube::api::PostParams;
use kube::runtime::watcher::watch_object;
use kube::{Api, Client, ResourceExt};
use serde_json::json;
use tokio::time::{sleep, timeout};
use tracing::{debug, info, warn};

use crate::namespace;
use crate::options::LeaderElection;
use crate::repetition::Repetition;
use crate::store::version;

/// How long to wait after the API server could not be asked.
const PAUSE: Duration = Duration::from_secs(1);

/// A Lease that is wanted or held.
pub(crate) struct Leadership {
    leases: Api<Lease>,
    options: LeaderElection,
    /// What this manager says of itself.
    said: String,
}

/// What came of an attempt to take the Lease.
enum Attempt {
    /// It is ours, as of this version.
    Taken(u64),
    /// It is somebody else's and may be free after this time.
    Held(Duration),
}

/// A Lease as it was last seen, and since when it is like that.
struct Sighting {
    lease: Lease,
    since: Instant,
}

impl Leadership {
    pub(crate) fn new(client: Client, options: LeaderElection, scope: Scope) -> Self {
        let said = Manager { identity: options.identity.clone(), version: CAPT_VERSION.to_owned(), scope };
        Self { leases: Api::namespaced(client, &options.namespace), options, said: json!(said).to_string() }
    }

    /// How long the Lease is valid when it is not renewed.
    pub(crate) fn duration(&self) -> Duration {
        self.options.lease_duration
    }

    /// Waits until the Lease is ours, and answers with its version; `None` when its namespace is gone.
    pub(crate) async fn acquire(&self) -> Option<u64> {
        let mut sighting: Option<Sighting> = None;
        let mut repetition = Repetition::default();
        loop {
            match self.try_acquire(&mut sighting).await {
                Ok(Attempt::Taken(version)) => {
                    info!(lease = self.options.name, identity = self.options.identity, "leading");
                    return Some(version);
                }
                Ok(Attempt::Held(free_in)) => self.await_change(free_in, sighting.as_ref()).await,
                Err(error) if namespace::is_lacking(&error) => return None,
                Err(error) => {
                    let LeaderElection { name: lease, namespace, .. } = &self.options;
                    let error = sentence(&error);
                    if repetition.is_due(&error) {
                        warn!(
                            lease,
                            namespace, error, "the Lease could not be taken; trying again every second"
                        );
                    }
                    sleep(PAUSE).await;
                }
            }
        }
    }

    /// Renews the Lease until that fails for too long or somebody else has it.
    pub(crate) async fn keep(&self) {
        let mut renewed = Instant::now();
        loop {
            sleep(self.options.lease_duration / 5).await;
            match timeout(self.options.lease_duration / 3, self.renew()).await {
                Ok(Ok(true)) => renewed = Instant::now(),
                Ok(Ok(false)) => {
                    warn!(lease = self.options.name, "somebody else has the Lease");
                    return;
                }
                Ok(Err(error)) => {
                    warn!(
                        lease = self.options.name,
                        error = &error as &dyn std::error::Error,
                        "the Lease could not be renewed; trying again"
                    );
                }
                Err(_) => warn!(lease = self.options.name, "renewing the Lease took too long; trying again"),
            }
            if renewed.elapsed() > self.options.lease_duration * 2 / 3 {
                warn!(lease = self.options.name, "the Lease could not be renewed in time; stepping back");
                return;
            }
        }
    }

    /// Gives the Lease up, so that another manager need not wait.
    pub(crate) async fn release(&self) {
        let released = timeout(PAUSE, async {
            let Some(mut lease) = self.leases.get_opt(&self.options.name).await? else { return Ok(()) };
            let spec = lease.spec.get_or_insert_default();
            if spec.holder_identity.as_deref() == Some(&self.options.identity) {
                spec.holder_identity = None;
                self.leases.replace(&self.options.name, &PostParams::default(), &lease).await?;
                info!(lease = self.options.name, "released the Lease");
            }
            Ok::<_, kube::Error>(())
        });
        if !matches!(released.await, Ok(Ok(()))) {
            warn!(lease = self.options.name, "the Lease could not be released; it runs out by itself");
        }
    }

    /// Takes the Lease if it is free.
    async fn try_acquire(&self, sighting: &mut Option<Sighting>) -> Result<Attempt, kube::Error> {
        let Some(lease) = self.leases.get_opt(&self.options.name).await? else {
            let metadata = ObjectMeta { name: Some(self.options.name.clone()), ..ObjectMeta::default() };
            let lease = self.ours(Lease { metadata, spec: None }, 0);
            let created = self.leases.create(&PostParams::default(), &lease).await;
            return taken(created);
        };
        let since = match sighting {
            Some(known) if known.lease.metadata.resource_version == lease.metadata.resource_version => {
                known.since
            }
            _ => Instant::now(),
        };
        let spec = lease.spec.clone().unwrap_or_default();
        *sighting = Some(Sighting { lease: lease.clone(), since });
        match holder(&spec, &self.options.identity, since.elapsed()) {
            Holder::Other { name, free_in } => {
                debug!(lease = self.options.name, holder = name, "standing by");
                Ok(Attempt::Held(free_in))
            }
            Holder::Nobody | Holder::Us => {
                let transitions = spec.lease_transitions.unwrap_or_default().saturating_add(1);
                let lease = self.ours(lease, transitions);
                taken(self.leases.replace(&self.options.name, &PostParams::default(), &lease).await)
            }
        }
    }

    /// Whether the Lease is still ours.
    async fn renew(&self) -> Result<bool, kube::Error> {
        let Some(mut lease) = self.leases.get_opt(&self.options.name).await? else { return Ok(false) };
        let spec = lease.spec.get_or_insert_default();
        if spec.holder_identity.as_deref() != Some(&self.options.identity) {
            return Ok(false);
        }
        spec.renew_time = Some(MicroTime(Timestamp::now()));
        self.leases.replace(&self.options.name, &PostParams::default(), &lease).await.map(|_| true)
    }

    /// Waits until the Lease changes, or until it may be free.
    async fn await_change(&self, free_in: Duration, sighting: Option<&Sighting>) {
        let known = sighting.and_then(|sighting| sighting.lease.metadata.resource_version.clone());
        let changed = watch_object(self.leases.clone(), &self.options.name).filter(|seen| {
            let version =
                seen.as_ref().ok().and_then(|lease| lease.as_ref()?.metadata.resource_version.clone());
            std::future::ready(seen.is_ok() && version != known)
        });
        let _ = timeout(free_in, std::pin::pin!(changed).next()).await;
    }

    /// The Lease with us as its holder.
    fn ours(&self, mut lease: Lease, transitions: i32) -> Lease {
        lease.annotations_mut().insert(annotation::MANAGER.to_owned(), self.said.clone());
        let now = MicroTime(Timestamp::now());
        lease.spec = Some(LeaseSpec {
            holder_identity: Some(self.options.identity.clone()),
            lease_duration_seconds: i32::try_from(self.options.lease_duration.as_secs()).ok(),
            acquire_time: Some(now.clone()),
            renew_time: Some(now),
            lease_transitions: Some(transitions),
            ..LeaseSpec::default()
        });
        lease
    }
}

/// Somebody who was faster is no error: look again.
fn taken(written: Result<Lease, kube::Error>) -> Result<Attempt, kube::Error> {
    match written {
        Ok(lease) => Ok(Attempt::Taken(version(&lease.metadata))),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(Attempt::Held(Duration::from_millis(100))),
        Err(error) => Err(error),
    }
}
