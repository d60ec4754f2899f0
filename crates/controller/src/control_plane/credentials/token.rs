//! The token of a control plane whose tokens CAPT makes: kept until it is time, then made anew.

use std::time::Duration;

use capt_api::CAPTControlPlane;
use capt_api::names::Reason;
use capt_core::apply::Blocked;
use capt_core::cause::sentence;
use capt_core::control_plane::connection::{Access, EksAccess, Source};
use capt_core::control_plane::names;
use capt_core::control_plane::secrets::{Times, Token, is_ours, times_of};
use capt_core::kubeconfig::{self, User};
use capt_core::owned_apply::Owner;
use capt_eks::{Request, Role, renew_at};
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::jiff::Timestamp;
use kube::Api;

use super::{Trouble, audit};
use crate::context::Context;
use crate::error::Error;
use crate::index::Name;
use crate::stop::Stop;
use crate::store::key_of;

/// How soon a token that could not be made is tried again, at first and at most.
const RETRY: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(120));

/// The token to be used.
#[derive(Default)]
pub(super) struct Obtained {
    /// `None` where CAPT makes none.
    pub(super) token: Option<Token>,
    /// When to look again.
    pub(super) next: Option<Timestamp>,
    /// What went wrong although there is a token.
    pub(super) warning: Option<String>,
    /// Whether it was made just now.
    pub(super) fresh: bool,
}

/// Obtains the token of a control plane.
pub(super) async fn obtain(
    control_plane: &CAPTControlPlane,
    cluster: &str,
    source: &Source,
    context: &Context,
) -> Result<Obtained, Trouble> {
    let access = match &source.access {
        // That credentials end has no event.
        Access::AsGiven { expires_at, .. } => {
            return Ok(Obtained { next: *expires_at, ..Obtained::default() });
        }
        Access::Eks(access) => access,
    };
    let key = key_of(&control_plane.metadata);
    let now = context.now();
    let known = context.credentials.with(&key, |memory| memory.token.clone());
    let known = match known {
        Some((of, token, _)) if of == *access => Some(token),
        Some(_) => None,
        None => adopt(control_plane, cluster, source, context).await?,
    };
    let rejected = context.credentials.with(&key, |memory| memory.probe.rejected);
    if let Some(token) = known.clone().filter(|token| now < token.times.renew_at && !rejected) {
        remember(&key, access, &token, now, context);
        return Ok(Obtained { next: Some(token.times.renew_at), token: Some(token), ..Obtained::default() });
    }
    let why = match (&known, rejected) {
        (Some(_), true) => "rejected by the cluster",
        (Some(_), false) => "due for renewal",
        (None, _) => "first token",
    };
    mint(&key, access, known, why, context).await
}

/// A token that an earlier manager made and that is still good: a restart must not renew a whole fleet at once.
async fn adopt(
    control_plane: &CAPTControlPlane,
    cluster: &str,
    source: &Source,
    context: &Context,
) -> Result<Option<Token>, Error> {
    let namespace = key_of(&control_plane.metadata).namespace;
    let name = names::kubeconfig(cluster);
    if context.secrets.get(&Name::new(&namespace, &name)).is_none() {
        return Ok(None);
    }
    let secrets: Api<Secret> = Api::namespaced(context.client.clone(), &namespace);
    let doing = format!("reading Secret `{namespace}/{name}`");
    let Some(secret) = secrets.get_opt(&name).await.map_err(Error::api(doing))? else { return Ok(None) };
    if !is_ours(&secret.metadata, &Owner::of(control_plane)) {
        return Ok(None);
    }
    let value = secret.data.as_ref().and_then(|data| data.get("value"));
    let kubeconfig = value.and_then(|value| kubeconfig::parse(&value.0).ok());
    Ok(
        match (kubeconfig.map(|kubeconfig| (kubeconfig.server, kubeconfig.user)), times_of(&secret.metadata))
        {
            (Some((server, User::EksToken { token })), Some(times)) if server == source.server => {
                Some(Token { value: token, times })
            }
            _ => None,
        },
    )
}

async fn mint(
    key: &Name,
    access: &EksAccess,
    known: Option<Token>,
    why: &'static str,
    context: &Context,
) -> Result<Obtained, Trouble> {
    let name = format!("{}/{}", key.namespace, key.name);
    let now = context.now();
    match context.options.tokens.minter().mint(&request(access)).await {
        Ok(minted) => {
            let times =
                Times { expires_at: minted.expires_at, renew_at: renew_at(&name, now, minted.expires_at) };
            let token = Token { value: minted.value, times };
            audit::minted(&name, access, times, why);
            context.metrics.token_minted(true);
            context.credentials.with(key, |memory| {
                memory.refused = 0;
                memory.probe.rejected = false;
            });
            remember(key, access, &token, now, context);
            Ok(Obtained { next: Some(times.renew_at), token: Some(token), warning: None, fresh: true })
        }
        Err(error) => {
            context.metrics.token_minted(false);
            let message = sentence(&error);
            let valid = known.filter(|token| token.times.expires_at > now);
            audit::not_minted(&name, access, &message, valid.as_ref().map(|token| token.times.expires_at));
            let refused = context.credentials.with(key, |memory| {
                memory.refused = memory.refused.saturating_add(1);
                memory.refused
            });
            let next = now.checked_add(pause(refused)).ok();
            let message =
                format!("no token could be made for EKS cluster `{}`: {message}", access.cluster_name);
            if let Some(token) = valid {
                return Ok(Obtained { token: Some(token), next, warning: Some(message), fresh: false });
            }
            let blocked = Blocked::new(Reason::CredentialsUnavailable, message);
            Err(Trouble { stop: Stop::Blocked(blocked), next })
        }
    }
}

fn remember(key: &Name, access: &EksAccess, token: &Token, now: Timestamp, context: &Context) {
    context.credentials.with(key, |memory| memory.token = Some((access.clone(), token.clone(), now)));
}

fn pause(refused: u32) -> Duration {
    let (first, longest) = RETRY;
    first.saturating_mul(2_u32.saturating_pow(refused.saturating_sub(1).min(16))).min(longest)
}

/// What a token is asked for with.
pub(in crate::control_plane) fn request(access: &EksAccess) -> Request {
    let EksAccess { cluster_name, region, role_arn, external_id } = access;
    let role = role_arn.as_ref().map(|arn| Role { arn: arn.clone(), external_id: external_id.clone() });
    Request { region: region.clone(), cluster_name: cluster_name.clone(), role }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_cannot_be_made_is_tried_again_with_growing_pauses() {
        let pauses: Vec<_> = [1, 2, 3, 1000].map(pause).iter().map(Duration::as_secs).collect();
        assert_eq!(pauses, [5, 10, 20, 120]);
    }
}
