//! What to tell about a Cluster: the part of its status that is CAPT's, and Events.

mod available;
mod conditions;
mod notes;

use capt_api::Cluster;
use capt_api::capi::{ClusterControlPlaneStatus, ClusterInitialization, ClusterStatus};
use capt_api::names::{Reason, condition as type_};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::decide::Step;
use super::endpoint;
use super::observed::{Observed, Referent};
use crate::condition::{Stamp, Truth, condition, upsert};
use crate::standing::Standing;

pub use notes::notes;

/// The conditions that are CAPT's. Those of others on the same Cluster are left to them.
const OURS: [&str; 9] = [
    type_::AVAILABLE,
    type_::INFRASTRUCTURE_READY,
    type_::CONTROL_PLANE_INITIALIZED,
    type_::CONTROL_PLANE_AVAILABLE,
    type_::WORKERS_AVAILABLE,
    type_::REMOTE_CONNECTION_PROBE,
    type_::ROLLING_OUT,
    type_::DELETING,
    type_::PAUSED,
];

/// Everything that the status is computed from.
#[derive(Clone, Copy, Debug)]
pub struct Report<'facts> {
    /// The Cluster as it is after the step.
    pub cluster: &'facts Cluster,
    /// What was seen.
    pub seen: &'facts Observed,
    /// What was decided.
    pub step: &'facts Step,
    /// Whether it could be done.
    pub done: bool,
    /// Now.
    pub now: &'facts Time,
}

/// Where a Cluster stands, in Cluster API's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It refers to nothing yet.
    Pending,
    /// It is being made.
    Provisioning,
    /// Its network is there and its endpoint is known.
    Provisioned,
    /// It is being taken down.
    Deleting,
}

impl Phase {
    /// The word in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Provisioning => "Provisioning",
            Self::Provisioned => "Provisioned",
            Self::Deleting => "Deleting",
        }
    }
}

/// The part of the status that is CAPT's; `None` where nothing may be written.
pub fn status(report: Report<'_>) -> Option<ClusterStatus> {
    let Report { cluster, seen, step, done, now } = report;
    let stamp = Stamp { generation: cluster.metadata.generation, now: now.clone() };
    let before = ours(cluster);
    match step {
        Step::Leave | Step::LetGo | Step::Finish => None,
        Step::Pause(pause) => {
            let message = pause.message("Cluster");
            let mut status = before;
            upsert(
                &mut status.conditions,
                condition(type_::PAUSED, Truth::True, Reason::Paused, &message, &stamp),
            );
            Some(status)
        }
        Step::Claim
        | Step::Mark(_)
        | Step::SetEndpoint(_)
        | Step::Settled
        | Step::Delete(_)
        | Step::AwaitDeletion(_)
        | Step::AwaitListing { .. } => {
            let initialization = initialization(cluster, seen);
            let conditions = conditions::all(report, &initialization, &before.conditions, &stamp);
            Some(ClusterStatus {
                phase: Some(phase(cluster, seen, &initialization).as_str().to_owned()),
                failure_domains: failure_domains(&before, seen, &initialization),
                control_plane: control_plane(seen),
                initialization: (initialization != ClusterInitialization::default())
                    .then_some(initialization),
                observed_generation: if done {
                    cluster.metadata.generation
                } else {
                    before.observed_generation
                },
                conditions,
            })
        }
    }
}

/// Whether the Cluster's status says this already. What others wrote into it does not count.
pub fn is_told(cluster: &Cluster, next: &ClusterStatus) -> bool {
    let ordered = |mut status: ClusterStatus| {
        status.conditions.sort_by(|one, other| one.type_.cmp(&other.type_));
        status.failure_domains.sort_by(|one, other| one.name.cmp(&other.name));
        status
    };
    ordered(ours(cluster)) == ordered(next.clone())
}

/// What was there once stays so, whatever becomes of it later.
pub fn initialization(cluster: &Cluster, seen: &Observed) -> ClusterInitialization {
    let before = cluster.status.as_ref().and_then(|status| status.initialization.clone()).unwrap_or_default();
    let once = |referent: &Referent| referent.living().is_some_and(|part| part.once);
    // Without a network there is nothing to wait for.
    let unneeded = seen.network == Referent::NotNamed && seen.standing == Standing::Active;
    let latch = |before: Option<bool>, now: bool| (before == Some(true) || now).then_some(true);
    ClusterInitialization {
        infrastructure_provisioned: latch(before.infrastructure_provisioned, unneeded || once(&seen.network)),
        control_plane_initialized: latch(before.control_plane_initialized, once(&seen.control_plane)),
    }
}

fn phase(cluster: &Cluster, seen: &Observed, initialization: &ClusterInitialization) -> Phase {
    let refers = cluster.spec.infrastructure_ref.is_some() || cluster.spec.control_plane_ref.is_some();
    let provisioned = initialization.infrastructure_provisioned == Some(true);
    match seen.standing {
        Standing::Deleting | Standing::Moved => Phase::Deleting,
        _ if provisioned && endpoint::is_known(cluster) => Phase::Provisioned,
        _ if refers => Phase::Provisioning,
        _ => Phase::Pending,
    }
}

/// The zones of the network, in the order of their names; as they were while the network has no say.
fn failure_domains(
    before: &ClusterStatus,
    seen: &Observed,
    initialization: &ClusterInitialization,
) -> Vec<capt_api::capt_cluster::FailureDomain> {
    match seen.network.living().filter(|part| part.unreadable.is_none()) {
        Some(network) if initialization.infrastructure_provisioned == Some(true) => {
            let mut zones = network.failure_domains.clone();
            zones.sort_by(|one, other| one.name.cmp(&other.name));
            zones
        }
        Some(_) | None => before.failure_domains.clone(),
    }
}

fn control_plane(seen: &Observed) -> Option<ClusterControlPlaneStatus> {
    let versions = seen.control_plane.part().map(|part| part.versions.clone()).unwrap_or_default();
    (!versions.is_empty()).then_some(ClusterControlPlaneStatus { versions })
}

/// The part of the Cluster's status that is CAPT's.
fn ours(cluster: &Cluster) -> ClusterStatus {
    let mut status = cluster.status.clone().unwrap_or_default();
    status.conditions.retain(|condition| OURS.contains(&condition.type_.as_str()));
    status
}
