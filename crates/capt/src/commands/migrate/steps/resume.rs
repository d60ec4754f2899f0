//! Lifts the pause.

use anyhow::{Context as _, bail};
use capt_api::crossplane::{FileFormat, ModuleSource};
use capt_api::names::annotation;
use capt_api::workspace_template_apply::UpdatePolicy;
use capt_api::{Cluster, Workspace, WorkspaceTemplateApply};
use capt_core::migration::{Releases, releases};
use kube::runtime::wait::await_condition;
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

use super::Work;
use crate::commands::migrate::WRITER;
use crate::commands::migrate::mark::{Mark, is_paused, is_workspace_paused};
use crate::commands::migrate::survey::{Subject, is_held};

/// Lifts the pause of each apply, and that of its Workspace as soon as the edited module is there. What somebody else has
/// paused stays so, and is told.
pub(super) async fn resume(work: &Work<'_>) -> anyhow::Result<Vec<String>> {
    // All of them first: none waits for another.
    for subject in work.subjects() {
        lift(work, subject).await?;
    }
    let mut left = Vec::new();
    for subject in work.subjects() {
        left.extend(finish(work, subject).await?);
    }
    Ok(left)
}

fn applies(work: &Work<'_>, subject: &Subject) -> Api<WorkspaceTemplateApply> {
    Api::namespaced(work.client.clone(), &subject.key.namespace)
}

fn annotated(key: &str, value: &Value) -> Value {
    json!({ "metadata": { "annotations": { key: value } } })
}

/// Lifts the pause of an apply, if it is ours.
async fn lift(work: &Work<'_>, subject: &Subject) -> anyhow::Result<()> {
    let key = &subject.key;
    let doing = format!("lifting the pause of WorkspaceTemplateApply `{key}`");
    WRITER
        .change(&applies(work, subject), &key.name, &doing, |apply| {
            let ours = Mark::of(apply)?.is_some_and(|mark| mark.paused) && is_paused(apply);
            Ok(ours.then(|| annotated(annotation::PAUSED, &Value::Null)))
        })
        .await
        .map(drop)
}

/// Lifts the pause of a Workspace, and takes the note off its apply; what is left to do, if that is not possible yet.
async fn finish(work: &Work<'_>, subject: &Subject) -> anyhow::Result<Option<String>> {
    let key = &subject.key;
    let doing = format!("reading WorkspaceTemplateApply `{key}`");
    let Some(apply) = applies(work, subject).get_opt(&key.name).await.with_context(|| doing)? else {
        return Ok(None);
    };
    let Some(mark) = Mark::of(&apply)? else { return Ok(None) };
    if let Some(workspace) = subject.workspace.as_ref().filter(|_| mark.workspace_paused) {
        let name = workspace.name_any();
        if let Some(left) = carried(work, subject, &apply, &name).await? {
            return Ok(Some(left));
        }
        let workspaces: Api<Workspace> = Api::all(work.client.clone());
        WRITER
            .change(&workspaces, &name, &format!("lifting the pause of Workspace `{name}`"), |workspace| {
                let paused = is_workspace_paused(workspace);
                Ok(paused.then(|| annotated(annotation::CROSSPLANE_PAUSED, &Value::Null)))
            })
            .await?;
    }
    let doing = format!("taking the note off WorkspaceTemplateApply `{key}`");
    WRITER
        .change(&applies(work, subject), &key.name, &doing, |apply| {
            let noted = apply.annotations().contains_key(annotation::MIGRATION);
            Ok(noted.then(|| annotated(annotation::MIGRATION, &Value::Null)))
        })
        .await?;
    Ok(None)
}

/// Waits until the edited module is in the Workspace; what has to be done first, where somebody has to do something.
async fn carried(
    work: &Work<'_>,
    subject: &Subject,
    apply: &WorkspaceTemplateApply,
    workspace: &str,
) -> anyhow::Result<Option<String>> {
    let key = &subject.key;
    let again = format!("then run this again: Workspace `{workspace}` stays paused until then");
    if is_held(apply, cluster(work, subject).await?.as_ref()) {
        return Ok(Some(format!(
            "WorkspaceTemplateApply `{key}` was paused before: lift its pause, {again}"
        )));
    }
    let workspaces: Api<Workspace> = Api::all(work.client.clone());
    let which = &work.request.which.releases;
    let clean = await_condition(workspaces, workspace, |found: Option<&Workspace>| {
        found.is_none_or(|workspace| !has(workspace, which))
    });
    let asks =
        await_condition(applies(work, subject), &key.name, |found: Option<&WorkspaceTemplateApply>| {
            found.is_none_or(waits_for_approval)
        });
    let doing = || format!("waiting for the edited module in Workspace `{workspace}`");
    tokio::select! {
        // What is there already is not asked for.
        biased;
        clean = clean => clean.map(|_| None).with_context(doing),
        asked = asks => {
            asked.with_context(doing)?;
            Ok(Some(format!(
                "the change of WorkspaceTemplateApply `{key}` waits for approval: annotate it with {}=<its status.pendingDigest>, {again}",
                annotation::APPROVE
            )))
        }
        () = tokio::time::sleep(work.request.timeout) => bail!(
            "CAPT has not carried WorkspaceTemplate `{}` to Workspace `{workspace}` within {} s: see the conditions of WorkspaceTemplateApply `{key}`, and whether a manager runs (`capt manager`, `capt up`)",
            work.survey.template_name(),
            work.request.timeout.as_secs()
        ),
    }
}

async fn cluster(work: &Work<'_>, subject: &Subject) -> anyhow::Result<Option<Cluster>> {
    let Some(name) = subject.cluster.as_ref().map(ResourceExt::name_any) else { return Ok(None) };
    let clusters: Api<Cluster> = Api::namespaced(work.client.clone(), &subject.key.namespace);
    clusters.get_opt(&name).await.with_context(|| format!("reading Cluster `{name}`"))
}

/// Whether a Workspace's module still has one of the releases.
fn has(workspace: &Workspace, which: &Releases) -> bool {
    let module = &workspace.spec.for_provider;
    module.source == ModuleSource::Inline
        && module.inline_format.unwrap_or_default() == FileFormat::Hcl
        && releases(&module.module, which).is_ok_and(|found| !found.is_empty())
}

fn waits_for_approval(apply: &WorkspaceTemplateApply) -> bool {
    let pending = apply.status.as_ref().is_some_and(|status| status.pending_digest.is_some());
    apply.spec.update_policy == UpdatePolicy::Approve && pending
}
