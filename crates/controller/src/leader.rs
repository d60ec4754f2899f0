//! Leadership by a Lease: one manager acts, others stand by and take over at once when it is released.
//!
//! Invariant: a manager that could not renew its Lease stops acting before anybody else may take it. It counts from the sending of
//! the write that the server has taken: whoever stands by counts from a later moment, when it has seen that write. Clocks of
//! different machines are not compared.

#[cfg(test)]
mod tests;

use std::time::Duration;

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
use crate::term::LeadershipTerm;
use crate::uptime::UptimeClock;

/// How long to wait at most after the API server could not be asked.
const PAUSE: Duration = Duration::from_secs(1);

/// What a Lease can say of how long it lasts.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(i32::MAX.unsigned_abs() as u64);

/// A Lease that is wanted or held.
pub(crate) struct Leadership {
    leases: Api<Lease>,
    options: LeaderElection,
    clock: UptimeClock,
    /// What this manager says of itself.
    said: String,
}

/// A Lease that is ours.
pub(crate) struct Taken {
    /// Its version.
    pub(crate) version: u64,
    /// For how long we may act.
    pub(crate) term: LeadershipTerm,
}

/// What came of an attempt to take the Lease.
enum Attempt {
    /// It is ours.
    Taken(Taken),
    /// It is somebody else's and may be free after this time.
    Held(Duration),
}

/// What came of an attempt to renew the Lease.
enum Renewal {
    /// The write that was sent then has been taken.
    Renewed { sent: Duration },
    /// Somebody else has it, or nobody.
    Lost,
}

/// A Lease as it was last seen, and since when it is like that: never earlier than it was written.
struct Sighting {
    lease: Lease,
    /// By the clock of this machine.
    since: Duration,
}

impl Leadership {
    pub(crate) fn new(client: Client, mut options: LeaderElection, scope: Scope) -> Self {
        options.lease_duration = options.lease_duration.clamp(SHORTEST, LONGEST);
        let said = Manager { identity: options.identity.clone(), version: CAPT_VERSION.to_owned(), scope };
        let leases = Api::namespaced(client, &options.namespace);
        Self { leases, options, clock: UptimeClock::default(), said: json!(said).to_string() }
    }

    /// How long the Lease is valid when it is not renewed.
    pub(crate) fn duration(&self) -> Duration {
        self.options.lease_duration
    }

    /// How long a leader acts after it has sent the last write that was taken. The rest, until others may begin, is for whatever
    /// takes time in ending, and for clocks that do not go at the same speed.
    fn tenure(&self) -> Duration {
        self.options.lease_duration / 3 * 2
    }

    /// How long after a write the next one is due, and how long one may take.
    fn beat(&self) -> Duration {
        self.options.lease_duration / 5
    }

    /// How long to wait after an attempt that failed.
    fn pause(&self) -> Duration {
        PAUSE.min(self.options.lease_duration / 15)
    }

    /// Waits until the Lease is ours; `None` when its namespace is gone.
    pub(crate) async fn acquire(&self) -> Option<Taken> {
        let mut sighting: Option<Sighting> = None;
        let mut repetition = Repetition::default();
        loop {
            match timeout(self.tenure(), self.try_acquire(&mut sighting)).await {
                Ok(Ok(Attempt::Taken(taken))) => {
                    info!(lease = self.options.name, identity = self.options.identity, "leading");
                    return Some(taken);
                }
                Ok(Ok(Attempt::Held(free_in))) => self.await_change(free_in, sighting.as_ref()).await,
                Ok(Err(error)) if namespace::is_lacking(&error) => return None,
                Ok(Err(error)) => {
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
                // The connection may be dead: another one is tried at once.
                Err(_) => warn!(lease = self.options.name, "taking the Lease took too long; trying again"),
            }
        }
    }

    /// Renews the Lease until that fails for too long or somebody else has it: the term is over then. A manager that has ended its
    /// term itself keeps the Lease until it releases it.
    pub(crate) async fn keep(&self, term: &LeadershipTerm) {
        let mut due = term.deadline().saturating_sub(self.tenure()) + self.beat();
        loop {
            self.clock.sleep_until(due.min(term.deadline())).await;
            if term.has_run_out() {
                term.end();
                warn!(lease = self.options.name, "the Lease could not be renewed in time; stepping back");
                return;
            }
            let patience = self.beat().min(term.deadline().saturating_sub(self.clock.now()));
            match timeout(patience, self.renew()).await {
                Ok(Ok(Renewal::Renewed { sent })) => {
                    term.extend(sent + self.tenure());
                    due = sent + self.beat();
                    continue;
                }
                Ok(Ok(Renewal::Lost)) => {
                    warn!(lease = self.options.name, "somebody else has the Lease");
                    return term.end();
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
            due = self.clock.now() + self.pause();
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
            let sent = self.clock.now();
            let created = self.leases.create(&PostParams::default(), &lease).await;
            return self.taken(created, sent);
        };
        let since = match sighting {
            Some(known) if known.lease.metadata.resource_version == lease.metadata.resource_version => {
                known.since
            }
            _ => self.clock.now(),
        };
        let spec = lease.spec.clone().unwrap_or_default();
        *sighting = Some(Sighting { lease: lease.clone(), since });
        match holder(&spec, &self.options.identity, self.clock.now().saturating_sub(since)) {
            Holder::Other { name, free_in } => {
                debug!(lease = self.options.name, holder = name, "standing by");
                Ok(Attempt::Held(free_in))
            }
            Holder::Nobody | Holder::Us => {
                let transitions = spec.lease_transitions.unwrap_or_default().saturating_add(1);
                let lease = self.ours(lease, transitions);
                let sent = self.clock.now();
                let replaced = self.leases.replace(&self.options.name, &PostParams::default(), &lease).await;
                self.taken(replaced, sent)
            }
        }
    }

    /// Somebody who was faster is no error: look again.
    fn taken(&self, written: Result<Lease, kube::Error>, sent: Duration) -> Result<Attempt, kube::Error> {
        match written {
            Ok(lease) => {
                let term = LeadershipTerm::until(sent + self.tenure(), self.clock.clone());
                Ok(Attempt::Taken(Taken { version: version(&lease.metadata), term }))
            }
            Err(kube::Error::Api(status)) if status.code == 409 => {
                Ok(Attempt::Held(Duration::from_millis(100)))
            }
            Err(error) => Err(error),
        }
    }

    /// Renews the Lease if it is still ours.
    async fn renew(&self) -> Result<Renewal, kube::Error> {
        let Some(mut lease) = self.leases.get_opt(&self.options.name).await? else {
            return Ok(Renewal::Lost);
        };
        let spec = lease.spec.get_or_insert_default();
        if spec.holder_identity.as_deref() != Some(&self.options.identity) {
            return Ok(Renewal::Lost);
        }
        spec.renew_time = Some(MicroTime(Timestamp::now()));
        // Others go by it: what somebody else made of it does not last.
        spec.lease_duration_seconds = Some(whole_seconds(self.options.lease_duration));
        // The server may take the write at any time from now on.
        let sent = self.clock.now();
        self.leases.replace(&self.options.name, &PostParams::default(), &lease).await?;
        Ok(Renewal::Renewed { sent })
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
            lease_duration_seconds: Some(whole_seconds(self.options.lease_duration)),
            acquire_time: Some(now.clone()),
            renew_time: Some(now),
            lease_transitions: Some(transitions),
            ..LeaseSpec::default()
        });
        lease
    }
}

/// What a Lease can say of how long it lasts: never less than its holder counts on.
fn whole_seconds(duration: Duration) -> i32 {
    let up = u64::from(duration.subsec_nanos() > 0);
    i32::try_from(duration.as_secs().saturating_add(up)).unwrap_or(i32::MAX)
}
