//! What was read of a cluster.

use capt_api::{
    AddonStackBinding, CAPTCluster, CAPTControlPlane, Cluster, Workspace, WorkspaceTemplateApply,
};
use kube::core::DynamicObject;

use super::secret::SecretFacts;

/// What was read of a cluster.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The Cluster itself.
    pub cluster: Cluster,
    /// What `spec.infrastructureRef` leads to.
    pub infrastructure: Part<CAPTCluster>,
    /// What `spec.controlPlaneRef` leads to.
    pub control_plane: Part<CAPTControlPlane>,
    /// The Secrets that were looked for.
    pub secrets: Vec<SecretFacts>,
    /// `MachineDeployments`, `MachinePools` and Machines that stand for themselves.
    pub workers: Vec<Foreign>,
    /// The stacks in this cluster.
    pub bindings: Vec<AddonStackBinding>,
    /// What could not be listed, and why.
    pub doubts: Vec<String>,
}

/// What became of looking for an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen<T> {
    /// It is there.
    There(T),
    /// It is not there.
    Missing,
    /// It could not be read, for this reason.
    Unread(String),
    /// Nobody looked.
    NotAsked,
}

impl<T> Seen<T> {
    /// The object, if it is there.
    pub const fn there(&self) -> Option<&T> {
        match self {
            Self::There(object) => Some(object),
            Self::Missing | Self::Unread(_) | Self::NotAsked => None,
        }
    }
}

/// An object that a Cluster refers to.
#[derive(Clone, Debug)]
pub enum Part<Own> {
    /// The Cluster names none.
    NotNamed,
    /// One of CAPT's.
    Own(Box<OwnPart<Own>>),
    /// One of another provider.
    Foreign(Box<Foreign>),
}

impl<Own> Part<Own> {
    /// The object, if it is one of CAPT's and there.
    pub const fn own(&self) -> Option<&Own> {
        match self {
            Self::Own(part) => part.object.there(),
            Self::NotNamed | Self::Foreign(_) => None,
        }
    }
}

/// A part of CAPT's own kind, with what Terraform makes of it.
#[derive(Clone, Debug)]
pub struct OwnPart<Own> {
    /// Its name.
    pub name: String,
    /// The object.
    pub object: Seen<Own>,
    /// Its apply, if it has one.
    pub applied: Option<Applied>,
}

/// An apply and its Workspace.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The name of the apply.
    pub name: String,
    /// The apply.
    pub apply: Seen<WorkspaceTemplateApply>,
    /// The name of the Workspace, and what it was found to be. None where the apply has not made one yet.
    pub workspace: Option<(String, Seen<Workspace>)>,
}

/// An object of somebody else's kind.
#[derive(Clone, Debug)]
pub struct Foreign {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The object.
    pub object: Seen<DynamicObject>,
}
