//! Carries out what was decided about an apply. Every write can be repeated.

use capt_api::names::{FIELD_MANAGER, annotation, finalizer, label};
use capt_api::{Workspace, WorkspaceTemplateApply};
use capt_core::apply::decide::{Found, Mode, Observed, Record, Step};
use capt_core::apply::render::Rendered;
use capt_core::field_ownership;
use capt_core::standing::cluster_name;
use capt_core::tie::{self, ApplyKey};
use capt_core::workspace::handover::handover;
use capt_core::workspace::handover::made::{self, Note};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use tracing::info;

use super::observe::Seen;
use super::secret_file;
use crate::context::Context;
use crate::error::Error;
use crate::{freezing, owned_apply, pause, write};

/// What came of a step.
pub(super) enum Done {
    /// Nothing was to be done but wait or tell.
    Waited,
    /// The apply itself has changed: look again at once.
    Again,
    /// The Workspace was written.
    Written {
        /// Its generation.
        generation: Option<i64>,
    },
    /// The apply was let go and may be gone by now.
    Released,
}

/// Carries out a step.
pub(super) async fn act(
    apply: &WorkspaceTemplateApply,
    step: &Step,
    seen: &Seen,
    context: &Context,
) -> Result<Done, Error> {
    match step {
        Step::Leave
        | Step::Pause(_)
        | Step::AwaitDependents(_)
        | Step::AwaitDeletion { .. }
        | Step::Hold(_)
        | Step::HoldChange { .. }
        | Step::Settled { .. } => Ok(Done::Waited),
        Step::Claim(record) => claim(apply, record, context).await.map(|()| Done::Again),
        Step::Note(note) => note_made(apply, *note, context).await.map(|()| Done::Again),
        Step::TakeOver { mode, found, .. } => {
            let generation = write_workspace(apply, mode, found, seen, context).await?;
            Ok(Done::Written { generation })
        }
        Step::Write { mode: Mode::Create, .. } if is_paused_unseen(apply, context).await? => Ok(Done::Again),
        Step::Write { mode, rendered } => carry_over(apply, mode, rendered, seen, context).await,
        Step::DeleteWorkspace { name, uid } => {
            delete(name, uid.clone(), context).await.map(|()| Done::Waited)
        }
        Step::Retain { workspace } => {
            cut_tie(apply, workspace, context).await?;
            release(apply, context).await
        }
        Step::LetGo { workspace } => {
            if let Some(workspace) = workspace {
                freezing::freeze(&context.client, workspace, None).await?;
            }
            release(apply, context).await
        }
        Step::Finish => {
            // One that stays is taken up again.
            if matches!(seen.observed, Observed::Deleting { state: None, .. }) {
                owned_apply::forget_state(apply, context).await?;
            }
            release(apply, context).await
        }
    }
}

fn applies(apply: &WorkspaceTemplateApply, context: &Context) -> Api<WorkspaceTemplateApply> {
    Api::namespaced(context.client.clone(), &apply.namespace().unwrap_or_default())
}

async fn is_paused_unseen(apply: &WorkspaceTemplateApply, context: &Context) -> Result<bool, Error> {
    let namespace = apply.namespace().unwrap_or_default();
    pause::began_unseen(&namespace, cluster_name(&apply.metadata), context).await
}

/// Takes hold of the apply and notes the Workspace's name, before there is a Workspace.
async fn claim(apply: &WorkspaceTemplateApply, record: &Record, context: &Context) -> Result<(), Error> {
    let Record { workspace, digest, found, kept_as } = record;
    let name = apply.name_any();
    let mut patch = write::header::<WorkspaceTemplateApply>(&name);
    patch["metadata"]["uid"] = json!(apply.uid());
    patch["metadata"]["finalizers"] = json!([finalizer::WORKSPACE]);
    patch["metadata"]["annotations"] = json!({ annotation::WORKSPACE_NAME: workspace });
    if let Some(digest) = digest {
        patch["metadata"]["annotations"][annotation::APPLIED_DIGEST] = json!(digest);
    }
    if let Some(found) = found {
        patch["metadata"]["annotations"][annotation::FOUND_DIGEST] = json!(found);
    }
    if let Some(kept_as) = kept_as {
        patch["metadata"]["annotations"][annotation::KEPT_AS] = json!(kept_as);
    }
    let doing = format!("noting Workspace `{workspace}` on WorkspaceTemplateApply `{}`", ApplyKey::of(apply));
    let claimed = write::apply(&applies(apply, context), &name, &patch, &doing).await?;
    context.applies.remember(claimed);
    Ok(())
}

/// Notes what Crossplane has made. Not by server-side apply: after a move the note is somebody else's, and an apply could not
/// take it away.
async fn note_made(apply: &WorkspaceTemplateApply, note: Note, context: &Context) -> Result<(), Error> {
    let doing =
        format!("noting on WorkspaceTemplateApply `{}` what Crossplane has made", ApplyKey::of(apply));
    annotate(apply, &json!(note.annotations()), &doing, context).await
}

/// Merges annotations into those of the apply, whoever wrote them.
async fn annotate(
    apply: &WorkspaceTemplateApply,
    annotations: &Value,
    doing: &str,
    context: &Context,
) -> Result<(), Error> {
    let patch = json!({ "metadata": { "uid": apply.uid(), "annotations": annotations } });
    let api = applies(apply, context);
    let patched = api.patch(&apply.name_any(), &PatchParams::default(), &Patch::Merge(patch)).await;
    context.applies.remember(patched.map_err(Error::api(doing))?);
    Ok(())
}

/// Writes the Workspace, with the Secret of its secret values before it; those of earlier values go after it.
async fn carry_over(
    apply: &WorkspaceTemplateApply,
    mode: &Mode,
    rendered: &Rendered,
    seen: &Seen,
    context: &Context,
) -> Result<Done, Error> {
    if let Some(file) = &seen.secret_file {
        file.write(apply, context).await?;
    }
    let generation = write_workspace(apply, mode, rendered, seen, context).await?;
    let keep = seen.secret_file.as_ref().map(|file| file.name.as_str());
    if keep.is_some() || !matches!(mode, Mode::Create) {
        secret_file::delete_others(apply, keep, context).await?;
    }
    Ok(Done::Written { generation })
}

async fn write_workspace(
    apply: &WorkspaceTemplateApply,
    mode: &Mode,
    rendered: &Rendered,
    seen: &Seen,
    context: &Context,
) -> Result<Option<i64>, Error> {
    let name = tie::workspace_name(apply);
    let verb = match mode {
        Mode::Create => "creating",
        Mode::Update { .. } => "updating",
        Mode::Adopt { .. } => "taking over",
    };
    if let Observed::Active { workspace: Some(workspace), .. } = &seen.observed
        && workspace.is_frozen()
    {
        freezing::take_back(&context.client, &name).await?;
    }
    if matches!(mode, Mode::Create) {
        drop_approval(apply, context).await?;
    }
    let workspaces: Api<Workspace> = Api::all(context.client.clone());
    let doing = format!("{verb} Workspace `{name}`");
    let mut object = workspace(apply, &name, mode, rendered);
    if let Some(present) = present(mode, &name, seen, context).await? {
        for (key, value) in made::repeated(&present) {
            object["metadata"]["annotations"][key] = json!(value);
        }
        // What is decided rests on the spec as it was read, and what is repeated must be so still.
        object["metadata"]["resourceVersion"] = json!(present.resource_version);
    } else if *mode == Mode::Create {
        let serves = context.terraform.as_ref().and_then(|terraform| terraform.serves());
        for (key, value) in made::at_birth(&apply.metadata, serves) {
            object["metadata"]["annotations"][key] = json!(value);
        }
    }
    let mut written = write::apply(&workspaces, &name, &object, &doing).await?;
    info!(workspace = name, digest = rendered.digest, verb, "wrote the Workspace");
    crate::watches::trim_workspace(&mut written);
    let generation = written.metadata.generation;
    context.workspaces.remember(written);
    Ok(generation)
}

/// A plan that was approved for the Workspace as it was before a move or a loss is not approved for the one that is made again.
async fn drop_approval(apply: &WorkspaceTemplateApply, context: &Context) -> Result<(), Error> {
    let annotations = apply.annotations();
    if !annotations.contains_key(annotation::STATE) || !annotations.contains_key(annotation::APPROVE_PLAN) {
        return Ok(());
    }
    let doing = format!(
        "taking the approval of an earlier plan off WorkspaceTemplateApply `{}`",
        ApplyKey::of(apply)
    );
    annotate(apply, &json!({ annotation::APPROVE_PLAN: null }), &doing, context).await
}

/// The metadata of the Workspace that a write depends on: where it rests on a spec that was read, and where something on it says
/// who runs it.
async fn present(
    mode: &Mode,
    name: &str,
    seen: &Seen,
    context: &Context,
) -> Result<Option<ObjectMeta>, Error> {
    let Observed::Active { workspace, found, .. } = &seen.observed else { return Ok(None) };
    if let Some(found) = found {
        return take_fields(name, found, context).await.map(Some);
    }
    let passes = workspace.as_ref().is_some_and(|workspace| handover(&workspace.metadata).is_some());
    if *mode == Mode::Create || !passes {
        return Ok(None);
    }
    let workspaces: Api<Workspace> = Api::all(context.client.clone());
    let doing = format!("reading Workspace `{name}`");
    Ok(Some(workspaces.get_metadata(name).await.map_err(Error::api(doing))?.metadata))
}

/// Makes the fields of a spec ours which others wrote by an update, as the earlier implementation did: what is no longer in the
/// template would stay otherwise. Nothing else of the Workspace changes. Returns the metadata that it has then.
async fn take_fields(name: &str, found: &Found, context: &Context) -> Result<ObjectMeta, Error> {
    let doing = format!("taking over the fields of Workspace `{name}`");
    let workspaces: Api<Workspace> = Api::all(context.client.clone());
    let present = workspaces.get_metadata(name).await.map_err(Error::api(&doing))?.metadata;
    let fields = present.managed_fields.clone().unwrap_or_default();
    let Some(fields) = field_ownership::take_spec(&fields, FIELD_MANAGER) else {
        return Ok(ObjectMeta { resource_version: found.resource_version.clone(), ..present });
    };
    let patch = json!({ "metadata": { "managedFields": fields, "resourceVersion": found.resource_version } });
    let patched = workspaces.patch_metadata(name, &PatchParams::default(), &Patch::Merge(patch)).await;
    Ok(patched.map_err(Error::api(doing))?.metadata)
}

fn workspace(apply: &WorkspaceTemplateApply, name: &str, mode: &Mode, rendered: &Rendered) -> Value {
    let key = ApplyKey::of(apply);
    let mut object = write::header::<Workspace>(name);
    let metadata = &mut object["metadata"];
    match mode {
        Mode::Create => metadata["resourceVersion"] = json!(write::ONLY_IF_ABSENT),
        Mode::Update { uid } | Mode::Adopt { uid } => metadata["uid"] = json!(uid),
    }
    let uid = apply.uid().unwrap_or_default();
    metadata["labels"] = json!(tie::labels(&key, &uid, cluster_name(&apply.metadata)));
    metadata["annotations"] = json!({
        annotation::APPLY: key.to_string(),
        annotation::APPLIED_DIGEST: rendered.digest,
    });
    // Whatever the Workspace is called here, what is kept of it goes by the name that it had when that was made.
    let kept_as = tie::kept_name(apply);
    if kept_as != name {
        metadata["annotations"][annotation::KEPT_AS] = json!(kept_as);
    }
    if let Some(noted) = tie::noted_terraform_workspace(apply)
        && noted != tie::label_value(&kept_as)
    {
        metadata["annotations"][annotation::EXTERNAL_NAME] = json!(noted);
    }
    object["spec"] = rendered.spec.clone();
    object
}

async fn delete(name: &str, uid: Option<String>, context: &Context) -> Result<(), Error> {
    let workspaces: Api<Workspace> = Api::all(context.client.clone());
    write::delete(&workspaces, name, uid, &format!("deleting Workspace `{name}`")).await
}

/// The Workspace stays and is nobody's: owners of ours are taken away first, so that garbage collection leaves it alone.
///
/// What Terraform keeps stays where it is: the Workspace says where, since its apply no longer does.
async fn cut_tie(apply: &WorkspaceTemplateApply, name: &str, context: &Context) -> Result<(), Error> {
    let key = ApplyKey::of(apply);
    crate::workspace::disown(&context.client, &tie::kept_name(apply), &key).await?;
    let state = apply.annotations().get(annotation::STATE);
    let workspaces: Api<Workspace> = Api::all(context.client.clone());
    let found = workspaces.get_opt(name).await.map_err(Error::api(format!("reading Workspace `{name}`")))?;
    let Some(workspace) = found else { return Ok(()) };
    let owners: Vec<_> = workspace
        .owner_references()
        .iter()
        .filter(|owner| !owner.api_version.contains("cluster.x-k8s.io/"))
        .collect();
    let patch = json!({ "metadata": {
        "resourceVersion": workspace.resource_version(),
        "ownerReferences": owners,
        "labels": { label::MANAGED_BY: null, label::APPLY_NAMESPACE: null, label::APPLY_NAME: null, label::APPLY_UID: null },
        "annotations": {
            annotation::APPLY: null,
            annotation::APPLIED_DIGEST: null,
            annotation::STATE: state,
        },
    } });
    let doing = format!("cutting the tie to Workspace `{name}`");
    workspaces
        .patch(name, &PatchParams::default(), &Patch::Merge(patch))
        .await
        .map(drop)
        .map_err(Error::api(doing))
}

/// Lets go of the apply: our finalizer, and that of the earlier implementation, are taken away.
async fn release(apply: &WorkspaceTemplateApply, context: &Context) -> Result<Done, Error> {
    let ours = [finalizer::WORKSPACE, finalizer::LEGACY];
    write::release(&applies(apply, context), apply, &ours).await?;
    Ok(Done::Released)
}
