//! CAPT's manager at work on the real CRDs.

use std::time::Duration;

use anyhow::{Context, bail, ensure};
use capt_api::names::label;
use capt_api::{Workspace, WorkspaceTemplate, WorkspaceTemplateApply};
use capt_controller::manager;
use capt_controller::options::Options;
use k8s_openapi::NamespaceResourceScope;
use kube::api::{Api, ListParams, PostParams};
use kube::{Client, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::repository::{examples, waits_for_nothing};

const MADE_WITHIN: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(100);

/// Every example that waits for nothing gets its Workspace, as the real CRD has it.
pub(super) async fn derives_the_examples(client: &Client) -> anyhow::Result<()> {
    let stop = CancellationToken::new();
    let manager = tokio::spawn(manager::run(client.clone(), Options::default(), stop.clone()));
    let _templates: Vec<WorkspaceTemplate> = create_all(client, "WorkspaceTemplate").await?;
    let applies: Vec<WorkspaceTemplateApply> = create_all(client, "WorkspaceTemplateApply").await?;
    for apply in applies.iter().filter(|apply| waits_for_nothing(apply)) {
        let name = apply.name_any();
        let Ok(workspace) = timeout(MADE_WITHIN, workspace_of(client, apply)).await else {
            let status = applies_of(client).get(&name).await?.status;
            bail!("no Workspace of {name} within {MADE_WITHIN:?}; its status is {status:#?}");
        };
        let workspace = workspace?;
        println!("ok: {name} became the Workspace {} on the real CRD", workspace.name_any());
    }
    stop.cancel();
    manager.await.context("the manager panicked")??;
    Ok(())
}

async fn create_all<K>(client: &Client, kind: &str) -> anyhow::Result<Vec<K>>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    K: Clone + std::fmt::Debug + Serialize + DeserializeOwned,
{
    let objects: Api<K> = Api::default_namespaced(client.clone());
    let mut created = Vec::new();
    for (file, example) in examples()?.into_iter().filter(|(_, object)| object["kind"] == kind) {
        let object = serde_json::from_value(example)?;
        let object = objects.create(&PostParams::default(), &object).await;
        created.push(object.with_context(|| format!("creating a {kind} of {}", file.display()))?);
    }
    ensure!(!created.is_empty(), "no example has a {kind}");
    Ok(created)
}

fn applies_of(client: &Client) -> Api<WorkspaceTemplateApply> {
    Api::default_namespaced(client.clone())
}

async fn workspace_of(client: &Client, apply: &WorkspaceTemplateApply) -> anyhow::Result<Workspace> {
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let uid = apply.uid().unwrap_or_default();
    let derived = ListParams::default().labels(&format!("{}={uid}", label::APPLY_UID));
    loop {
        if let Some(workspace) = workspaces.list(&derived).await?.items.pop() {
            return Ok(workspace);
        }
        sleep(PAUSE).await;
    }
}
