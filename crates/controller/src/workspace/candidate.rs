//! Other content of a Workspace that somebody wants to see planned before he applies it.
//!
//! It lies in a Secret, since values from Secrets may be in it, which the Workspace owns. The request names the very version of
//! the Secret: what somebody else has written there since is not planned.

use std::collections::BTreeMap;

use capt_api::Workspace;
use capt_api::crossplane::ForProvider;
use capt_api::names::{Reason, annotation};
use capt_core::apply::Blocked;
use capt_core::apply::render::SECRET_FILE_KEY;
use capt_core::workspace::observed::Memory;
use capt_terraform::{Backend, EarlierState, Identity};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client, Resource, ResourceExt};
use serde_json::json;

use super::inputs::Resolved;
use super::place::Place;
use super::place::kept::{self, Role};
use crate::error::Error;
use crate::write;

/// The key of the request that it is for.
const REQUEST: &str = "request";
/// The key of the content: a Workspace's `spec.forProvider`.
const FOR_PROVIDER: &str = "forProvider.json";
/// Leaves room for the rest of an object, which is at most 1 MiB.
pub(super) const LARGEST: usize = 1000 << 10;

/// Content that is to be planned.
pub(super) struct Candidate<'content> {
    /// The request that it is for.
    pub(super) request: &'content str,
    /// What stands in for the Workspace's own.
    pub(super) for_provider: &'content ForProvider,
    /// The file with secret values that it refers to.
    pub(super) values: Option<&'content str>,
}

/// The name of the Secret.
pub(super) fn name(place: &Place) -> String {
    format!("capt-candidate-{}", place.short_name())
}

/// Writes the content down, in place of any other. The answer goes into the annotation that asks for it.
pub(super) async fn put(
    client: &Client,
    place: &Place,
    candidate: &Candidate<'_>,
) -> Result<Result<String, Blocked>, Error> {
    let Candidate { request, for_provider, values } = candidate;
    let content = json!(for_provider).to_string();
    let size = content.len() + values.map_or(0, str::len);
    if size > LARGEST {
        let message = format!(
            "what is to be planned has {size} bytes, more than the {LARGEST} that can be handed over: make the module smaller, or let it come from elsewhere"
        );
        return Ok(Err(Blocked::new(Reason::WorkspaceTooLarge, message)));
    }
    let (api, name) = (secrets(client, place), name(place));
    let doing = format!("writing what is to be planned into Secret `{}/{name}`", place.namespace);
    let mut secret = write::header::<Secret>(&name);
    let mut metadata = place.metadata(Role::Candidate, &name);
    // Not the apply, which takes along what it owns when it is moved.
    metadata.owner_references = None;
    secret["metadata"] = json!(metadata);
    secret["metadata"]["ownerReferences"] = json!([{
        "apiVersion": Workspace::api_version(&()),
        "kind": Workspace::kind(&()),
        "name": place.workspace,
        "uid": place.workspace_uid,
    }]);
    match api.get_metadata_opt(&name).await.map_err(Error::api(&doing))? {
        Some(found) if !place.made(&found.metadata) => {
            return Err(kept::not_ours::<Secret>(&doing, &place.namespace, &name));
        }
        Some(found) => secret["metadata"]["uid"] = json!(found.uid()),
        None => secret["metadata"]["resourceVersion"] = json!(write::ONLY_IF_ABSENT),
    }
    let values = values.map(|values| (SECRET_FILE_KEY, values));
    let texts = [(REQUEST, *request), (FOR_PROVIDER, content.as_str())].into_iter().chain(values);
    // Not as `stringData`, of which nothing would go away that is not in it any more.
    let data: BTreeMap<&str, ByteString> =
        texts.map(|(key, text)| (key, ByteString(text.as_bytes().to_vec()))).collect();
    secret["type"] = json!("Opaque");
    secret["data"] = json!(data);
    let written = write::apply(&api, &name, &secret, &doing).await?;
    let (uid, version) = (written.uid().unwrap_or_default(), written.resource_version().unwrap_or_default());
    Ok(Ok(format!("{request} {uid} {version}")))
}

/// Whether a request is for other content.
pub(super) fn is_asked(workspace: &Workspace, request: &str) -> bool {
    mark(workspace).next() == Some(request)
}

fn mark(workspace: &Workspace) -> impl Iterator<Item = &str> {
    workspace.annotations().get(annotation::PLAN_CANDIDATE).into_iter().flat_map(|mark| mark.split(' '))
}

/// The content that a request is for; an answer where it is not there as it was asked for.
pub(super) async fn read(
    client: &Client,
    place: &Place,
    workspace: &Workspace,
    request: &str,
) -> Result<Result<ForProvider, Blocked>, Error> {
    let name = name(place);
    let doing = format!("reading what is to be planned from Secret `{}/{name}`", place.namespace);
    let found = secrets(client, place).get_opt(&name).await.map_err(Error::api(doing))?;
    let asked: Vec<&str> = mark(workspace).skip(1).collect();
    let is_meant = |found: &Secret| {
        let held = [found.uid().unwrap_or_default(), found.resource_version().unwrap_or_default()];
        let data = found.data.as_ref().and_then(|data| data.get(REQUEST));
        place.made(&found.metadata) && asked == held && data.is_some_and(|held| held.0 == request.as_bytes())
    };
    let Some(found) = found.filter(is_meant) else {
        let message = format!(
            "Secret `{}/{name}` with what was to be planned is gone or was written anew: ask again",
            place.namespace
        );
        return Ok(Err(Blocked::new(Reason::InputMissing, message)));
    };
    let content = found.data.as_ref().and_then(|data| data.get(FOR_PROVIDER));
    let read = content.and_then(|content| serde_json::from_slice(&content.0).ok());
    Ok(read.ok_or_else(|| {
        let message = format!(
            "Secret `{}/{name}`, key `{FOR_PROVIDER}`: this is no spec.forProvider of a Workspace",
            place.namespace
        );
        Blocked::new(Reason::InvalidRun, message)
    }))
}

/// The same in a working directory of its own, which is removed as one that belongs to no Workspace; with the state where it
/// is.
pub(super) fn aside(mut resolved: Resolved, place: &Place, memory: &Memory) -> Result<Resolved, Blocked> {
    let identity = Identity::try_from(format!("{}-candidate", place.workspace_uid));
    resolved.run.identity =
        identity.map_err(|invalid| Blocked::new(Reason::InvalidRun, invalid.to_string()))?;
    resolved.run.earlier_state = match (&resolved.run.backend, &memory.elsewhere) {
        (Backend::Kubernetes { .. }, Some(kind)) => EarlierState::Declared(kind.clone()),
        (Backend::Kubernetes { .. }, None) => EarlierState::AsGiven,
        (Backend::Declared { .. } | Backend::Local, _) => EarlierState::Anywhere,
    };
    Ok(resolved)
}

/// Removes the content, whoever it was for.
pub(super) async fn remove(client: &Client, place: &Place) -> Result<(), Error> {
    let (api, name) = (secrets(client, place), name(place));
    let doing = format!("removing what was planned from Secret `{}/{name}`", place.namespace);
    let found = api.get_metadata_opt(&name).await.map_err(Error::api(&doing))?;
    match found.filter(|found| place.made(&found.metadata)) {
        Some(found) => kept::remove(&api, &found.metadata, &doing).await,
        None => Ok(()),
    }
}

fn secrets(client: &Client, place: &Place) -> Api<Secret> {
    Api::namespaced(client.clone(), &place.namespace)
}
