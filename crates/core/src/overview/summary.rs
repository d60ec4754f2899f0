//! A cluster in one line.

use capt_api::addon_stack::StepState;
use capt_api::names::Reason;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::Serialize;

use super::blocker::Blocker;
use super::facts::Facts;
use super::node::{Mark, Node};
use super::parts::address;
use super::plain::plain;

/// What one line tells of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Whether it can be used.
    pub ready: bool,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// Whether it is paused.
    pub paused: bool,
    /// The Kubernetes version that runs, or else the one that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Where its API server is: host and port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// How many of its add-ons are ready.
    pub addons: AddonCount,
    /// When it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Time>,
    /// What blocks it first; in a cluster that is ready, what calls for somebody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocker: Option<Blocker>,
    /// What could not be listed, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
}

impl Summary {
    /// Whether more comes by itself: it is on its way up or down, and nothing waits for somebody.
    pub fn is_moving(&self) -> bool {
        let approval = Reason::ApprovalRequired.as_str();
        match self.blocker.as_ref() {
            _ if self.paused => false,
            Some(blocker) if blocker.reason == approval => false,
            Some(Blocker { state: Mark::Failing | Mark::Paused | Mark::Unknown, .. }) => false,
            Some(Blocker { state: Mark::Ready | Mark::Waiting, .. }) | None => !self.ready,
        }
    }
}

/// How many add-ons are ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AddonCount {
    /// Those that are ready.
    pub ready: usize,
    /// All of them.
    pub total: usize,
}

pub(super) fn of(facts: &Facts, tree: &Node, blocker: Option<Blocker>) -> Summary {
    let metadata = &facts.cluster.metadata;
    Summary {
        namespace: metadata.namespace.clone().unwrap_or_default(),
        name: metadata.name.clone().unwrap_or_default(),
        ready: tree.holds && metadata.deletion_timestamp.is_none(),
        deleting: metadata.deletion_timestamp.is_some(),
        paused: tree.state == Mark::Paused,
        version: version(facts),
        endpoint: address(facts),
        addons: addons(facts),
        created: metadata.creation_timestamp.clone(),
        blocker,
        unread: facts.doubts.iter().map(|doubt| plain(doubt)).collect(),
    }
}

/// While a cluster is upgraded, the newest version that runs.
fn version(facts: &Facts) -> Option<String> {
    let told = facts.cluster.status.as_ref().and_then(|status| status.control_plane.as_ref());
    let told = told.and_then(|told| told.versions.last()).map(|running| running.version.clone());
    let own = facts.control_plane.own();
    let running = || own?.status.as_ref()?.version.clone();
    let asked = || own.map(|own| own.spec.version.clone());
    told.or_else(running).or_else(asked).map(|version| plain(&version))
}

fn addons(facts: &Facts) -> AddonCount {
    let steps =
        || facts.bindings.iter().flat_map(|binding| &binding.status).flat_map(|status| &status.addons);
    AddonCount {
        ready: steps().filter(|step| step.state == StepState::Ready).count(),
        total: steps().count(),
    }
}
