//! Taking over what the earlier Go implementation left in a management cluster: what there is to do, who does it, and what is in
//! the way.
//!
//! Most of it the manager does by itself once it runs. What is left for `capt migrate from-go` is what no controller may do: to
//! put CAPT's kinds in the place of the earlier ones, and to put right what Cluster API has taken from the earlier controller and
//! keeps as it is.

mod definitions;
mod objects;
mod running;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use capt_api::endpoint::Endpoint;
use capt_api::{CAPTCluster, CAPTControlPlane, Cluster, WorkspaceTemplateApply};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Serialize;

use crate::tie::ApplyKey;

pub use definitions::is_of_go;
pub use running::{Running, is_manager_deployment, is_manager_lease};

/// Kinds of the earlier implementation that CAPT does not have, in the group of infrastructure.
pub const OTHER_KINDS: [(&str, &str); 4] = [
    ("CaptMachine", "captmachines"),
    ("CaptMachineDeployment", "captmachinedeployments"),
    ("CaptMachineSet", "captmachinesets"),
    ("CaptMachineTemplate", "captmachinetemplates"),
];

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// CRDs of CAPT's own kinds, as the API server has them.
    pub definitions: Vec<CustomResourceDefinition>,
    /// Managers of the earlier implementation that run.
    pub running: Vec<Running>,
    /// How many objects there are of kinds that CAPT does not have.
    pub others: Vec<(&'static str, usize)>,
    /// Networks.
    pub networks: Vec<CAPTCluster>,
    /// Control planes.
    pub control_planes: Vec<CAPTControlPlane>,
    /// Clusters.
    pub clusters: Vec<Cluster>,
    /// Applies.
    pub applies: Vec<WorkspaceTemplateApply>,
    /// What the Workspaces of applies are beside what template and variables give.
    pub workspaces: BTreeMap<ApplyKey, Comparison>,
    /// Secrets of names that control planes need, with their types.
    pub secrets: Vec<(ObjectMeta, Option<String>)>,
}

/// A Workspace beside what template and variables give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// It is the same in meaning.
    Same,
    /// It differs in these fields.
    Differs(Vec<String>),
    /// It is not there.
    Missing,
    /// It is somebody else's.
    NotOurs,
    /// The status of this other apply names it.
    Reported(ApplyKey),
    /// That cannot be told.
    Unknown(String),
}

/// Who does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum By {
    /// `capt migrate from-go` itself.
    Command,
    /// The manager, by itself, once it runs.
    Manager,
    /// Whoever reads this.
    You,
    /// Nobody: it stays as it is.
    Nobody,
}

/// What becomes of one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its kind.
    pub kind: String,
    /// Its namespace, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// Who does it.
    pub by: By,
    /// What happens to it.
    pub what: String,
}

/// Something that the command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Puts CAPT's kinds in the place of those that are there, and takes away what belongs to the contract that they followed.
    Definitions,
    /// Puts right where a Cluster says that its API server is.
    Endpoint {
        /// The Cluster's namespace.
        namespace: String,
        /// Its name.
        name: String,
        /// What it says.
        before: Endpoint,
        /// What it should say.
        after: Endpoint,
    },
}

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// What becomes of each object of which something becomes.
    pub entries: Vec<Entry>,
    /// What the command does.
    pub deeds: Vec<Deed>,
    /// What has to be changed before anything can be done.
    pub in_the_way: Vec<String>,
    /// What else there is to know.
    pub remarks: Vec<String>,
}

/// Decides.
pub fn plan(found: &Found) -> Plan {
    let mut plan = Plan::default();
    plan.in_the_way.extend(found.running.iter().map(ToString::to_string));
    definitions::look(found, &mut plan);
    objects::look(found, &mut plan);
    for (kind, count) in found.others.iter().filter(|(_, count)| *count > 0) {
        plan.entries.push(Entry {
            kind: (*kind).to_owned(),
            namespace: None,
            name: format!("({count})"),
            by: By::Nobody,
            what:
                "left alone: CAPT has no such kind, and nobody looks after it while the Go manager is stopped"
                    .to_owned(),
        });
    }
    plan
}
