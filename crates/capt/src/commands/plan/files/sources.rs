//! The values that an apply takes from elsewhere: those on disk before those on the server.

use std::collections::BTreeSet;

use anyhow::Context as _;
use capt_api::WorkspaceTemplateApply;
use capt_api::names::Reason;
use capt_api::reference::{KeySelector, OutputSelector};
use capt_api::workspace_template_apply::VariableSource;
use capt_core::apply::Blocked;
use capt_core::apply::variables::{Found, Sourced};
use capt_core::graph;
use capt_core::tie;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::Api;
use serde_json::Value;

use super::Looking;

/// What was found.
pub(super) struct Values<'apply> {
    pub(super) sourced: Vec<Sourced<'apply>>,
    /// Variables whose values nobody knows yet.
    pub(super) unknown: Vec<String>,
    /// What else there is to know.
    pub(super) remarks: Vec<String>,
}

/// What is found for each entry of `variablesFrom`. `changing` are the Workspaces that change themselves.
pub(super) async fn read<'apply>(
    looking: &Looking<'_>,
    apply: &'apply WorkspaceTemplateApply,
    changing: &BTreeSet<String>,
) -> anyhow::Result<Values<'apply>> {
    let mut values = Values { sourced: Vec::new(), unknown: Vec::new(), remarks: Vec::new() };
    for source in &apply.spec.variables_from {
        let found = match &source.workspace_output_ref {
            Some(selector) => output(looking, apply, source, selector, changing, &mut values),
            None => looking
                .key(apply, source)
                .await
                .with_context(|| format!("spec.variablesFrom: variable `{}`", source.variable))?,
        };
        values.sourced.push(Sourced { source, found });
    }
    Ok(values)
}

fn output(
    looking: &Looking<'_>,
    apply: &WorkspaceTemplateApply,
    source: &VariableSource,
    selector: &OutputSelector,
    changing: &BTreeSet<String>,
    values: &mut Values<'_>,
) -> Found {
    let OutputSelector { name, output, namespace } = selector;
    let need = graph::resolve(name, &namespace_or_own(namespace.as_deref(), apply), looking.world);
    let workspace = &need.workspace;
    let observed =
        looking.workspaces.get(workspace).and_then(|found| found.status.as_ref()?.at_provider.as_ref());
    let value = observed.and_then(|observed| observed.outputs.get(output)).filter(|value| !value.is_null());
    match value {
        Some(value) => {
            if changing.contains(workspace) {
                values.remarks.push(format!(
                    "variable `{}` comes from output `{output}` of Workspace `{workspace}`, which changes too: here it is as it is now",
                    source.variable
                ));
            }
            Found::Output(value.clone())
        }
        None if changing.contains(workspace) => {
            values.unknown.push(source.variable.clone());
            Found::Output(Value::from(format!("(known after Workspace `{workspace}` is applied)")))
        }
        None => missing(source, &format!("Workspace `{workspace}` has no output `{output}` yet")),
    }
}

fn namespace_or_own(namespace: Option<&str>, apply: &WorkspaceTemplateApply) -> String {
    let own = apply.metadata.namespace.as_deref().unwrap_or_default();
    namespace.filter(|namespace| !namespace.is_empty()).unwrap_or(own).to_owned()
}

fn missing(source: &VariableSource, what: &str) -> Found {
    let message = format!("spec.variablesFrom: variable `{}`: {what}", source.variable);
    Found::Nothing(Blocked::new(Reason::VariableMissing, message))
}

impl Looking<'_> {
    /// A key of a `ConfigMap` or Secret.
    async fn key(&self, apply: &WorkspaceTemplateApply, source: &VariableSource) -> anyhow::Result<Found> {
        if let Some(KeySelector { name, key, namespace }) = &source.config_map_key_ref {
            let namespace = namespace_or_own(namespace.as_deref(), apply);
            let data = self.config_map(&namespace, name).await?.and_then(|map| map.data);
            let value = data.and_then(|mut data| data.remove(key));
            let absent = || missing(source, &format!("ConfigMap `{namespace}/{name}` has no key `{key}`"));
            return Ok(value.map_or_else(absent, Found::Text));
        }
        if let Some(KeySelector { name, key, namespace }) = &source.secret_key_ref {
            let namespace = namespace_or_own(namespace.as_deref(), apply);
            let value = self.secret(&namespace, name).await?.and_then(|secret| {
                let text = secret.string_data.and_then(|mut texts| texts.remove(key)).map(String::into_bytes);
                text.or_else(|| secret.data?.remove(key).map(|value| value.0))
            });
            let absent = || missing(source, &format!("Secret `{namespace}/{name}` has no key `{key}`"));
            return Ok(value.map_or_else(absent, Found::Secret));
        }
        Ok(missing(source, "no source is given"))
    }

    async fn config_map(&self, namespace: &str, name: &str) -> anyhow::Result<Option<ConfigMap>> {
        if let Some(found) = self.manifests.config_maps.get(&(namespace.to_owned(), name.to_owned())) {
            return Ok(Some(found.clone()));
        }
        let maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), namespace);
        maps.get_opt(name).await.with_context(|| format!("reading ConfigMap `{namespace}/{name}`"))
    }

    pub(super) async fn secret(&self, namespace: &str, name: &str) -> anyhow::Result<Option<Secret>> {
        if let Some(found) = self.manifests.secrets.get(&(namespace.to_owned(), name.to_owned())) {
            return Ok(Some(found.clone()));
        }
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
        secrets.get_opt(name).await.with_context(|| format!("reading Secret `{namespace}/{name}`"))
    }

    /// Workspaces that no manifest leads to and that take outputs of this one.
    pub(super) fn takers(&self, workspace: &str, concerned: &[tie::ApplyKey]) -> Vec<String> {
        let others = self.world.applies.iter().filter(|(key, _)| !concerned.contains(key));
        let takes = |apply: &WorkspaceTemplateApply| {
            apply.spec.variables_from.iter().filter_map(|source| source.workspace_output_ref.as_ref()).any(
                |selector| {
                    let namespace = namespace_or_own(selector.namespace.as_deref(), apply);
                    graph::resolve(&selector.name, &namespace, self.world).workspace == workspace
                },
            )
        };
        others.filter(|(_, apply)| takes(apply)).map(|(_, apply)| tie::workspace_name(apply)).collect()
    }
}
