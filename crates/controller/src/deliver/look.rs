//! Looks at objects in a cluster.

use capt_api::names::annotation;
use capt_core::manifest::ObjectKey;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::GetParams;
use kube::core::PartialObjectMeta;
use serde_json::Value;

use super::object::{Location, check};
use crate::workload::{Failure, Talk};

/// An object as it is in a cluster; `None` where it is not there, or where the cluster does not serve its kind.
pub(crate) async fn get(talk: &Talk<'_>, key: &ObjectKey) -> Result<Option<Value>, Failure> {
    let Some(location) = locate(talk, key).await?.filter(|_| check(key).is_ok()) else { return Ok(None) };
    unless_absent(talk.send(location.request().get(&key.name, &GetParams::default())).await)?
        .map(|answer| answer.read())
        .transpose()
}

/// Where an object is; `None` where the cluster does not serve its kind.
pub(super) async fn locate(talk: &Talk<'_>, key: &ObjectKey) -> Result<Option<Location>, Failure> {
    let resolved = talk.resolve(&key.api_version, &key.kind).await?;
    Ok(resolved.map(|(resource, scope)| Location::new(key, resource, &scope)))
}

/// What a cluster says of an object, without its content.
pub(super) async fn metadata(talk: &Talk<'_>, location: &Location) -> Result<Option<ObjectMeta>, Failure> {
    let request = location.request().get_metadata(&location.key.name, &GetParams::default());
    let found = unless_absent(talk.send(request).await)?;
    found.map(|answer| answer.read::<PartialObjectMeta>().map(|found| found.metadata)).transpose()
}

/// Whose an object is.
pub(super) fn claim_of(metadata: &ObjectMeta) -> Option<&str> {
    metadata.annotations.as_ref()?.get(annotation::ADDON).map(String::as_str)
}

/// That something is not there is an answer too.
pub(super) fn unless_absent<T>(answer: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Failure::Refused(status)) if status.code == 404 => Ok(None),
        Err(failure) => Err(failure),
    }
}
