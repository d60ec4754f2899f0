//! What was seen of a control plane.

use std::collections::BTreeSet;

use capt_api::names::condition;
use capt_api::{CAPTCluster, WorkspaceTemplateApply};
use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use crate::apply::decide::WorkspaceFacts;
use crate::clearing::Inside;
use crate::owned_apply::{Belongs, Wanted};
use crate::standing::Pause;

/// A control plane as it was seen.
#[derive(Clone, Debug)]
pub enum Observed {
    /// Somebody else looks after it.
    ExternallyManaged,
    /// It is paused.
    Paused(Pause),
    /// It lives on elsewhere.
    Moved,
    /// It is being deleted.
    Deleting {
        /// Its apply, if it is there and ours.
        apply: Option<Box<WorkspaceTemplateApply>>,
        /// What is in the cluster.
        inside: Inside,
        /// Since when the cluster has been on its way down.
        since: Timestamp,
        /// Now.
        now: Timestamp,
    },
    /// It belongs to no Cluster yet.
    Alone {
        /// Now.
        now: Timestamp,
    },
    /// It is to be kept in line.
    Active(Box<Scene>),
}

/// What an active control plane depends on.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The network.
    pub network: Network,
    /// The apply of its name, whoever it belongs to.
    pub apply: Option<(WorkspaceTemplateApply, Belongs)>,
    /// What the apply should be.
    pub wanted: Wanted,
    /// Now.
    pub now: Timestamp,
}

/// The network that a control plane is put in.
#[derive(Clone, Debug, PartialEq)]
pub enum Network {
    /// The Cluster names none: the module looks after that itself.
    None,
    /// The Cluster names one that is not there.
    Missing {
        /// Its kind and name.
        name: String,
    },
    /// One of another provider.
    Foreign {
        /// Its kind and name.
        name: String,
        /// Whether Cluster API says that it is there.
        provisioned: bool,
    },
    /// One of ours.
    Ours(OurNetwork),
}

/// A `CAPTCluster`.
#[derive(Clone, Debug, PartialEq)]
pub struct OurNetwork {
    /// Its name.
    pub name: String,
    /// Whether it was there once.
    pub provisioned: bool,
    /// What it says about itself.
    pub message: String,
    /// Its region.
    pub region: String,
    /// The id of the VPC.
    pub vpc_id: Option<String>,
    /// The apply that makes it; none for a VPC that existed before.
    pub apply: Option<String>,
    /// The names of its outputs, as far as they are known.
    pub outputs: BTreeSet<String>,
}

impl OurNetwork {
    /// What counts of a network, with the names of its outputs.
    #[must_use]
    pub fn of(network: &CAPTCluster, outputs: BTreeSet<String>) -> Self {
        let CAPTCluster { metadata, spec, status } = network;
        let status = status.clone().unwrap_or_default();
        let ready = status.conditions.iter().find(|entry| entry.type_ == condition::READY);
        Self {
            name: metadata.name.clone().unwrap_or_default(),
            provisioned: status.initialization.as_ref().is_some_and(|all| all.provisioned),
            message: ready.map(|ready| ready.message.clone()).unwrap_or_default(),
            region: spec.region.clone(),
            vpc_id: status.vpc_id.clone().or_else(|| spec.existing_vpc_id.clone()),
            apply: spec.workspace_template_apply_name.clone().filter(|_| spec.vpc_template_ref.is_some()),
            outputs,
        }
    }
}

/// A Workspace as it was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkspaceSeen {
    /// What counts of it.
    pub facts: WorkspaceFacts,
    /// What Terraform reported.
    pub at_provider: Option<Value>,
}

impl WorkspaceSeen {
    /// Whether it is Ready.
    pub fn is_ready(&self) -> bool {
        self.facts.ready.as_ref().is_some_and(|ready| ready.holds)
    }

    /// An output that is not sensitive.
    pub fn output(&self, name: &str) -> Option<&Value> {
        self.at_provider.as_ref()?.get("outputs")?.get(name)
    }

    /// An output that is a text and not empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.output(name)?.as_str().filter(|text| !text.is_empty())
    }
}
