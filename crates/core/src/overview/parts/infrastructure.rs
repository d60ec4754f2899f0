//! The network, or whatever the infrastructure provider makes.

use capt_api::names::condition as type_;

use super::{foreign, is_deleting, of_cluster, own_state, terraform};
use crate::overview::facts::{Facts, Part};
use crate::overview::node::Node;

const FIELD: &str = "spec.infrastructureRef";

pub(super) fn node(facts: &Facts) -> Option<Node> {
    let status = facts.cluster.status.as_ref();
    let initialization = status.and_then(|status| status.initialization.as_ref());
    let was_there = initialization.is_some_and(|all| all.infrastructure_provisioned == Some(true));
    let deleting = is_deleting(facts);
    match &facts.infrastructure {
        Part::NotNamed => None,
        Part::Foreign(part) => {
            let cluster = of_cluster(facts);
            let mirrored = cluster.find(type_::INFRASTRUCTURE_READY);
            foreign::part(part, &[type_::READY, type_::AVAILABLE], mirrored, FIELD, was_there, deleting)
        }
        Part::Own(part) => {
            let state = own_state(part, FIELD, was_there, deleting)?;
            let applied = part.applied.as_ref().and_then(|applied| terraform::apply(applied, None));
            Some(Node::new("CAPTCluster", &part.name, state).with(applied))
        }
    }
}
