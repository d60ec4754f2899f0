//! A Cluster as it was seen, with the objects that it refers to.

use capt_api::capt_cluster::FailureDomain;
use capt_api::capt_control_plane::RunningVersion;
use capt_api::endpoint::Endpoint;
use capt_api::names::{group, label};
use capt_api::{CAPTCluster, CAPTControlPlane, Cluster};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta, OwnerReference};

use crate::standing::Standing;
use crate::tie::label_value;

/// A Cluster as it was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// What may be done with it.
    pub standing: Standing,
    /// What `spec.infrastructureRef` leads to.
    pub network: Referent,
    /// What `spec.controlPlaneRef` leads to.
    pub control_plane: Referent,
}

impl Observed {
    /// What is in this role.
    pub const fn referent(&self, role: Role) -> &Referent {
        match role {
            Role::Network => &self.network,
            Role::ControlPlane => &self.control_plane,
        }
    }
}

/// What an object is to its Cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Its network.
    Network,
    /// Its control plane.
    ControlPlane,
}

impl Role {
    /// The kind that CAPT has for it.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Network => "CAPTCluster",
            Self::ControlPlane => "CAPTControlPlane",
        }
    }

    /// The group of that kind.
    pub const fn group(self) -> &'static str {
        match self {
            Self::Network => group::INFRASTRUCTURE,
            Self::ControlPlane => group::CONTROL_PLANE,
        }
    }

    /// The field of the Cluster that refers to it.
    pub const fn field(self) -> &'static str {
        match self {
            Self::Network => "spec.infrastructureRef",
            Self::ControlPlane => "spec.controlPlaneRef",
        }
    }
}

/// What a reference of a Cluster asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted<'cluster> {
    /// There is no reference.
    Nothing,
    /// Something that CAPT cannot look after, as a sentence.
    Unsupported(String),
    /// The object of this name, of CAPT's own kind.
    Object(&'cluster str),
}

/// What the reference in this role asks for.
pub fn wanted(cluster: &Cluster, role: Role) -> Wanted<'_> {
    let reference = match role {
        Role::Network => cluster.spec.infrastructure_ref.as_ref(),
        Role::ControlPlane => cluster.spec.control_plane_ref.as_ref(),
    };
    match reference {
        Some(reference) if reference.kind == role.kind() && reference.api_group == role.group() => {
            Wanted::Object(&reference.name)
        }
        Some(reference) => Wanted::Unsupported(format!(
            "{} leads to kind {} of group {}, which takes Cluster API: refer to a {} (apiGroup {}), or install Cluster API and \
             the provider of that kind",
            role.field(),
            reference.kind,
            reference.api_group,
            role.kind(),
            role.group(),
        )),
        None if cluster.spec.topology.is_some() => Wanted::Unsupported(format!(
            "spec.topology makes a Cluster from a ClusterClass, which takes Cluster API: set {} to a {} instead of it, or \
             install Cluster API",
            role.field(),
            role.kind(),
        )),
        None => Wanted::Nothing,
    }
}

/// What a reference of a Cluster leads to.
#[derive(Clone, Debug, PartialEq)]
pub enum Referent {
    /// There is no reference.
    NotNamed,
    /// Something that CAPT cannot look after, as a sentence.
    Unsupported(String),
    /// Nobody knows, since objects of the kind cannot be listed.
    Unlisted {
        /// The object's name.
        name: String,
    },
    /// Nothing.
    Missing {
        /// The object's name.
        name: String,
    },
    /// An object of another Cluster.
    OfOther {
        /// The object's name.
        name: String,
        /// The other Cluster's name.
        cluster: String,
    },
    /// An object of this Cluster, or of none yet.
    There(Box<Part>),
}

impl Referent {
    /// Something that is there, whoever it belongs to.
    pub fn found(part: Part, cluster: &Cluster) -> Self {
        match other_cluster(&part.metadata, cluster) {
            Some(other) => Self::OfOther { name: part.name().to_owned(), cluster: other.to_owned() },
            None => Self::There(Box::new(part)),
        }
    }

    /// The object, if it is there and not of another Cluster.
    pub fn part(&self) -> Option<&Part> {
        match self {
            Self::There(part) => Some(part),
            Self::NotNamed
            | Self::Unsupported(_)
            | Self::Unlisted { .. }
            | Self::Missing { .. }
            | Self::OfOther { .. } => None,
        }
    }

    /// The same, if it is to stay.
    pub fn living(&self) -> Option<&Part> {
        self.part().filter(|part| !part.is_going())
    }
}

/// A network or control plane, as far as its Cluster looks at it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// Its metadata.
    pub metadata: ObjectMeta,
    /// Whether it was there once: the network provisioned, the control plane initialized.
    pub once: bool,
    /// Where it says that the API server is reached.
    pub endpoint: Option<Endpoint>,
    /// Its conditions.
    pub conditions: Vec<Condition>,
    /// The zones of a network.
    pub failure_domains: Vec<FailureDomain>,
    /// The versions of a control plane.
    pub versions: Vec<RunningVersion>,
    /// Why it cannot be read; all but the metadata is empty then.
    pub unreadable: Option<String>,
}

impl Part {
    /// An object that is there but cannot be read.
    pub fn unreadable(metadata: ObjectMeta, problem: String) -> Self {
        Self { metadata, unreadable: Some(problem), ..Self::default() }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    /// Whether it is being deleted.
    pub const fn is_going(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    /// Its condition of this type.
    pub fn condition(&self, type_: &str) -> Option<&Condition> {
        self.conditions.iter().find(|condition| condition.type_ == type_)
    }

    /// Whether it carries the Cluster's owner reference and label.
    pub fn is_marked(&self, cluster: &Cluster) -> bool {
        let owned =
            cluster_owners(&self.metadata).any(|owner| Some(&owner.uid) == cluster.metadata.uid.as_ref());
        let labelled = self.metadata.labels.as_ref().and_then(|labels| labels.get(label::CLUSTER_NAME));
        owned && labelled == Some(&label_value(cluster.metadata.name.as_deref().unwrap_or_default()))
    }
}

impl From<&CAPTCluster> for Part {
    fn from(network: &CAPTCluster) -> Self {
        let status = network.status.clone().unwrap_or_default();
        Self {
            metadata: network.metadata.clone(),
            once: status.initialization.is_some_and(|initialization| initialization.provisioned),
            endpoint: network.spec.control_plane_endpoint.clone(),
            conditions: status.conditions,
            failure_domains: status.failure_domains,
            versions: Vec::new(),
            unreadable: None,
        }
    }
}

impl From<&CAPTControlPlane> for Part {
    fn from(control_plane: &CAPTControlPlane) -> Self {
        let status = control_plane.status.clone().unwrap_or_default();
        Self {
            metadata: control_plane.metadata.clone(),
            once: status
                .initialization
                .is_some_and(|initialization| initialization.control_plane_initialized),
            endpoint: control_plane.spec.control_plane_endpoint.clone(),
            conditions: status.conditions,
            failure_domains: Vec::new(),
            versions: status.versions,
            unreadable: None,
        }
    }
}

/// The name of another Cluster that an object belongs to. A Cluster of our name and another uid is ourselves, before a restore.
fn other_cluster<'object>(metadata: &'object ObjectMeta, cluster: &Cluster) -> Option<&'object str> {
    let ours = |owner: &&OwnerReference| Some(&owner.name) == cluster.metadata.name.as_ref();
    if cluster_owners(metadata).any(|owner| ours(&owner)) {
        return None;
    }
    cluster_owners(metadata).next().map(|owner| owner.name.as_str())
}

fn cluster_owners(metadata: &ObjectMeta) -> impl Iterator<Item = &OwnerReference> {
    let of_cluster_api =
        |api_version: &str| api_version.split_once('/').is_some_and(|(group, _)| group == group::CLUSTER);
    let owners = metadata.owner_references.iter().flatten();
    owners.filter(move |owner| owner.kind == "Cluster" && of_cluster_api(&owner.api_version))
}
