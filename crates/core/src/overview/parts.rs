//! From facts to the tree.

mod addons;
mod control_plane;
mod foreign;
mod infrastructure;
mod secrets;
mod terraform;

use capt_api::names::{Reason, condition as type_};
use capt_api::{CAPTCluster, CAPTControlPlane};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use k8s_openapi::jiff::Timestamp;

pub(super) use control_plane::address;

use super::conditions::Conditions;
use super::facts::{Facts, OwnPart, Seen};
use super::node::{Mark, Node, Place};
use super::state::{self, State};

/// The Cluster with everything below it.
pub(super) fn cluster(facts: &Facts, now: Timestamp) -> Node {
    let cluster = &facts.cluster;
    let conditions = of_cluster(facts);
    let mut state = state::of(&cluster.metadata, &conditions, &[type_::AVAILABLE, type_::READY]);
    if cluster.spec.paused == Some(true) {
        let paused = State::new(
            Mark::Paused,
            Reason::Paused.as_str(),
            "spec.paused is true: nothing of it is reconciled",
        );
        state = paused.holding(state.holds).since(state.since);
    }
    let at = |place: Place| move |node: Node| Node { place: Some(place), ..node };
    let name = cluster.metadata.name.as_deref().unwrap_or_default();
    Node::new("Cluster", name, state)
        .with(infrastructure::node(facts).map(at(Place::Infrastructure)))
        .with(control_plane::node(facts, now).map(at(Place::ControlPlane)))
        .with(facts.workers.iter().map(foreign::worker).map(at(Place::Workers)))
        .with(facts.bindings.iter().map(addons::binding).map(at(Place::Addons)))
}

fn of_cluster(facts: &Facts) -> Conditions {
    Conditions::of(facts.cluster.status.iter().flat_map(|status| &status.conditions))
}

fn is_deleting(facts: &Facts) -> bool {
    facts.cluster.metadata.deletion_timestamp.is_some()
}

/// An object of CAPT's that a Cluster refers to.
trait Own {
    fn metadata(&self) -> &ObjectMeta;
    fn conditions(&self) -> &[Condition];
}

impl Own for CAPTCluster {
    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn conditions(&self) -> &[Condition] {
        self.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default()
    }
}

impl Own for CAPTControlPlane {
    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn conditions(&self) -> &[Condition] {
        self.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default()
    }
}

/// How it is with a part of CAPT's; nothing where it is gone as it should be.
fn own_state<O: Own>(part: &OwnPart<O>, field: &str, was_there: bool, deleting: bool) -> Option<State> {
    match &part.object {
        Seen::There(object) => {
            Some(state::of(object.metadata(), &Conditions::of(object.conditions()), &[type_::READY]))
        }
        Seen::Missing if deleting => None,
        Seen::Missing => Some(missing(field, was_there)),
        Seen::Unread(why) => Some(State::unread(why)),
        Seen::NotAsked => None,
    }
}

/// What a Cluster refers to and is not there.
fn missing(field: &str, was_there: bool) -> State {
    if was_there {
        let reason = Reason::ObjectDeleted.as_str();
        State::new(Mark::Failing, reason, format!("it is named in {field}, was there, and is gone"))
    } else {
        State::missing(&format!("it is named in {field} and is not there"))
    }
}
