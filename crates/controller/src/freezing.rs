//! Freezes Workspaces that belong to another cluster now, and takes them back.
//!
//! The annotations have a field manager of their own, so that giving none takes them away and leaves a user's pause alone.

use capt_api::Workspace;
use capt_api::names::FREEZING_FIELD_MANAGER;
use capt_core::workspace::handover::frozen;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use serde_json::{Value, json};

use crate::error::Error;
use crate::write;

/// The Workspace belongs to another cluster now: whoever runs Terraform here must not touch it any more. Its metadata as it is
/// then; nothing where it is gone, or where it is another than the one with this uid.
pub(crate) async fn freeze(
    client: &Client,
    name: &str,
    uid: Option<&str>,
) -> Result<Option<ObjectMeta>, Error> {
    let frozen = set(client, name, uid, frozen(), &format!("freezing Workspace `{name}`")).await;
    Error::unless_gone(frozen).map(Option::flatten)
}

/// The apply of the Workspace is here again.
pub(crate) async fn take_back(client: &Client, name: &str) -> Result<(), Error> {
    set(client, name, None, json!({}), &format!("taking Workspace `{name}` back")).await.map(drop)
}

async fn set(
    client: &Client,
    name: &str,
    uid: Option<&str>,
    annotations: Value,
    doing: &str,
) -> Result<Option<ObjectMeta>, Error> {
    let workspaces: Api<Workspace> = Api::all(client.clone());
    // An apply would make a Workspace that is not there.
    let found = workspaces.get_metadata(name).await.map_err(Error::api(doing))?;
    if uid.is_some_and(|uid| found.metadata.uid.as_deref() != Some(uid)) {
        return Ok(None);
    }
    let written = write(&workspaces, name, (found.metadata.uid, None), annotations, doing).await?;
    Ok(Some(written.metadata))
}

/// Writes these annotations and no others to the Workspace with this uid, and in this version if one is given.
pub(crate) async fn write(
    workspaces: &Api<Workspace>,
    name: &str,
    (uid, version): (Option<String>, Option<String>),
    annotations: Value,
    doing: &str,
) -> Result<Workspace, Error> {
    let mut patch = write::header::<Workspace>(name);
    patch["metadata"]["uid"] = json!(uid);
    patch["metadata"]["annotations"] = annotations;
    if let Some(version) = version {
        patch["metadata"]["resourceVersion"] = json!(version);
    }
    let parameters = PatchParams::apply(FREEZING_FIELD_MANAGER).force();
    workspaces.patch(name, &parameters, &Patch::Apply(patch)).await.map_err(Error::api(doing))
}
