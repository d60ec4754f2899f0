//! What blocks a cluster first: the deepest object that is not ready and that the others wait for.

use capt_api::names::Reason;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::Serialize;

use super::advised;
use super::node::{Mark, Node, Place};

/// What blocks a cluster first, or calls for somebody in one that is ready.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Blocker {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// How it is.
    pub state: Mark,
    /// Why, in one word; empty where nobody has said anything yet.
    pub reason: String,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// Why, in full.
    pub message: String,
    /// What the reason means.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub meaning: String,
    /// What to do.
    pub action: String,
}

/// Something that may be what blocks.
struct Candidate {
    /// The way there, by the numbers of children.
    path: Vec<usize>,
    place: Option<Place>,
    reason: Option<Reason>,
    mark: Mark,
    holds: bool,
}

/// Finds what blocks first, and marks it in the tree.
pub(super) fn find(tree: &mut Node) -> Option<Blocker> {
    let mut candidates = Vec::new();
    collect(tree, Vec::new(), None, &mut candidates);
    let cluster = tree.name.clone();
    let first = candidates
        .iter()
        .filter(|candidate| !waits_for_others(candidate, &candidates))
        .min_by_key(|candidate| (candidate.holds, candidate.mark != Mark::Failing))?;
    let mut node = tree;
    for child in &first.path {
        node = node.children.get_mut(*child)?;
    }
    node.blocks = true;
    Some(tell(node, &cluster))
}

/// Collects what is not as it should be, the parts before the whole. What only waits for its own parts is left out, and so are
/// the parts of what is paused.
fn collect(node: &Node, path: Vec<usize>, place: Option<Place>, found: &mut Vec<Candidate>) {
    let before = found.len();
    let place = node.place.or(place);
    for (index, child) in node.children.iter().enumerate() {
        let path = path.iter().copied().chain([index]).collect();
        collect(child, path, place, found);
    }
    let explained = found[before..].iter().any(|part| !part.holds) && !node.holds;
    match node.state {
        Mark::Ready | Mark::Unknown => return,
        Mark::Paused => found.truncate(before),
        Mark::Waiting | Mark::Failing if explained || !node.counts => return,
        Mark::Waiting | Mark::Failing => {}
    }
    let reason = Reason::find(&node.reason);
    found.push(Candidate { path, place, reason, mark: node.state, holds: node.holds });
}

/// Whether it goes on when others do that are among the candidates.
fn waits_for_others(candidate: &Candidate, all: &[Candidate]) -> bool {
    let awaited = awaited(candidate);
    let goes_first = |other: &&Candidate| {
        other.path != candidate.path
            && !other.holds
            && other.place.is_some_and(|place| awaited.contains(&place))
            && !(other.place == candidate.place && other.reason == candidate.reason)
    };
    all.iter().any(|other| goes_first(&other))
}

/// The parts that must be ready before this one goes on, as its reason says.
fn awaited(candidate: &Candidate) -> &'static [Place] {
    match (candidate.reason, candidate.place) {
        (
            Some(
                Reason::WaitingForNetwork | Reason::NetworkOverdue | Reason::WaitingForInfrastructureDeletion,
            ),
            _,
        )
        // Control planes of other providers have words of their own for it.
        | (None, Some(Place::ControlPlane)) => &[Place::Infrastructure],
        (Some(Reason::WaitingForControlPlane | Reason::WaitingForControlPlaneDeletion), _) => {
            &[Place::ControlPlane]
        }
        (Some(Reason::WaitingForCredentials | Reason::ClusterUnreachable), _) | (_, Some(Place::Workers)) => {
            &[Place::Infrastructure, Place::ControlPlane]
        }
        (Some(Reason::WaitingForAddons), _) => &[Place::Addons, Place::ControlPlane, Place::Infrastructure],
        (_, Some(Place::Infrastructure | Place::ControlPlane | Place::Addons) | None) => &[],
    }
}

fn tell(node: &Node, cluster: &str) -> Blocker {
    let Node { kind, name, state, reason, since, message, .. } = node;
    let (meaning, action) = advised::of(node, cluster);
    Blocker {
        kind: kind.clone(),
        name: name.clone(),
        state: *state,
        reason: reason.clone(),
        since: since.clone(),
        message: message.clone(),
        meaning,
        action,
    }
}
