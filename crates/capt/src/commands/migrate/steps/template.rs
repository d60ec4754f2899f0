//! Takes the releases out of the template.

use anyhow::ensure;
use capt_api::WorkspaceTemplate;
use capt_core::migration::{Inline, Problem, Which, inline, plan_edit};
use kube::{Api, ResourceExt};
use serde_json::json;

use super::Work;
use crate::commands::migrate::{WRITER, plan};

/// Writes the template without the releases.
pub(super) async fn edit(work: &Work<'_>) -> anyhow::Result<()> {
    let template = &work.survey.template;
    let (namespace, name) = (template.namespace().unwrap_or_default(), template.name_any());
    let templates: Api<WorkspaceTemplate> = Api::namespaced(work.client.clone(), &namespace);
    let doing = format!("writing WorkspaceTemplate `{namespace}/{name}`");
    let (which, _) = plan::which(work.survey, work.request);
    let written = WRITER.change(&templates, &name, &doing, |template| {
        let text = edited(template, &which)?;
        Ok(text
            .map(|text| json!({ "spec": { "template": { "spec": { "forProvider": { "module": text } } } } })))
    });
    ensure!(written.await?.is_some(), "{doing}: it is gone");
    Ok(())
}

/// The template's module without the releases; `None` where it has none.
pub(super) fn edited(template: &WorkspaceTemplate, which: &Which) -> Result<Option<String>, Problem> {
    match inline(&template.spec.template.spec) {
        Inline::Hcl(text) => plan_edit(text, which).map(|edit| edit.changes().then_some(edit.text)),
        Inline::Json | Inline::Elsewhere => Ok(None),
    }
}
