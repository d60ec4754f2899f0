//! Keeps a control plane's credentials: connection Secret → endpoint and Secrets, on every reconcile.
//!
//! What is known is remembered with the version it was read in, so that nothing is read or written twice.

mod audit;
mod memory;
mod put;
mod read;
mod token;

use std::sync::Arc;
use std::time::Instant;

use capt_api::CAPTControlPlane;
use capt_api::capt_control_plane::SecretState;
use capt_api::endpoint::Endpoint;
use capt_api::names::{Reason, SPEC_FIELD_MANAGER};
use capt_core::apply::Blocked;
use capt_core::control_plane::connection::{Access, Source};
use capt_core::control_plane::secrets::{self, Token, WantedSecret};
use capt_core::control_plane::status::{Probe, Secrets};
use k8s_openapi::jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::json;

pub(crate) use memory::Credentials;
pub(super) use memory::Sight;
pub(super) use token::request;

use super::observe::Seen;
use super::probe;
use crate::context::Context;
use crate::error::Error;
use crate::index::Name;
use crate::metrics::Origin;
use crate::stop::Stop;
use crate::store::key_of;
use crate::write;

/// Where the credentials of a control plane stand.
pub(super) struct Kept {
    pub(super) secrets: Secrets,
    /// The endpoint that is in the spec now.
    pub(super) endpoint: Option<Endpoint>,
    /// What the cluster answered last.
    pub(super) probe: Option<Probe>,
    /// When to look again without an event.
    pub(super) next: Option<Timestamp>,
    /// What could not be done although nothing is wrong with the input.
    pub(super) error: Option<Error>,
}

impl Kept {
    /// Nothing was looked at: all stays as it was told last.
    pub(super) fn nothing(control_plane: &CAPTControlPlane) -> Self {
        let status = control_plane.status.as_ref();
        let told = status.into_iter().flat_map(|status| &status.conditions);
        let told =
            told.filter(|entry| entry.type_ == capt_api::names::condition::SECRETS_READY).find_map(|entry| {
                let reason = Reason::find(&entry.reason)?;
                Some((reason, entry.message.clone()))
            });
        let (reason, message) = told.unwrap_or((Reason::WaitingForConnectionSecret, String::new()));
        let state = status.and_then(|status| status.secret_state).unwrap_or(SecretState::WaitingForSecret);
        Self {
            secrets: Secrets { state, reason, message, news: false, in_place: false },
            endpoint: control_plane.spec.control_plane_endpoint.clone(),
            probe: None,
            next: None,
            error: None,
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        self.secrets.state == SecretState::Ready
    }
}

/// Brings endpoint and Secrets in line with what the module gave.
pub(super) async fn keep(control_plane: &CAPTControlPlane, seen: &Seen, context: &Arc<Context>) -> Kept {
    let started = Instant::now();
    let kept = match follow(control_plane, seen, context).await {
        Ok(kept) => kept,
        Err(Trouble { stop, next }) => trouble(control_plane, stop, next),
    };
    let key = key_of(&control_plane.metadata);
    context.metrics.secrets_kept(&key, kept.secrets.reason, started.elapsed());
    context.metrics.credential_times(context.credentials.times());
    kept
}

/// Why the credentials could not be kept, and when there is more to tell.
struct Trouble {
    stop: Stop,
    next: Option<Timestamp>,
}

impl<S: Into<Stop>> From<S> for Trouble {
    fn from(stop: S) -> Self {
        Self { stop: stop.into(), next: None }
    }
}

async fn follow(
    control_plane: &CAPTControlPlane,
    seen: &Seen,
    context: &Arc<Context>,
) -> Result<Kept, Trouble> {
    let key = key_of(&control_plane.metadata);
    let Some(cluster) = &seen.cluster else {
        let message = "the Secrets are made when the control plane belongs to a Cluster";
        return Err(Blocked::new(Reason::WaitingForConnectionSecret, message).into());
    };
    let (source, read_anew) = read::source(control_plane, seen, context).await?;
    let token = token::obtain(control_plane, cluster, &source, context).await?;
    context.credentials.end(&key, ends(&source, token.token.as_ref()));
    let wanted = secrets::wanted(control_plane, cluster, &source, token.token.as_ref());
    let endpoint = put_endpoint(control_plane, &source, context).await?;
    let written = put::all(control_plane, cluster, &wanted, context).await?;
    let probe = probe::look(control_plane, &wanted, &source, context).await;
    let next = [token.next, probe.next].into_iter().flatten().min();
    let mut secrets = Secrets {
        state: SecretState::Ready,
        reason: Reason::SecretsWritten,
        message: message(&source, token.warning.as_deref()),
        // A renewal is no news, what else is written is.
        news: written && (read_anew || !token.fresh),
        in_place: true,
    };
    if let Some(Probe::Rejected { identity }) = &probe.answer {
        secrets.state = SecretState::Failed;
        secrets.reason = Reason::CredentialsRejected;
        secrets.message = rejection(&source, identity.as_deref());
    }
    context.credentials.settled(&key, written, context.now());
    Ok(Kept { secrets, endpoint: Some(endpoint), probe: probe.answer, next, error: None })
}

/// When the credentials end, if that is known, and who made them.
fn ends(source: &Source, token: Option<&Token>) -> Option<(Origin, Timestamp)> {
    match &source.access {
        Access::AsGiven { expires_at, .. } => expires_at.map(|end| (Origin::Module, end)),
        Access::Eks(_) => token.map(|token| (Origin::Capt, token.times.expires_at)),
    }
}

/// A control plane is gone: nothing is known of it any more.
pub(crate) fn forget(control_plane: &Name, context: &Context) {
    context.credentials.forget(control_plane);
    context.metrics.control_plane_gone(control_plane);
    context.metrics.credential_times(context.credentials.times());
}

/// What is odd but legal is told beside.
fn message(source: &Source, warning: Option<&str>) -> String {
    source.warnings.iter().map(String::as_str).chain(warning).collect::<Vec<_>>().join("; ")
}

fn rejection(source: &Source, identity: Option<&str>) -> String {
    match (&source.access, identity) {
        (Access::Eks(eks), Some(identity)) => format!(
            "EKS cluster `{}` does not accept {identity}: give it access, by an access entry of the cluster (aws_eks_access_entry) or by the module's own setting",
            eks.cluster_name
        ),
        (Access::Eks(eks), None) => format!(
            "EKS cluster `{}` does not accept the identity that CAPT runs as: give it access, or name a role that has access in spec.controlPlaneConfig.identity.roleArn",
            eks.cluster_name
        ),
        (Access::AsGiven { .. }, _) => {
            "the cluster does not accept the credentials of the kubeconfig that the module gave: let the module make new ones".to_owned()
        }
    }
}

/// What could not be done becomes a state: waiting, failed, or still being checked.
fn trouble(control_plane: &CAPTControlPlane, stop: Stop, next: Option<Timestamp>) -> Kept {
    let (state, blocked, error) = match stop {
        Stop::Blocked(blocked) if blocked.reason == Reason::WaitingForConnectionSecret => {
            (SecretState::WaitingForSecret, blocked, None)
        }
        Stop::Blocked(blocked) => (SecretState::Failed, blocked, None),
        Stop::Failed(error) => (SecretState::ValidatingSecret, error.blocked(), Some(error)),
    };
    let before = Kept::nothing(control_plane).secrets;
    let Blocked { reason, message } = blocked;
    let news = before.reason != reason || before.message != message;
    Kept {
        secrets: Secrets { state, reason, message, news, in_place: false },
        endpoint: control_plane.spec.control_plane_endpoint.clone(),
        probe: None,
        next,
        error,
    }
}

/// Writes the endpoint into the spec, where Cluster API looks for it. It is never taken away.
async fn put_endpoint(
    control_plane: &CAPTControlPlane,
    source: &Source,
    context: &Context,
) -> Result<Endpoint, Error> {
    let endpoint = source.endpoint.clone();
    if control_plane.spec.control_plane_endpoint.as_ref() == Some(&endpoint) {
        return Ok(endpoint);
    }
    let (namespace, name) = (control_plane.namespace().unwrap_or_default(), control_plane.name_any());
    let mut patch = write::header::<CAPTControlPlane>(&name);
    patch["metadata"]["uid"] = json!(control_plane.uid());
    patch["spec"] = json!({ "controlPlaneEndpoint": endpoint });
    let control_planes: Api<CAPTControlPlane> = Api::namespaced(context.client.clone(), &namespace);
    let parameters = PatchParams::apply(SPEC_FIELD_MANAGER).force();
    let doing = format!("writing the endpoint of CAPTControlPlane `{namespace}/{name}`");
    let written =
        control_planes.patch(&name, &parameters, &Patch::Apply(&patch)).await.map_err(Error::api(doing))?;
    context.control_planes.remember(written);
    Ok(endpoint)
}

/// The kubeconfig among the Secrets.
pub(super) fn kubeconfig(wanted: &[WantedSecret]) -> Option<&WantedSecret> {
    wanted.iter().find(|secret| secret.purpose == secrets::Purpose::Kubeconfig)
}
