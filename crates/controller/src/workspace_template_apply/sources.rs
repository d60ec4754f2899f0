//! Reads what an apply refers to: Secrets, `ConfigMap`s, other Workspaces, and whether it may.

use std::collections::{BTreeMap, BTreeSet};

use capt_api::WorkspaceTemplateApply;
use capt_api::names::Reason;
use capt_api::reference::{KeySelector, OutputSelector};
use capt_api::workspace_template_apply::VariableSource;
use capt_core::apply::Blocked;
use capt_core::apply::variables::{Found, Sourced};
use capt_core::grant::{Reference, Target, TargetKind};
use capt_core::graph::{self, Applies};
use capt_core::tie::{self, ApplyKey};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;

use crate::context::Context;
use crate::error::Error;
use crate::grants::Grants;
use crate::index::{Dependency, Dependent, Name, Notes};
use crate::stop::Stop;
use crate::store::{Held, Reader};

/// Reads on behalf of one apply, and notes everything it reads.
pub(super) struct Sources<'reconcile> {
    pub(super) apply: &'reconcile WorkspaceTemplateApply,
    pub(super) namespace: &'reconcile str,
    pub(super) context: &'reconcile Context,
    pub(super) notes: &'reconcile Notes<'reconcile, Dependent>,
}

/// What `variablesFrom` gave.
pub(super) struct Findings<'apply> {
    /// Each entry with its value.
    pub(super) sourced: Vec<Sourced<'apply>>,
    /// The versions of the Secrets that values came from, of the same reading.
    pub(super) versions: Vec<String>,
}

impl Applies for Reader<WorkspaceTemplateApply> {
    fn get(&self, key: &ApplyKey) -> Option<impl std::ops::Deref<Target = WorkspaceTemplateApply> + use<>> {
        Reader::get(self, Some(&key.namespace), &key.name)
    }
}

impl Sources<'_> {
    /// Everything that `waitForSecrets` and `waitForWorkspaces` still lack.
    pub(super) async fn await_needs(&self) -> Result<(), Stop> {
        let mut lacking = BTreeSet::new();
        for (index, wait) in self.apply.spec.wait_for_secrets.iter().enumerate() {
            let namespace = self.or_own(wait.namespace.as_deref());
            let target = Target::new(TargetKind::Secret, namespace, &wait.name);
            self.grants()
                .permit(&Reference { field: format!("spec.waitForSecrets[{index}]"), target })
                .await?;
            let secret = self.secret(namespace, &wait.name).await?;
            let data = secret.and_then(|secret| secret.data);
            lacking.extend(lack(data.as_ref(), &wait.keys, &format!("{namespace}/{}", wait.name)));
        }
        if !lacking.is_empty() {
            return Err(
                Blocked::new(Reason::WaitingForSecrets, format!("waiting for {}", join(&lacking))).into()
            );
        }
        for wait in &self.apply.spec.wait_for_workspaces {
            let namespace = self.or_own(wait.namespace.as_deref());
            let need = self.resolve(&wait.name, namespace);
            match self.context.workspaces.get(None, &need.workspace) {
                Some(workspace)
                    if super::observe::facts(&workspace).ready.is_some_and(|ready| ready.holds) => {}
                Some(_) => drop(lacking.insert(format!("Workspace `{}` to be ready", need.workspace))),
                None => drop(lacking.insert(format!("Workspace `{}` to exist", need.workspace))),
            }
        }
        if lacking.is_empty() {
            return Ok(());
        }
        let blocked = match graph::cycle(self.apply, &self.context.applies) {
            Some(cycle) => Blocked::new(
                Reason::DependencyCycle,
                format!(
                    "spec.waitForWorkspaces: these applies wait for each other: {}; take one of the waits away",
                    graph::describe(&cycle)
                ),
            ),
            None => Blocked::new(Reason::WaitingForWorkspaces, format!("waiting for {}", join(&lacking))),
        };
        Err(blocked.into())
    }

    /// What is found for each entry of `variablesFrom`, read once.
    pub(super) async fn variables(&self) -> Result<Findings<'_>, Stop> {
        let mut found = Findings { sourced: Vec::new(), versions: Vec::new() };
        for source in &self.apply.spec.variables_from {
            let value = self.variable(source, &mut found.versions).await?;
            found.sourced.push(Sourced { source, found: value });
        }
        Ok(found)
    }

    async fn variable(&self, source: &VariableSource, versions: &mut Vec<String>) -> Result<Found, Stop> {
        let VariableSource {
            variable,
            config_map_key_ref,
            secret_key_ref,
            workspace_output_ref,
            optional: _,
        } = source;
        let field = format!("spec.variablesFrom: variable `{variable}`");
        if let Some(selector) = config_map_key_ref {
            self.value_of_config_map(&field, selector).await
        } else if let Some(selector) = secret_key_ref {
            self.value_of_secret(&field, selector, versions).await
        } else if let Some(selector) = workspace_output_ref {
            self.value_of_output(&field, selector).await
        } else {
            Ok(missing(&field, "no source is given"))
        }
    }

    async fn value_of_config_map(&self, field: &str, selector: &KeySelector) -> Result<Found, Stop> {
        let KeySelector { name, key, namespace } = selector;
        let namespace = self.or_own(namespace.as_deref());
        let target = Target::new(TargetKind::ConfigMap, namespace, name);
        self.grants().permit(&Reference { field: field.to_owned(), target }).await?;
        self.notes.on(Dependency::ConfigMap(Name::new(namespace, name)));
        let map = self.read::<ConfigMap>(namespace, name).await?;
        let value = map.and_then(|map| map.data).and_then(|mut data| data.remove(key));
        let absent = || missing(field, &format!("ConfigMap `{namespace}/{name}` has no key `{key}`"));
        Ok(value.map_or_else(absent, Found::Text))
    }

    async fn value_of_secret(
        &self,
        field: &str,
        selector: &KeySelector,
        versions: &mut Vec<String>,
    ) -> Result<Found, Stop> {
        let KeySelector { name, key, namespace } = selector;
        let namespace = self.or_own(namespace.as_deref());
        let target = Target::new(TargetKind::Secret, namespace, name);
        self.grants().permit(&Reference { field: field.to_owned(), target }).await?;
        let Secret { metadata, data, .. } = self.secret(namespace, name).await?.unwrap_or_default();
        versions.extend([metadata.uid.unwrap_or_default(), metadata.resource_version.unwrap_or_default()]);
        let value = data.and_then(|mut data| data.remove(key));
        let absent = || missing(field, &format!("Secret `{namespace}/{name}` has no key `{key}`"));
        Ok(value.map_or_else(absent, |value| Found::Secret(value.0)))
    }

    async fn value_of_output(&self, field: &str, selector: &OutputSelector) -> Result<Found, Stop> {
        let OutputSelector { name, output, namespace } = selector;
        let need = self.resolve(name, self.or_own(namespace.as_deref()));
        let Some(workspace) = self.context.workspaces.get(None, &need.workspace) else {
            return Ok(missing(field, &format!("Workspace `{}` does not exist", need.workspace)));
        };
        self.permit_workspace(field, &workspace).await?;
        let reported = workspace.status.as_ref().and_then(|status| status.at_provider.as_ref());
        let value = reported.and_then(|seen| seen.outputs.get(output)).filter(|value| !value.is_null());
        let absent = || {
            let problem = format!(
                "Workspace `{}` has no output `{output}` yet (a sensitive output is only in its connection Secret: use secretKeyRef)",
                need.workspace
            );
            missing(field, &problem)
        };
        Ok(value.cloned().map_or_else(absent, Found::Output))
    }

    /// Who says whether references are granted.
    pub(super) fn grants(&self) -> Grants<'_> {
        Grants { namespace: self.namespace, context: self.context, notes: self.notes }
    }

    /// Outputs of a Workspace are its namespace's: that of the apply that made it.
    async fn permit_workspace(&self, field: &str, workspace: &Held<capt_api::Workspace>) -> Result<(), Stop> {
        match tie::apply_of(&workspace.metadata) {
            Some(maker) if maker.namespace != self.namespace => {
                let name = workspace.metadata.name.clone().unwrap_or_default();
                let target = Target::new(TargetKind::Workspace, &maker.namespace, &name);
                self.grants().permit(&Reference { field: field.to_owned(), target }).await
            }
            _ => Ok(()),
        }
    }

    /// Finds the Workspace that is meant, and notes it and the applies that might make it.
    fn resolve(&self, name: &str, namespace: &str) -> graph::Need {
        for apply in [format!("{name}{}", capt_api::names::APPLY_SUFFIX), name.to_owned()] {
            self.notes.on(Dependency::Apply(Name::new(namespace, apply)));
        }
        let need = graph::resolve(name, namespace, &self.context.applies);
        self.notes.on(Dependency::Workspace(need.workspace.clone()));
        need
    }

    /// The apply's own namespace where none is given.
    fn or_own<'name>(&'name self, namespace: Option<&'name str>) -> &'name str {
        namespace.filter(|namespace| !namespace.is_empty()).unwrap_or(self.namespace)
    }

    async fn secret(&self, namespace: &str, name: &str) -> Result<Option<Secret>, Stop> {
        self.notes.on(Dependency::Secret(Name::new(namespace, name)));
        self.read::<Secret>(namespace, name).await
    }

    async fn read<K>(&self, namespace: &str, name: &str) -> Result<Option<K>, Stop>
    where
        K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
            + Clone
            + DeserializeOwned
            + std::fmt::Debug,
    {
        let api = Api::<K>::namespaced(self.context.client.clone(), namespace);
        let doing = format!("reading {} `{namespace}/{name}`", K::kind(&()));
        Ok(api.get_opt(name).await.map_err(Error::api(doing))?)
    }
}

fn missing(field: &str, what: &str) -> Found {
    Found::Nothing(Blocked::new(Reason::VariableMissing, format!("{field}: {what}")))
}

/// What a Secret lacks: itself, keys, or any data at all.
fn lack(
    data: Option<&BTreeMap<String, k8s_openapi::ByteString>>,
    keys: &[String],
    name: &str,
) -> Vec<String> {
    let is_filled = |key: &str| data.and_then(|data| data.get(key)).is_some_and(|value| !value.0.is_empty());
    if data.is_none_or(|data| data.values().all(|value| value.0.is_empty())) && keys.is_empty() {
        return vec![format!("Secret `{name}` to have data")];
    }
    keys.iter().filter(|key| !is_filled(key)).map(|key| format!("key `{key}` of Secret `{name}`")).collect()
}

fn join(texts: &BTreeSet<String>) -> String {
    texts.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}
