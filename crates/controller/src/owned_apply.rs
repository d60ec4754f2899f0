//! Writes and deletes the `WorkspaceTemplateApply` of a network or a control plane.

use std::fmt::Debug;

use capt_api::WorkspaceTemplateApply;
use capt_api::names::{OWNER_FIELD_MANAGER, annotation, label};
use capt_core::owned_apply::{Owner, Wanted};
use capt_core::owned_state;
use capt_core::standing::api_group;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Patch, PatchParams};
use kube::{Api, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tracing::info;

use crate::context::Context;
use crate::error::Error;
use crate::pause;
use crate::store::Reader;
use crate::write::{ONLY_IF_ABSENT, drop_past};

/// Writes an apply as it should be: a new one where there is none (`present` is `None`), else exactly the one that was seen.
pub(crate) async fn write(
    wanted: &Wanted,
    owner: &Owner,
    present: Option<&WorkspaceTemplateApply>,
    context: &Context,
) -> Result<(), Error> {
    let Wanted { name, .. } = wanted;
    let applies: Api<WorkspaceTemplateApply> = Api::namespaced(context.client.clone(), &owner.namespace);
    let dropped = match present {
        Some(present) => drop_past(&applies, present, owner).await?,
        None => None,
    };
    let present = dropped.as_ref().or(present);
    let mut object = wanted.object(owner, present);
    if present.is_none() {
        object["metadata"]["resourceVersion"] = json!(ONLY_IF_ABSENT);
    }
    if let Some(value) = &context.options.watch_filter {
        // A manager that keeps to a label would not see its own apply otherwise.
        object["metadata"]["labels"][label::WATCH_FILTER] = json!(value);
    }
    let doing = format!("writing WorkspaceTemplateApply `{}/{name}`", owner.namespace);
    let parameters = PatchParams::apply(OWNER_FIELD_MANAGER).force();
    let written =
        applies.patch(name, &parameters, &Patch::Apply(&object)).await.map_err(Error::api(doing))?;
    info!(apply = name, created = present.is_none(), "wrote the apply");
    context.applies.remember(written);
    Ok(())
}

/// Whether a new apply must not be made for this object now: one may have been lost, and its Cluster is paused, which was not seen
/// yet.
pub(crate) async fn is_put_off(
    owner: &ObjectMeta,
    wanted: &Wanted,
    context: &Context,
) -> Result<bool, Error> {
    let namespace = owner.namespace.as_deref().unwrap_or_default();
    Ok(owned_state::is_noted(owner)
        && pause::began_unseen(namespace, wanted.cluster.as_deref(), context).await?)
}

/// Puts into a patch of its owner what was made for an apply.
pub(crate) fn remember_state(patch: &mut Value, state: Option<&str>) {
    if let Some(state) = state {
        patch["metadata"]["annotations"] = json!({ annotation::OWNED_STATE: state });
    }
}

/// Asks for an apply's deletion, which ends when its infrastructure is gone.
pub(crate) async fn delete(apply: &WorkspaceTemplateApply, context: &Context) -> Result<(), Error> {
    let (namespace, name) = (apply.namespace().unwrap_or_default(), apply.name_any());
    let applies: Api<WorkspaceTemplateApply> = Api::namespaced(context.client.clone(), &namespace);
    let doing = format!("deleting WorkspaceTemplateApply `{namespace}/{name}`");
    crate::write::delete(&applies, &name, apply.uid(), &doing).await
}

/// Whoever made this apply forgets its state: everything was destroyed, and what is made next begins anew.
pub(crate) async fn forget_state(apply: &WorkspaceTemplateApply, context: &Context) -> Result<(), Error> {
    forget(apply, &context.control_planes, context).await?;
    forget(apply, &context.networks, context).await
}

async fn forget<K>(apply: &WorkspaceTemplateApply, known: &Reader<K>, context: &Context) -> Result<(), Error>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + DeserializeOwned
        + 'static,
{
    let namespace = apply.namespace().unwrap_or_default();
    let makers = apply.owner_references().iter();
    let maker = makers
        .filter(|maker| maker.kind == K::kind(&()))
        .find(|maker| api_group(&maker.api_version) == K::group(&()));
    let Some(maker) = maker else { return Ok(()) };
    let Some(found) = known.get(Some(&namespace), &maker.name) else { return Ok(()) };
    let is_going = found.meta().deletion_timestamp.is_some();
    if found.meta().uid.as_ref() != Some(&maker.uid)
        || is_going
        || owned_state::remembered(found.meta()).is_none()
    {
        return Ok(());
    }
    let makers: Api<K> = Api::namespaced(context.client.clone(), &namespace);
    let patch = json!({ "metadata": { "uid": maker.uid, "annotations": { annotation::OWNED_STATE: null } } });
    let doing =
        format!("forgetting the state of what was destroyed on {} `{namespace}/{}`", maker.kind, maker.name);
    let forgotten = makers.patch(&maker.name, &PatchParams::default(), &Patch::Merge(patch)).await;
    if let Some(forgotten) = Error::unless_gone(forgotten.map_err(Error::api(doing)))? {
        known.remember(forgotten);
    }
    Ok(())
}
