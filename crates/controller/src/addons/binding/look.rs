//! Asks the cluster whether an add-on is ready, and whether its values were taken.

use capt_api::addon_stack::{Addon, Consumer, ReadinessCheck, ValuesStatus};
use capt_api::names::{Reason, annotation};
use capt_core::addon::names::field_manager;
use capt_core::apply::Blocked;
use capt_core::manifest::{Manifest, ObjectKey};
use capt_core::readiness::{self, Health, State};
use capt_core::values::Wanted;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use super::listen::Awaited;
use crate::deliver::get;
use crate::workload::{Failure, Talk};

/// Kinds of the core group and others that are ready as soon as they are there.
const STATIC: [(&str, &str); 17] = [
    ("", "ConfigMap"),
    ("", "Secret"),
    ("", "ServiceAccount"),
    ("", "LimitRange"),
    ("", "ResourceQuota"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("networking.k8s.io", "NetworkPolicy"),
    ("networking.k8s.io", "IngressClass"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("storage.k8s.io", "StorageClass"),
    ("storage.k8s.io", "CSIDriver"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("coordination.k8s.io", "Lease"),
];

/// Whether an add-on is ready: by its own checks, or by everything that it brings. What is not ready is added to those that are
/// awaited.
pub(super) async fn readiness(
    talk: &Talk<'_>,
    addon: &Addon,
    manifests: &[Manifest],
    awaited: &mut Vec<Awaited>,
) -> Result<Health, Blocked> {
    let mut results = Vec::new();
    let mut note = |key: &ObjectKey, object: Option<&Value>, health: &Health| {
        if health.state != State::Current {
            awaited.push(Awaited { key: key.clone(), version: object.and_then(version) });
        }
    };
    if addon.readiness.is_empty() {
        let asked = manifests.iter().map(Manifest::key).filter(|key| !is_static(key));
        for key in asked {
            let object = get(talk, &key).await.map_err(|failure| unreachable(&failure))?;
            let health = object.as_ref().map_or_else(absent, readiness::health);
            note(&key, object.as_ref(), &health);
            results.push((key.to_string(), health));
        }
    } else {
        for check in &addon.readiness {
            let key = key_of(check);
            let object = get(talk, &key).await.map_err(|failure| unreachable(&failure))?;
            let health = readiness::check(check, object.as_ref());
            note(&key, object.as_ref(), &health);
            results.push((key.to_string(), health));
        }
    }
    Ok(readiness::summary(&results))
}

/// The version of an object.
fn version(object: &Value) -> Option<String> {
    object["metadata"]["resourceVersion"].as_str().map(ToOwned::to_owned)
}

fn absent() -> Health {
    Health { state: State::InProgress, message: "it does not exist yet".to_owned() }
}

fn is_static(key: &ObjectKey) -> bool {
    STATIC.contains(&(key.group(), key.kind.as_str()))
}

fn key_of(check: &ReadinessCheck) -> ObjectKey {
    ObjectKey {
        api_version: check.api_version.clone(),
        kind: check.kind.clone(),
        namespace: check.namespace.clone(),
        name: check.name.clone(),
    }
}

/// Who has taken the values. Flux is asked to look where it has not yet.
pub(super) async fn consumers(
    talk: &Talk<'_>,
    claim: &str,
    wanted: &Wanted,
    request: Option<&str>,
    now: &Time,
    before: Option<&ValuesStatus>,
    awaited: &mut Vec<Awaited>,
) -> Result<ValuesStatus, Blocked> {
    let same = before.filter(|before| before.delivered == wanted.digest);
    let mut consumers = Vec::new();
    for key in &wanted.consumers {
        let found = get(talk, key).await.map_err(|failure| unreachable(&failure))?;
        let version = found.as_ref().and_then(version);
        let consumer = consumer(talk, claim, key, wanted, request, found).await?;
        if !consumer.consumed {
            awaited.push(Awaited { key: key.clone(), version });
        }
        consumers.push(consumer);
    }
    Ok(ValuesStatus {
        namespace: wanted.namespace.clone(),
        name: wanted.name.clone(),
        delivered: wanted.digest.clone(),
        delivered_time: same.and_then(|before| before.delivered_time.clone()).or_else(|| Some(now.clone())),
        consumers,
    })
}

async fn consumer(
    talk: &Talk<'_>,
    claim: &str,
    key: &ObjectKey,
    wanted: &Wanted,
    request: Option<&str>,
    found: Option<Value>,
) -> Result<Consumer, Blocked> {
    let Some(found) = found else {
        return Ok(Consumer { name: key.name.clone(), consumed: false, config_digest: None });
    };
    // What Flux is asked with names the values, so that its answer tells which of them it has taken.
    let token = match request {
        Some(request) => format!("{} {request}", wanted.digest),
        None => wanted.digest.clone(),
    };
    let asked = found["metadata"]["annotations"][annotation::FLUX_REQUESTED_AT].as_str();
    if asked != Some(token.as_str()) {
        ask(talk, claim, key, &token).await.map_err(|failure| unreachable(&failure))?;
    }
    let status = &found["status"];
    let consumed = status["lastHandledReconcileAt"].as_str() == Some(token.as_str());
    let config_digest = status["lastAttemptedConfigDigest"].as_str().map(ToOwned::to_owned);
    Ok(Consumer { name: key.name.clone(), consumed, config_digest })
}

/// Asks Flux to look at a `HelmRelease` at once.
async fn ask(talk: &Talk<'_>, claim: &str, key: &ObjectKey, token: &str) -> Result<(), Failure> {
    let Some(releases) = talk.beside(key).await? else { return Ok(()) };
    let patch = json!({
        "apiVersion": key.api_version, "kind": key.kind,
        "metadata": { "name": key.name, "annotations": { annotation::FLUX_REQUESTED_AT: token } },
    });
    let parameters = PatchParams::apply(&format!("{}-request", field_manager(claim))).force();
    talk.ask(releases.patch_metadata(&key.name, &parameters, &Patch::Apply(patch))).await.map(drop)
}

pub(super) fn unreachable(failure: &Failure) -> Blocked {
    let reason = if failure.is_unreachable() { Reason::ClusterUnreachable } else { Reason::ApiError };
    Blocked::new(reason, failure.sentence())
}
