//! The control plane, its Secrets and the way to it.

use capt_api::endpoint::Endpoint;
use capt_api::names::{Reason, condition as type_};
use k8s_openapi::jiff::Timestamp;

use super::{Own as _, foreign, is_deleting, of_cluster, own_state, secrets, terraform};
use crate::overview::conditions::{Conditions, Told};
use crate::overview::facts::{Facts, Part};
use crate::overview::node::Node;
use crate::overview::secret::SecretUse;
use crate::overview::state::State;

const FIELD: &str = "spec.controlPlaneRef";

pub(super) fn node(facts: &Facts, now: Timestamp) -> Option<Node> {
    let status = facts.cluster.status.as_ref();
    let initialization = status.and_then(|status| status.initialization.as_ref());
    let was_there = initialization.is_some_and(|all| all.control_plane_initialized == Some(true));
    let deleting = is_deleting(facts);
    let cluster = of_cluster(facts);
    let place = secrets::Place { control_plane: facts.control_plane.own(), deleting, now };
    let secret = |use_: SecretUse| {
        let facts = facts.secrets.iter().find(|facts| facts.use_ == use_)?;
        secrets::node(facts, &place)
    };
    let handed_out = [SecretUse::Kubeconfig, SecretUse::UserKubeconfig, SecretUse::CertificateAuthority]
        .into_iter()
        .filter_map(secret);
    match &facts.control_plane {
        Part::NotNamed => None,
        Part::Foreign(part) => {
            let mirrored = cluster.find(type_::CONTROL_PLANE_AVAILABLE);
            let types = [type_::AVAILABLE, type_::READY];
            let node = foreign::part(part, &types, mirrored, FIELD, was_there, deleting)?;
            let reachable = endpoint(facts, cluster.find(type_::REMOTE_CONNECTION_PROBE), node.holds);
            Some(node.with(handed_out).with(reachable))
        }
        Part::Own(part) => {
            let state = own_state(part, FIELD, was_there, deleting)?;
            let conditions = facts.control_plane.own().map(|own| Conditions::of(own.conditions()));
            let conditions = conditions.unwrap_or_default();
            let reachable = endpoint(facts, conditions.find(type_::REACHABLE), state.holds);
            let connection = secret(SecretUse::Connection);
            let applied = part.applied.as_ref().and_then(|applied| terraform::apply(applied, connection));
            Some(
                Node::new("CAPTControlPlane", &part.name, state)
                    .with(applied)
                    .with(handed_out)
                    .with(reachable),
            )
        }
    }
}

/// Whether the API server answers. While its control plane is not ready, that says why.
fn endpoint(facts: &Facts, reachable: Option<&Told>, control_plane_holds: bool) -> Option<Node> {
    let told = reachable?;
    let node = Node::new("Endpoint", address(facts)?, State::told(told));
    let follows = !control_plane_holds || told.is(Reason::CredentialsRejected) || is_deleting(facts);
    Some(if follows { node.following() } else { node })
}

/// Where the API server is, as far as that is known.
pub(in crate::overview) fn address(facts: &Facts) -> Option<String> {
    let own = facts.control_plane.own().and_then(|own| own.spec.control_plane_endpoint.as_ref());
    let known = |endpoint: &&Endpoint| !endpoint.host.is_empty() && endpoint.port != 0;
    let Endpoint { host, port } =
        facts.cluster.spec.control_plane_endpoint.as_ref().filter(known).or(own.filter(known))?;
    // An address with colons has to be told from its port.
    Some(if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") })
}
