//! What to do with a Cluster, from the facts. One thing at a time: after each the facts are looked at again.

use capt_api::Cluster;
use capt_api::endpoint::Endpoint;
use capt_api::names::finalizer;

use super::endpoint::{self, Offer};
use super::observed::{Observed, Part, Referent, Role};
use crate::standing::{Pause, Standing};

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing at all.
    Leave,
    /// Tell that it is paused.
    Pause(Pause),
    /// It lives on elsewhere: let go of it, and leave its parts alone.
    LetGo,
    /// Hold the Cluster, so that it does not go before its parts.
    Claim,
    /// Mark an object as the Cluster's own.
    Mark(Target),
    /// Take over an endpoint.
    SetEndpoint(Endpoint),
    /// All is done that can be done now.
    Settled,
    /// Ask for the deletion of a part.
    Delete(Target),
    /// Wait until a part is gone.
    AwaitDeletion(Target),
    /// Wait until somebody can tell whether a part is gone.
    AwaitListing {
        /// What it is to the Cluster.
        role: Role,
        /// Its name.
        name: String,
    },
    /// Everything is gone: let go of the Cluster.
    Finish,
}

/// One object as it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// What it is to the Cluster.
    pub role: Role,
    /// Its name.
    pub name: String,
    /// Its uid, so that no other of the same name is hit.
    pub uid: Option<String>,
    /// The version that was seen.
    pub resource_version: Option<String>,
}

impl Target {
    fn new(role: Role, part: &Part) -> Self {
        let metadata = &part.metadata;
        Self {
            role,
            name: part.name().to_owned(),
            uid: metadata.uid.clone(),
            resource_version: metadata.resource_version.clone(),
        }
    }
}

/// Decides what to do.
pub fn decide(cluster: &Cluster, seen: &Observed) -> Step {
    match &seen.standing {
        Standing::ExternallyManaged => Step::Leave,
        Standing::Paused(pause) => Step::Pause(*pause),
        Standing::Moved => Step::LetGo,
        Standing::Deleting => take_down(seen),
        Standing::Active => keep(cluster, seen),
    }
}

fn keep(cluster: &Cluster, seen: &Observed) -> Step {
    if !cluster.metadata.finalizers.iter().flatten().any(|entry| entry == finalizer::CLUSTER) {
        return Step::Claim;
    }
    for role in [Role::Network, Role::ControlPlane] {
        // What cannot be read may be anything; it is told and left alone.
        if let Some(part) = seen.referent(role).living().filter(|part| part.unreadable.is_none())
            && !part.is_marked(cluster)
        {
            return Step::Mark(Target::new(role, part));
        }
    }
    match endpoint::offer(cluster, seen) {
        Offer::Endpoint(endpoint) if !endpoint::is_known(cluster) => Step::SetEndpoint(endpoint),
        Offer::Endpoint(_) | Offer::Unusable(_) | Offer::Nothing => Step::Settled,
    }
}

/// The control plane lives in the network: it goes first, and the network only when it is gone.
fn take_down(seen: &Observed) -> Step {
    for role in [Role::ControlPlane, Role::Network] {
        match seen.referent(role) {
            Referent::NotNamed
            | Referent::Unsupported(_)
            | Referent::Missing { .. }
            | Referent::OfOther { .. } => {}
            Referent::Unlisted { name } => return Step::AwaitListing { role, name: name.clone() },
            Referent::There(part) if part.is_going() => return Step::AwaitDeletion(Target::new(role, part)),
            Referent::There(part) => return Step::Delete(Target::new(role, part)),
        }
    }
    Step::Finish
}
