//! Writes: server-side apply with CAPT's field manager.

use capt_api::names::FIELD_MANAGER;
use capt_core::owned_apply::{Belongs, Owner, belongs};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use kube::{Api, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tracing::info;

use crate::error::Error;

/// A resource version that no object has: an apply that carries it creates what is absent and is refused for what is there.
pub(crate) const ONLY_IF_ABSENT: &str = "1";

/// Applies an object.
pub(crate) async fn apply<K>(api: &Api<K>, name: &str, object: &Value, doing: &str) -> Result<K, Error>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
{
    api.patch(name, &parameters(), &Patch::Apply(object)).await.map_err(Error::api(doing))
}

/// Applies the status of an object.
pub(crate) async fn apply_status<K, S>(api: &Api<K>, object: &K, status: &S, doing: &str) -> Result<K, Error>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
    S: Serialize,
{
    let patch = status_of(object, status);
    api.patch_status(&name_of(object), &parameters(), &Patch::Apply(patch)).await.map_err(Error::api(doing))
}

/// As [`apply_status`], if the object is still as it was seen.
pub(crate) async fn apply_status_as_seen<K, S>(
    api: &Api<K>,
    object: &K,
    status: &S,
    doing: &str,
) -> Result<K, Error>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
    S: Serialize,
{
    let mut patch = status_of(object, status);
    patch["metadata"]["resourceVersion"] = json!(object.meta().resource_version);
    api.patch_status(&name_of(object), &parameters(), &Patch::Apply(patch)).await.map_err(Error::api(doing))
}

fn name_of<K: Resource<DynamicType = ()>>(object: &K) -> String {
    object.meta().name.clone().unwrap_or_default()
}

fn status_of<K: Resource<DynamicType = ()>, S: Serialize>(object: &K, status: &S) -> Value {
    let mut patch = header::<K>(&name_of(object));
    patch["metadata"]["uid"] = json!(object.meta().uid);
    patch["status"] = json!(status);
    patch
}

/// Takes away the reference to an owner as it was before a restore or a move: an object has one controller at most, and the API
/// server refuses a second one. The object as it is then, where there was one.
pub(crate) async fn drop_past<K>(api: &Api<K>, object: &K, owner: &Owner) -> Result<Option<K>, Error>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
{
    let metadata = object.meta();
    if belongs(metadata, owner) != Belongs::ToOurPast {
        return Ok(None);
    }
    let name = metadata.name.clone().unwrap_or_default();
    let references = metadata.owner_references.iter().flatten();
    let rest: Vec<_> =
        references.filter(|reference| reference.kind != owner.kind || reference.name != owner.name).collect();
    let patch =
        json!({ "metadata": { "ownerReferences": rest, "resourceVersion": metadata.resource_version } });
    let doing = format!("dropping the former owner of {} `{}/{name}`", K::kind(&()), owner.namespace);
    api.patch(&name, &PatchParams::default(), &Patch::Merge(patch)).await.map(Some).map_err(Error::api(doing))
}

/// Takes away our finalizers, all others stay. Nothing is left to do when there are none, or when the object is gone.
pub(crate) async fn release<K>(api: &Api<K>, object: &K, ours: &[&str]) -> Result<(), Error>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
{
    let metadata = object.meta();
    let finalizers = metadata.finalizers.as_deref().unwrap_or_default();
    let (held, rest): (Vec<_>, Vec<_>) = finalizers.iter().partition(|entry| ours.contains(&entry.as_str()));
    if held.is_empty() {
        return Ok(());
    }
    let name = metadata.name.as_deref().unwrap_or_default();
    let patch = json!({ "metadata": { "finalizers": rest, "resourceVersion": metadata.resource_version } });
    let patched = api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await;
    Error::unless_gone(patched.map_err(Error::api(format!("letting go of {} `{name}`", K::kind(&())))))?;
    info!(kind = %K::kind(&()), "let go of the object");
    Ok(())
}

/// Asks for the deletion of exactly the object that was looked at: one of its name that was made since then stays.
pub(crate) async fn delete<K>(api: &Api<K>, name: &str, uid: Option<String>, doing: &str) -> Result<(), Error>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
{
    ask_for_deletion(api, name, Preconditions { uid, resource_version: None }, doing).await
}

/// Asks for the deletion of an object if nobody has changed it since it was seen.
pub(crate) async fn delete_as_seen<K>(api: &Api<K>, seen: &ObjectMeta, doing: &str) -> Result<(), Error>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
{
    let preconditions =
        Preconditions { uid: seen.uid.clone(), resource_version: seen.resource_version.clone() };
    ask_for_deletion(api, seen.name.as_deref().unwrap_or_default(), preconditions, doing).await
}

async fn ask_for_deletion<K>(
    api: &Api<K>,
    name: &str,
    preconditions: Preconditions,
    doing: &str,
) -> Result<(), Error>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
{
    let parameters = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
    Error::unless_gone(api.delete(name, &parameters).await.map_err(Error::api(doing)))?;
    info!(kind = %K::kind(&()), name, "asked for its deletion");
    Ok(())
}

/// API version, kind and name.
pub(crate) fn header<K: Resource<DynamicType = ()>>(name: &str) -> Value {
    json!({ "apiVersion": K::api_version(&()), "kind": K::kind(&()), "metadata": { "name": name } })
}

fn parameters() -> PatchParams {
    PatchParams::apply(FIELD_MANAGER).force()
}
