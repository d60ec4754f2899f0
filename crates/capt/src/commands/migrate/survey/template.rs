//! Finds the template.

use anyhow::{Context as _, bail};
use capt_api::{WorkspaceTemplate, WorkspaceTemplateApply};
use capt_core::migration::{Inline, inline, releases};
use capt_core::name::{is_namespace_name, is_object_name};
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt};

use super::{TemplateKey, named, template_key, uses};
use crate::commands::migrate::{Request, mark::Mark, named as named_releases};

/// The template that is named, or that the named applies use, or the only one that has the releases or is being worked on.
pub(super) async fn find(
    client: &Client,
    request: &Request,
    applies: &[WorkspaceTemplateApply],
) -> anyhow::Result<Option<WorkspaceTemplate>> {
    if let Some(name) = &request.template {
        return read(client, &(request.namespace.clone(), name.clone())).await.map(Some);
    }
    if let Some(name) = request.applies.first() {
        let meant = |apply: &&WorkspaceTemplateApply| {
            apply.namespace().as_ref() == Some(&request.namespace) && apply.name_any() == *name
        };
        let Some(apply) = applies.iter().find(meant) else {
            bail!("there is no WorkspaceTemplateApply `{name}` in the namespace {}", request.namespace);
        };
        return read(client, &uses(apply)).await.map(Some);
    }
    let templates: Api<WorkspaceTemplate> = Api::namespaced(client.clone(), &request.namespace);
    let listed = templates.list(&ListParams::default()).await.context(
        "listing WorkspaceTemplates; if the kind is missing, `capt crds | kubectl apply --server-side -f -` installs it",
    )?;
    let begun = |template: &WorkspaceTemplate| {
        let key = template_key(template);
        applies.iter().any(|apply| uses(apply) == key && matches!(Mark::of(apply), Ok(Some(_)) | Err(_)))
    };
    let mut found: Vec<WorkspaceTemplate> =
        listed.into_iter().filter(|template| has(template, request) || begun(template)).collect();
    if found.len() > 1 {
        let names: Vec<String> = found.iter().map(ResourceExt::name_any).collect();
        bail!(
            "several WorkspaceTemplates of the namespace {} have {}: name one of them with --template: {}",
            request.namespace,
            named_releases(&request.which.releases),
            names.join(", ")
        );
    }
    Ok(found.pop())
}

fn has(template: &WorkspaceTemplate, request: &Request) -> bool {
    match inline(&template.spec.template.spec) {
        Inline::Hcl(text) => releases(text, &request.which.releases).is_ok_and(|found| !found.is_empty()),
        Inline::Json | Inline::Elsewhere => false,
    }
}

async fn read(client: &Client, key: &TemplateKey) -> anyhow::Result<WorkspaceTemplate> {
    let (namespace, name) = key;
    // What an apply refers to may be no name at all.
    if is_namespace_name(namespace) && is_object_name(name) {
        let templates: Api<WorkspaceTemplate> = Api::namespaced(client.clone(), namespace);
        let found = templates.get_opt(name).await;
        if let Some(template) =
            found.with_context(|| format!("reading WorkspaceTemplate `{}`", named(key)))?
        {
            return Ok(template);
        }
    }
    bail!("there is no WorkspaceTemplate `{name}` in the namespace {namespace}")
}
