//! Takes the apply off what is kept of a Workspace that outlives it, before garbage collection takes it along.

use capt_api::names::{annotation, label};
use capt_core::name::is_namespace_name;
use capt_core::tie::{self, ApplyKey};
use k8s_openapi::api::core::v1::Secret;
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt};
use serde_json::json;

use super::place::kept::{is_apply, merge};
use crate::error::Error;

/// Takes the apply off the owners of everything that is kept under this name in the apply's namespace.
pub(crate) async fn disown(client: &Client, workspace: &str, apply: &ApplyKey) -> Result<(), Error> {
    if !is_namespace_name(&apply.namespace) {
        return Ok(());
    }
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &apply.namespace);
    let doing = format!("keeping what belongs to Workspace `{workspace}`");
    let selector =
        ListParams::default().labels(&format!("{}={}", label::WORKSPACE, tie::label_value(workspace)));
    let kept = secrets.list_metadata(&selector).await.map_err(Error::api(&doing))?;
    for secret in kept
        .items
        .iter()
        .filter(|it| it.annotations().get(annotation::WORKSPACE).is_some_and(|it| it == workspace))
    {
        let (ours, others): (Vec<_>, Vec<_>) =
            secret.owner_references().iter().partition(|owner| is_apply(owner));
        if ours.is_empty() {
            continue;
        }
        let patch = json!({ "metadata": {
            "resourceVersion": secret.resource_version(),
            "ownerReferences": others,
        } });
        Error::unless_gone(merge(&secrets, &secret.name_any(), &patch, &doing).await)?;
    }
    Ok(())
}
