//! Objects of other providers, by the conditions that Cluster API's contract has for them.

use capt_api::names::condition as type_;
use kube::core::DynamicObject;
use serde_json::Value;

use super::missing;
use crate::overview::conditions::{Conditions, Told};
use crate::overview::facts::{Foreign, Seen};
use crate::overview::node::{Mark, Node};
use crate::overview::state::{self, State};

/// What a Cluster refers to. Where nobody looked, the Cluster says what it knows of it.
pub(super) fn part(
    part: &Foreign,
    types: &[&str],
    mirrored: Option<&Told>,
    field: &str,
    was_there: bool,
    deleting: bool,
) -> Option<Node> {
    let state = match &part.object {
        Seen::There(object) => of(object, types),
        Seen::Missing if deleting => return None,
        Seen::Missing => missing(field, was_there),
        Seen::Unread(why) => State::unread(why),
        Seen::NotAsked => State::told(mirrored?),
    };
    Some(Node::new(&part.kind, &part.name, state))
}

/// Machines, in one line.
pub(super) fn worker(worker: &Foreign) -> Node {
    let state = match &worker.object {
        Seen::There(object) => {
            let state = of(object, &[type_::AVAILABLE, type_::READY]);
            let parts = [replicas(object), Some(state.message.clone()).filter(|message| !message.is_empty())];
            State { message: parts.into_iter().flatten().collect::<Vec<_>>().join("; "), ..state }
        }
        Seen::Missing => State::missing("it is not there"),
        Seen::Unread(why) => State::unread(why),
        Seen::NotAsked => State::new(Mark::Unknown, "", ""),
    };
    Node::new(&worker.kind, &worker.name, state)
}

fn of(object: &DynamicObject, types: &[&str]) -> State {
    state::of(&object.metadata, &Conditions::of_foreign(object), types)
}

fn replicas(object: &DynamicObject) -> Option<String> {
    let number = |place: &str| object.data.pointer(place).and_then(Value::as_i64);
    let wanted = number("/spec/replicas")?;
    Some(format!("{} of {wanted} machines are ready", number("/status/readyReplicas").unwrap_or_default()))
}
