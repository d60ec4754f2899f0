//! The Secrets of a control plane: whether they are there and ours, and when what is in them ends.

use capt_api::CAPTControlPlane;
use capt_api::names::{Reason, condition as type_};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;

use super::Own as _;
use crate::control_plane::secrets::is_ours;
use crate::overview::age::age;
use crate::overview::conditions::{Conditions, Told};
use crate::overview::facts::Seen;
use crate::overview::node::{Mark, Node};
use crate::overview::plain::plain;
use crate::overview::secret::{SecretFacts, SecretSeen, SecretUse};
use crate::overview::state::State;
use crate::owned_apply::Owner;

/// What a Secret is seen beside.
pub(super) struct Place<'facts> {
    /// Whose it is, where that is one of CAPT's.
    pub(super) control_plane: Option<&'facts CAPTControlPlane>,
    pub(super) deleting: bool,
    pub(super) now: Timestamp,
}

impl Place<'_> {
    fn told(&self) -> Option<Told> {
        Conditions::of(self.control_plane?.conditions()).find(type_::SECRETS_READY).cloned()
    }
}

pub(super) fn node(facts: &SecretFacts, place: &Place<'_>) -> Option<Node> {
    let node = |state: State| Node::new("Secret", &facts.name, state);
    match &facts.secret {
        Seen::There(seen) => Some(Node {
            expires_at: seen.expires_at.map(Time),
            renews_at: seen.renews_at.map(Time),
            ..node(there(facts, seen, place))
        }),
        Seen::Missing => missing(facts, place, node),
        Seen::Unread(why) => Some(node(State::unread(why))),
        Seen::NotAsked => None,
    }
}

fn there(facts: &SecretFacts, seen: &SecretSeen, place: &Place<'_>) -> State {
    let created = seen.metadata.creation_timestamp.as_ref().map(|time| time.0);
    if let Some(state) = wrong(facts, seen, place) {
        return state.since(created);
    }
    State::new(Mark::Ready, "", life(seen, place.now)).since(created)
}

/// What is wrong with a Secret that is CAPT's to write.
fn wrong(facts: &SecretFacts, seen: &SecretSeen, place: &Place<'_>) -> Option<State> {
    let failing = |reason: Reason, message: String| Some(State::new(Mark::Failing, reason.as_str(), message));
    if let Some(control_plane) = place.control_plane.filter(|_| facts.use_ != SecretUse::Connection) {
        if !is_ours(&seen.metadata, &Owner::of(control_plane)) {
            let told = place
                .told()
                .filter(|told| told.is(Reason::SecretNotOwned) && told.message.contains(&facts.name));
            let own = || "it was made by somebody else, and CAPT leaves it alone".to_owned();
            return failing(Reason::SecretNotOwned, told.map_or_else(own, |told| told.message));
        }
        if let Some(problem) = &seen.problem {
            return failing(Reason::KubeconfigInvalid, plain(problem));
        }
    }
    let ended = seen.expires_at.filter(|end| *end <= place.now)?;
    failing(Reason::CredentialsExpired, format!("the credentials in it ended at {ended:.0}"))
}

/// When what is in it ends.
fn life(seen: &SecretSeen, now: Timestamp) -> String {
    let at = |end: Timestamp| format!("at {end:.0} (in {})", age(now, end));
    match (seen.expires_at, seen.renews_at) {
        (Some(end), Some(renewal)) => {
            format!("the token in it ends {}, and is renewed at {renewal:.0}", at(end))
        }
        (Some(end), None) if end < Timestamp::MAX => format!("the credentials in it end {}", at(end)),
        (Some(_) | None, _) => String::new(),
    }
}

/// A Secret that is not there: normal for some, and told by the control plane for others.
fn missing(facts: &SecretFacts, place: &Place<'_>, node: impl Fn(State) -> Node) -> Option<Node> {
    if place.deleting {
        return None;
    }
    let told = place.told();
    let promised = told.as_ref().is_some_and(|told| told.holds);
    let awaited = told.is_some_and(|told| {
        told.is(Reason::WaitingForConnectionSecret) || told.is(Reason::ConnectionSecretNotFound)
    });
    let waiting = || Some(node(State::new(Mark::Waiting, "", "it is not there yet")).following());
    match facts.use_ {
        SecretUse::Connection if awaited => waiting(),
        SecretUse::Kubeconfig | SecretUse::CertificateAuthority if promised => {
            Some(node(State::missing("it was made by CAPT and is gone; it is made again")))
        }
        SecretUse::Kubeconfig => waiting(),
        SecretUse::UserKubeconfig | SecretUse::Connection | SecretUse::CertificateAuthority => None,
    }
}
