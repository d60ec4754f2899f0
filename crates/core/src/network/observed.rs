//! What is known of a network and of what it is made by.

use std::collections::BTreeMap;

use capt_api::crossplane::WorkspaceCondition;
use capt_api::names::condition as type_;
use capt_api::{CAPTCluster, Workspace, WorkspaceTemplateApply};
use serde_json::Value;

use super::wanted::is_in_status;
use crate::apply::Blocked;
use crate::apply::decide::Verdict;
use crate::owned_apply::{self, Owner, Wanted};
use crate::standing::Pause;
use crate::tie;

/// A network as it was seen.
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
        /// Its apply, if it is there and ours to delete.
        apply: Option<Box<WorkspaceTemplateApply>>,
        /// Control planes of the same Cluster.
        control_planes: Vec<ControlPlane>,
    },
    /// It is to be kept in line, and was there before CAPT came.
    Existing {
        /// Its identifier.
        vpc: String,
    },
    /// It is to be kept in line, and is made from a template.
    Templated {
        /// What its apply should be.
        wanted: Wanted,
        /// The apply of that name, whoever it belongs to.
        apply: Option<Box<WorkspaceTemplateApply>>,
    },
    /// Nothing can be done about it for now.
    Blocked(Blocked),
}

/// A control plane that is still there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlPlane {
    /// Its name.
    pub name: String,
    /// Whether it is being deleted.
    pub going: bool,
}

/// What is known of the Workspace that makes a network.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkspaceFacts {
    /// Its name.
    pub name: String,
    /// Whether it is being deleted.
    pub going: bool,
    /// Its Ready condition.
    pub ready: Option<Verdict>,
    /// Its Synced condition.
    pub synced: Option<Verdict>,
    /// Its outputs.
    pub outputs: BTreeMap<String, Value>,
}

impl WorkspaceFacts {
    /// What counts of a Workspace, if it is that of the apply: what another one says is not about our network.
    pub fn of(workspace: &Workspace, apply: &WorkspaceTemplateApply) -> Option<Self> {
        let name = workspace.metadata.name.clone().unwrap_or_default();
        let ours = tie::is_of(&workspace.metadata, apply);
        let status = workspace.status.clone().unwrap_or_default();
        ours.then(|| Self {
            name,
            going: workspace.metadata.deletion_timestamp.is_some(),
            ready: verdict(&status.conditions, type_::READY),
            synced: verdict(&status.conditions, type_::SYNCED),
            outputs: status.at_provider.map(|observation| observation.outputs).unwrap_or_default(),
        })
    }
}

fn verdict(conditions: &[WorkspaceCondition], type_: &str) -> Option<Verdict> {
    let condition = conditions.iter().find(|condition| condition.type_ == type_)?;
    Some(Verdict {
        holds: condition.status == "True",
        reason: condition.reason.clone(),
        message: condition.message.clone().unwrap_or_default(),
    })
}

/// Whether an apply is a network's own: by its owner, or by the network's status where it has none. What only the spec names
/// may be about to be taken over, but is not ours to delete yet.
pub fn is_own(network: &CAPTCluster, apply: &WorkspaceTemplateApply) -> bool {
    match owned_apply::belongs(&apply.metadata, &Owner::of(network)) {
        owned_apply::Belongs::ToUs | owned_apply::Belongs::ToOurPast => true,
        owned_apply::Belongs::ToOther(_) => false,
        owned_apply::Belongs::ToNobody => {
            is_in_status(network, apply.metadata.name.as_deref().unwrap_or_default())
        }
    }
}
