//! The states of applies, and the locks on them.

use anyhow::Context as _;
use capt_api::names::annotation;
use capt_api::{Cluster, Workspace, WorkspaceTemplateApply};
use capt_core::doctor::{Finding, LockFacts, StateFacts};
use capt_core::name::{is_namespace_name, is_object_name};
use capt_core::standing::cluster_name;
use capt_core::tie;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt as _};
use serde_json::Value;

/// The states of the applies of a cluster.
pub(super) async fn of_cluster(
    client: &Client,
    cluster: &Cluster,
    area: &str,
) -> anyhow::Result<Vec<Finding>> {
    let namespace = cluster.namespace().unwrap_or_default();
    let mut applies = applies(client, Some(&namespace)).await?;
    let name = cluster.name_any();
    applies.retain(|apply| cluster_name(&apply.metadata) == Some(name.as_str()));
    look(client, &applies, |_| area.to_owned()).await
}

/// The states of applies that belong to no cluster.
pub(super) async fn of_nobody(client: &Client, namespace: Option<&str>) -> anyhow::Result<Vec<Finding>> {
    let mut applies = applies(client, namespace).await?;
    applies.retain(|apply| cluster_name(&apply.metadata).is_none());
    look(client, &applies, |apply| format!("namespace {}", apply.namespace().unwrap_or_default())).await
}

async fn applies(client: &Client, namespace: Option<&str>) -> anyhow::Result<Vec<WorkspaceTemplateApply>> {
    let api: Api<WorkspaceTemplateApply> = match namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    };
    match api.list(&ListParams::default()).await {
        Ok(applies) => Ok(applies.items),
        // That the kind is missing is told with the kinds.
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
        Err(error) => Err(error).context("listing WorkspaceTemplateApplies"),
    }
}

async fn look(
    client: &Client,
    applies: &[WorkspaceTemplateApply],
    area: impl Fn(&WorkspaceTemplateApply) -> String,
) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for apply in applies {
        // What is no name is followed nowhere.
        let noted = apply.annotations().get(annotation::STATE).and_then(|noted| noted.split_once('/'));
        let Some((namespace, name)) =
            noted.filter(|(namespace, name)| is_namespace_name(namespace) && is_object_name(name))
        else {
            continue;
        };
        let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
        let secret = secrets.get_metadata_opt(name).await;
        let secret = secret.with_context(|| format!("reading Secret `{namespace}/{name}`"))?;
        let workspaces: Api<Workspace> = Api::all(client.clone());
        let workspace = tie::workspace_name(apply);
        let workspace = workspaces
            .get_opt(&workspace)
            .await
            .with_context(|| format!("reading Workspace `{workspace}`"))?;
        let facts = StateFacts {
            area: &area(apply),
            apply,
            workspace: workspace.as_ref(),
            secret: secret.as_ref().map(|secret| &secret.metadata),
            lock: lock(client, namespace, name).await?,
        };
        findings.extend(facts.judge());
    }
    Ok(findings)
}

/// Who holds the lock on a state.
async fn lock(client: &Client, namespace: &str, state: &str) -> anyhow::Result<Option<LockFacts>> {
    let leases: Api<Lease> = Api::namespaced(client.clone(), namespace);
    let name = format!("lock-{state}");
    let lease = leases.get_opt(&name).await.with_context(|| format!("reading Lease `{namespace}/{name}`"))?;
    let Some(lease) = lease else { return Ok(None) };
    let holder =
        lease.spec.as_ref().and_then(|spec| spec.holder_identity.clone()).filter(|id| !id.is_empty());
    Ok(holder.map(|id| {
        let told = lease.annotations().get(annotation::LOCK_INFO);
        let told: Value = told.and_then(|told| serde_json::from_str(told).ok()).unwrap_or_default();
        let text = |field: &str| told[field].as_str().unwrap_or("somebody").to_owned();
        LockFacts { id, who: text("Who"), since: text("Created").replace("somebody", "an unknown time") }
    }))
}
