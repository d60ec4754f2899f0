//! The endpoint of a Cluster: its own, or what its network or control plane offers.

use capt_api::Cluster;
use capt_api::endpoint::Endpoint;

use super::observed::{Observed, Part, Role};
use super::status::initialization;
use crate::endpoint::parse;

/// What a Cluster without an endpoint is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Nothing yet.
    Nothing,
    /// An endpoint.
    Endpoint(Endpoint),
    /// Something that cannot be used, as a sentence.
    Unusable(String),
}

/// Whether the Cluster has an endpoint already, which is then left alone.
pub fn is_known(cluster: &Cluster) -> bool {
    cluster.spec.control_plane_endpoint.as_ref().is_some_and(is_given)
}

/// What the Cluster's parts offer, the network first. An endpoint counts once its part was there.
pub fn offer(cluster: &Cluster, seen: &Observed) -> Offer {
    let once = initialization(cluster, seen);
    let parts = [
        (Role::Network, once.infrastructure_provisioned == Some(true)),
        (Role::ControlPlane, once.control_plane_initialized == Some(true)),
    ];
    let mut refused = None;
    for (role, _) in parts.into_iter().filter(|(_, once)| *once) {
        let Some(part) = seen.referent(role).living() else { continue };
        let Some(endpoint) = part.endpoint.as_ref().filter(|endpoint| is_given(endpoint)) else { continue };
        match problem(endpoint) {
            None => return Offer::Endpoint(endpoint.clone()),
            Some(problem) => refused = refused.or_else(|| Some(refusal(role, part, &problem))),
        }
    }
    refused.map_or(Offer::Nothing, Offer::Unusable)
}

const fn is_given(endpoint: &Endpoint) -> bool {
    !endpoint.host.is_empty() && endpoint.port != 0
}

/// Others read the endpoint with parsers of their own: what ours does not take for a host and a port goes no further.
fn problem(endpoint: &Endpoint) -> Option<String> {
    let Endpoint { host, port } = endpoint;
    let text = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
    match parse(&text) {
        Ok(url) if url.has_path() => Some("`spec.controlPlaneEndpoint` has a path".to_owned()),
        Ok(_) => None,
        Err(problem) => Some(problem.sentence("spec.controlPlaneEndpoint")),
    }
}

fn refusal(role: Role, part: &Part, problem: &str) -> String {
    format!("{} `{}`: {problem}", role.kind(), part.name())
}
