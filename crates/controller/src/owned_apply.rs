//! Writes and deletes the `WorkspaceTemplateApply` of a network or a control plane.

use capt_api::WorkspaceTemplateApply;
use capt_api::names::{OWNER_FIELD_MANAGER, label};
use capt_core::owned_apply::{Owner, Wanted};
use kube::Api;
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use serde_json::json;
use tracing::info;

use crate::context::Context;
use crate::error::Error;
use crate::write::{ONLY_IF_ABSENT, drop_past};

/// Writes an apply as it should be: a new one where there is none (`present` is `None`), else exactly the one that was seen.
pub(crate) async fn write(
    wanted: &Wanted,
    owner: &Owner,
    present: Option<&WorkspaceTemplateApply>,
    context: &Context,
) -> Result<(), Error> {
    let Wanted { name, .. } = wanted;
    let mut object = wanted.object(owner);
    match present {
        None => object["metadata"]["resourceVersion"] = json!(ONLY_IF_ABSENT),
        Some(present) => object["metadata"]["uid"] = json!(present.uid()),
    }
    if let Some(value) = &context.options.watch_filter {
        // A manager that keeps to a label would not see its own apply otherwise.
        object["metadata"]["labels"][label::WATCH_FILTER] = json!(value);
    }
    let applies: Api<WorkspaceTemplateApply> = Api::namespaced(context.client.clone(), &owner.namespace);
    if let Some(present) = present {
        drop_past(&applies, present, owner).await?;
    }
    let doing = format!("writing WorkspaceTemplateApply `{}/{name}`", owner.namespace);
    let parameters = PatchParams::apply(OWNER_FIELD_MANAGER).force();
    let written =
        applies.patch(name, &parameters, &Patch::Apply(&object)).await.map_err(Error::api(doing))?;
    info!(apply = name, created = present.is_none(), "wrote the apply");
    context.applies.remember(written);
    Ok(())
}

/// Asks for an apply's deletion, which ends when its infrastructure is gone.
pub(crate) async fn delete(apply: &WorkspaceTemplateApply, context: &Context) -> Result<(), Error> {
    let (namespace, name) = (apply.namespace().unwrap_or_default(), apply.name_any());
    let applies: Api<WorkspaceTemplateApply> = Api::namespaced(context.client.clone(), &namespace);
    let doing = format!("deleting WorkspaceTemplateApply `{namespace}/{name}`");
    crate::write::delete(&applies, &name, apply.uid(), &doing).await
}
