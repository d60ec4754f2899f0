//! Pauses everything that uses the template.

use anyhow::Context as _;
use capt_api::names::annotation;
use capt_api::{Workspace, WorkspaceTemplateApply};
use kube::Api;
use serde_json::json;

use super::Work;
use crate::commands::migrate::WRITER;
use crate::commands::migrate::mark::{Mark, is_paused, is_workspace_paused};
use crate::commands::migrate::survey::Subject;

/// Pauses each apply and its Workspace, and notes which of the two were not paused before.
///
/// The Workspace has a pause of its own, so that it is not run between the end of its apply's pause and the moment at which
/// the apply has carried the edited module to it.
pub(super) async fn pause(work: &Work<'_>) -> anyhow::Result<()> {
    for subject in work.subjects() {
        let mark = mark(work, subject).await?;
        let workspace = subject.workspace.as_ref().and_then(|workspace| workspace.metadata.name.as_deref());
        if let Some(name) = workspace.filter(|_| mark.workspace_paused) {
            let workspaces: Api<Workspace> = Api::all(work.client.clone());
            WRITER
                .change(&workspaces, name, &format!("pausing Workspace `{name}`"), |workspace| {
                    let patch =
                        json!({ "metadata": { "annotations": { annotation::CROSSPLANE_PAUSED: "true" } } });
                    Ok((!is_workspace_paused(workspace)).then_some(patch))
                })
                .await?;
        }
    }
    Ok(())
}

/// Pauses an apply, and notes on it in the same write that this was done.
async fn mark(work: &Work<'_>, subject: &Subject) -> anyhow::Result<Mark> {
    let key = &subject.key;
    let applies: Api<WorkspaceTemplateApply> = Api::namespaced(work.client.clone(), &key.namespace);
    let workspace_runs = subject.workspace.as_ref().is_some_and(|workspace| !is_workspace_paused(workspace));
    let mut noted = Mark::default();
    WRITER
        .change(&applies, &key.name, &format!("pausing WorkspaceTemplateApply `{key}`"), |apply| {
            let before = Mark::of(apply).with_context(|| format!("reading what is noted on `{key}`"))?;
            noted = before.clone().unwrap_or_else(|| Mark {
                template: work.survey.template_name(),
                paused: !is_paused(apply),
                workspace_paused: workspace_runs,
                addresses: Vec::new(),
            });
            noted.add(&subject.inventory.releases);
            let is_done = before.as_ref() == Some(&noted) && (is_paused(apply) || !noted.paused);
            let mut annotations = json!({ annotation::MIGRATION: noted.text() });
            if noted.paused && !is_paused(apply) {
                annotations[annotation::PAUSED] = "true".into();
            }
            Ok((!is_done).then(|| json!({ "metadata": { "annotations": annotations } })))
        })
        .await?;
    Ok(noted)
}
