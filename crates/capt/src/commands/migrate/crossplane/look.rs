//! Looks at Workspaces before anything is written.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail, ensure};
use capt_api::crd::{Foreign, foreign};
use capt_api::crossplane::ProviderConfigSpec;
use capt_api::names::annotation;
use capt_api::{ProviderConfig, Workspace, WorkspaceTemplateApply};
use capt_controller::install::owner;
use capt_core::name::{is_namespace_name, is_object_name};
use capt_core::tie;
use capt_core::workspace::handover::survey::{Subject, Verdict};
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt};

use super::{Entry, Errand, Outcome, Report, Way};

/// Looks at everything that is to be handed over.
pub(super) async fn look(client: &Client, errand: &Errand) -> anyhow::Result<Report> {
    if errand.way == Way::ToCrossplane {
        ensure_crossplane(client).await?;
    }
    let configs = configs(client).await?;
    let mut workspaces = Vec::new();
    for workspace in named(client, errand).await? {
        workspaces.push(entry(client, errand, &workspace, &configs).await?);
    }
    Ok(Report { way: errand.way, workspaces })
}

/// Whoever hands something over needs somebody who takes it.
async fn ensure_crossplane(client: &Client) -> anyhow::Result<()> {
    let ours = foreign(Foreign::Terraform).into_iter().find(|crd| crd.spec.names.kind == "Workspace");
    let name = ours.context("no kind of Workspaces is known")?.name_any();
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let found = definitions.get_opt(&name).await.with_context(|| format!("reading the CRD `{name}`"))?;
    let theirs = found.as_ref().is_some_and(|crd| owner(crd).is_some());
    ensure!(
        theirs,
        "nobody but CAPT runs Workspaces in this cluster: install Crossplane's provider-terraform first"
    );
    Ok(())
}

async fn configs(client: &Client) -> anyhow::Result<BTreeMap<String, ProviderConfigSpec>> {
    let configs: Api<ProviderConfig> = Api::all(client.clone());
    let found = configs.list(&ListParams::default()).await.context("reading ProviderConfigs")?;
    Ok(found.items.into_iter().map(|config| (config.name_any(), config.spec)).collect())
}

async fn named(client: &Client, errand: &Errand) -> anyhow::Result<Vec<Workspace>> {
    let workspaces: Api<Workspace> = Api::all(client.clone());
    if errand.which.all {
        return Ok(workspaces.list(&ListParams::default()).await.context("reading Workspaces")?.items);
    }
    let mut found = Vec::new();
    for name in &errand.which.names {
        match workspaces.get_opt(name).await.with_context(|| format!("reading Workspace `{name}`"))? {
            Some(workspace) => found.push(workspace),
            None => bail!("there is no Workspace `{name}`: `kubectl get workspaces` lists them"),
        }
    }
    Ok(found)
}

async fn entry(
    client: &Client,
    errand: &Errand,
    workspace: &Workspace,
    configs: &BTreeMap<String, ProviderConfigSpec>,
) -> anyhow::Result<Entry> {
    let note = note(client, workspace).await?;
    let config = configs.get(&workspace.spec.provider_config_ref.name);
    let mut subject = Subject { workspace, config, note: note.as_deref(), state_is_there: false };
    if let Some((namespace, name)) = subject.secret() {
        subject.state_is_there = is_there(client, &namespace, &name).await?;
    }
    let verdict = match errand.way {
        Way::ToCapt => subject.can_be_taken(),
        Way::ToCrossplane => subject.can_be_handed_back(),
    };
    let (outcome, state, message) = match verdict {
        Verdict::NothingToDo => (Outcome::NothingToDo, None, None),
        Verdict::Possible(state) => (Outcome::Planned, Some(state), None),
        Verdict::InTheWay(what) => (Outcome::InTheWay, None, Some(what)),
    };
    Ok(Entry { name: workspace.name_any(), outcome, state, message })
}

/// Where CAPT has noted the state to be: on the apply, or on a Workspace that has none.
async fn note(client: &Client, workspace: &Workspace) -> anyhow::Result<Option<String>> {
    let Some(key) = tie::apply_of(&workspace.metadata) else {
        return Ok(workspace.annotations().get(annotation::STATE).cloned());
    };
    if !is_namespace_name(&key.namespace) || !is_object_name(&key.name) {
        return Ok(None);
    }
    let applies: Api<WorkspaceTemplateApply> = Api::namespaced(client.clone(), &key.namespace);
    let found = applies.get_metadata_opt(&key.name).await;
    let found = found.with_context(|| format!("reading WorkspaceTemplateApply `{key}`"))?;
    Ok(found.and_then(|apply| apply.annotations().get(annotation::STATE).cloned()))
}

async fn is_there(client: &Client, namespace: &str, name: &str) -> anyhow::Result<bool> {
    if !is_object_name(name) {
        return Ok(false);
    }
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let found = secrets.get_metadata_opt(name).await;
    Ok(found.with_context(|| format!("looking for Secret `{namespace}/{name}`"))?.is_some())
}
