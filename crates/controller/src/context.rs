//! What every driver has at hand.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use capt_api::{
    AddonStack, AddonStackBinding, CAPTCluster, CAPTControlPlane, Cluster, ClusterResourceSet,
    ClusterResourceSetBinding, Workspace, WorkspaceTemplate, WorkspaceTemplateApply,
};
pub(crate) use capt_core::condition::to_the_second;
use futures::channel::mpsc::UnboundedSender;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use kube::runtime::controller::Action;
use kube::runtime::events::Recorder;
use kube::runtime::reflector::ObjectRef;
use tokio::sync::{Semaphore, watch};

use crate::addons::AddonMemories;
use crate::control_plane::Credentials;
use crate::error::{Error, Retry};
use crate::index::{Dependent, Index, Name};
use crate::metrics::{Kind, Metrics};
use crate::moved::Moved;
use crate::notify::Notifier;
use crate::options::Options;
use crate::resource_set::ResourceSetMemories;
use crate::resources::Resources;
use crate::secret_versions::SecretVersions;
use crate::store::{Guarded, Held, Reader};
use crate::term::LeadershipTerm;
use crate::workload::Workloads;
use crate::workspace::Terraform;

/// How long a first status waits for what is about to come, so that one write tells both.
pub(crate) const A_MOMENT: Duration = Duration::from_millis(200);

/// What every driver has at hand.
pub(crate) struct Context {
    /// The leadership that all of it is for: whatever goes on beside reconciles is bound to it.
    pub(crate) term: LeadershipTerm,
    pub(crate) client: Client,
    pub(crate) options: Options,
    pub(crate) recorder: Recorder,
    pub(crate) metrics: Metrics,
    pub(crate) applies: Reader<WorkspaceTemplateApply>,
    pub(crate) templates: Reader<WorkspaceTemplate>,
    pub(crate) workspaces: Reader<Workspace>,
    pub(crate) clusters: Reader<Cluster>,
    pub(crate) networks: Reader<CAPTCluster>,
    pub(crate) control_planes: Reader<CAPTControlPlane>,
    pub(crate) stacks: Reader<AddonStack>,
    pub(crate) stack_bindings: Reader<AddonStackBinding>,
    pub(crate) resource_sets: Reader<ClusterResourceSet>,
    pub(crate) resource_set_bindings: Reader<ClusterResourceSetBinding>,
    /// What is kept of `ConfigMaps` and Secrets with manifests.
    pub(crate) resources: Resources,
    /// Clients to the clusters themselves.
    pub(crate) workloads: Workloads,
    /// What is remembered of add-ons in clusters.
    pub(crate) addons: AddonMemories,
    /// What is remembered of `ClusterResourceSets` in clusters.
    pub(crate) resource_set_memories: ResourceSetMemories,
    /// Who is told of add-ons that fail or recover.
    pub(crate) notifier: Notifier,
    pub(crate) secrets: SecretVersions,
    /// Whether it is known which Secrets there are.
    pub(crate) secrets_listed: watch::Sender<bool>,
    pub(crate) credentials: Credentials,
    /// How many clusters may be asked at the same time.
    pub(crate) probes: Semaphore,
    /// Where control planes are announced that have something new.
    pub(crate) control_plane_queue: UnboundedSender<ObjectRef<Guarded<CAPTControlPlane>>>,
    /// Where bindings are announced in whose cluster something has changed.
    pub(crate) stack_binding_queue: UnboundedSender<ObjectRef<Guarded<AddonStackBinding>>>,
    pub(crate) index: Index<Dependent>,
    pub(crate) attempts: Attempts,
    /// Applies that were seen to be moved to another cluster.
    pub(crate) moved: Moved,
    /// What runs Workspaces; `None` where Crossplane does.
    pub(crate) terraform: Option<Arc<Terraform>>,
    /// Who looks after Clusters.
    pub(crate) cluster_serving: crate::cluster::Serving,
}

impl Context {
    /// Now.
    pub(crate) fn now(&self) -> Timestamp {
        self.options.clock.now()
    }

    /// The Cluster that an object belongs to, if it is known.
    pub(crate) fn cluster_of(&self, metadata: &ObjectMeta) -> Option<Held<Cluster>> {
        let name = capt_core::standing::cluster_name(metadata)?;
        self.clusters.get(metadata.namespace.as_deref(), name)
    }
}

/// Now, to the second.
pub(crate) fn now() -> Time {
    to_the_second(Timestamp::now())
}

/// How often each object has failed in a row.
#[derive(Debug, Default)]
pub(crate) struct Attempts(Mutex<HashMap<(Kind, Name), u32>>);

impl Attempts {
    /// When to try again after a failure.
    pub(crate) fn failed(&self, kind: Kind, object: Name, error: &Error) -> Action {
        let mut attempts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = attempts.entry((kind, object)).or_default();
        let pause = pause(error.retry(), *count);
        *count = count.saturating_add(1);
        Action::requeue(pause)
    }

    /// Starts counting anew.
    pub(crate) fn succeeded(&self, kind: Kind, object: Name) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&(kind, object));
    }
}

/// How long to wait after the given number of failures in a row.
fn pause(retry: Retry, failures: u32) -> Duration {
    let (first, longest) = match retry {
        Retry::AtOnce => (Duration::from_millis(50), Duration::from_secs(10)),
        Retry::Backoff => (Duration::from_secs(1), Duration::from_secs(60)),
        Retry::Rarely => (Duration::from_secs(5), Duration::from_secs(600)),
    };
    first.saturating_mul(2_u32.saturating_pow(failures.min(16))).min(longest)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::first(Retry::Backoff, 0, Duration::from_secs(1))]
    #[case::grows(Retry::Backoff, 3, Duration::from_secs(8))]
    #[case::is_bounded(Retry::Backoff, 1_000_000, Duration::from_secs(60))]
    #[case::conflicts_are_tried_soon(Retry::AtOnce, 0, Duration::from_millis(50))]
    #[case::refusals_rarely(Retry::Rarely, 9, Duration::from_secs(600))]
    fn pauses_grow_and_are_bounded(#[case] retry: Retry, #[case] failures: u32, #[case] expected: Duration) {
        assert_eq!(pause(retry, failures), expected);
    }
}
