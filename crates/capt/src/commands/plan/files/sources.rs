//! The values that an apply takes from elsewhere, as they are on the server.

use anyhow::Context as _;
use capt_api::names::Reason;
use capt_api::reference::KeySelector;
use capt_api::workspace_template_apply::VariableSource;
use capt_api::{Workspace, WorkspaceTemplateApply};
use capt_core::apply::Blocked;
use capt_core::apply::variables::{Found, Sourced};
use capt_core::graph;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, Client};

use super::known::Known;

/// What is found for each entry of `variablesFrom`.
pub(super) async fn read<'apply>(
    client: &Client,
    known: &Known,
    apply: &'apply WorkspaceTemplateApply,
) -> anyhow::Result<Vec<Sourced<'apply>>> {
    let mut sourced = Vec::new();
    for source in &apply.spec.variables_from {
        let found = value(client, known, apply, source).await;
        let found = found.with_context(|| format!("spec.variablesFrom: variable `{}`", source.variable))?;
        sourced.push(Sourced { source, found });
    }
    Ok(sourced)
}

async fn value(
    client: &Client,
    known: &Known,
    apply: &WorkspaceTemplateApply,
    source: &VariableSource,
) -> anyhow::Result<Found> {
    let own = apply.metadata.namespace.as_deref().unwrap_or_default();
    let or_own = |namespace: Option<&str>| namespace.filter(|it| !it.is_empty()).unwrap_or(own).to_owned();
    let missing = |what: String| {
        let message = format!("spec.variablesFrom: variable `{}`: {what}", source.variable);
        Found::Nothing(Blocked::new(Reason::VariableMissing, message))
    };
    if let Some(KeySelector { name, key, namespace }) = &source.config_map_key_ref {
        let namespace = or_own(namespace.as_deref());
        let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
        let data = maps.get_opt(name).await?.and_then(|map| map.data);
        let value = data.and_then(|mut data| data.remove(key));
        return Ok(value.map_or_else(
            || missing(format!("ConfigMap `{namespace}/{name}` has no key `{key}`")),
            Found::Text,
        ));
    }
    if let Some(KeySelector { name, key, namespace }) = &source.secret_key_ref {
        let namespace = or_own(namespace.as_deref());
        let secrets: Api<Secret> = Api::namespaced(client.clone(), &namespace);
        let data = secrets.get_opt(name).await?.and_then(|secret| secret.data);
        let value = data.and_then(|mut data| data.remove(key));
        let absent = || missing(format!("Secret `{namespace}/{name}` has no key `{key}`"));
        return Ok(value.map_or_else(absent, |value| Found::Secret(value.0)));
    }
    let Some(selector) = &source.workspace_output_ref else {
        return Ok(missing("no source is given".to_owned()));
    };
    let need = graph::resolve(&selector.name, &or_own(selector.namespace.as_deref()), known);
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let found = workspaces.get_opt(&need.workspace).await?;
    let outputs = found.and_then(|found| found.status?.at_provider).map(|seen| seen.outputs);
    let value =
        outputs.and_then(|mut outputs| outputs.remove(&selector.output)).filter(|value| !value.is_null());
    let absent =
        || missing(format!("Workspace `{}` has no output `{}` yet", need.workspace, selector.output));
    Ok(value.map_or_else(absent, Found::Output))
}
