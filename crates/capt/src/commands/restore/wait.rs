//! Waits until all is well: plans empty, clusters available.

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use capt_api::names::{annotation, condition};
use capt_api::{Cluster, Workspace, WorkspaceTemplateApply};
use capt_core::archive::{Backup, Key};
use capt_core::standing::cluster_name;
use capt_core::tie;
use kube::Client;
use kube::api::Api;
use kube::runtime::wait::await_condition;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::printer::Printer;

/// Waits for the Workspaces, then for the Clusters. Objects that their user had paused are not waited for.
pub(super) async fn until_well(
    client: &Client,
    backup: &Backup,
    patience: Duration,
    printer: Printer,
) -> anyhow::Result<()> {
    let deadline = Instant::now() + patience;
    let mut waiting = Vec::new();
    for apply in applies(backup)? {
        let name = tie::workspace_name(&apply);
        printer.message(&format!("waiting for the plan of Workspace `{name}`"));
        match workspace(client, &name, deadline).await? {
            Some(Settled::Approval(message)) => waiting.push(format!("Workspace `{name}`: {message}")),
            Some(Settled::Ready) => {}
            None => bail!(
                "Workspace `{name}` is not ready after {} s: see `kubectl describe workspace {name}`",
                patience.as_secs()
            ),
        }
    }
    ensure!(
        waiting.is_empty(),
        "all is back, but not every plan is empty, and nothing was changed: {}",
        waiting.join("; ")
    );
    for (key, _) in awake(backup, "Cluster") {
        available(client, key, deadline, patience, printer).await?;
    }
    printer.message("all plans were empty, and all clusters are available");
    Ok(())
}

/// Objects of a kind that nobody has paused.
fn awake<'backup>(
    backup: &'backup Backup,
    kind: &'static str,
) -> impl Iterator<Item = &'backup (Key, Value)> {
    backup.objects.iter().filter(move |(key, object)| key.kind == kind && !is_paused(object))
}

fn is_paused(object: &Value) -> bool {
    object["metadata"]["annotations"].get(annotation::PAUSED).is_some() || object["spec"]["paused"] == true
}

/// Applies that go on: neither they nor their Cluster are paused.
fn applies(backup: &Backup) -> anyhow::Result<Vec<WorkspaceTemplateApply>> {
    let paused: Vec<&Key> = backup
        .objects
        .iter()
        .filter(|(key, object)| key.kind == "Cluster" && is_paused(object))
        .map(|(key, _)| key)
        .collect();
    let mut found = Vec::new();
    for (key, object) in awake(backup, "WorkspaceTemplateApply") {
        let apply: WorkspaceTemplateApply =
            serde_json::from_value(object.clone()).with_context(|| format!("reading {key} of the backup"))?;
        let of = cluster_name(&apply.metadata);
        let still = |cluster: &&Key| cluster.namespace == key.namespace && Some(cluster.name.as_str()) == of;
        if !paused.iter().any(still) {
            found.push(apply);
        }
    }
    Ok(found)
}

/// What came of a Workspace.
enum Settled {
    Ready,
    Approval(String),
}

async fn workspace(client: &Client, name: &str, deadline: Instant) -> anyhow::Result<Option<Settled>> {
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let is_settled = |found: Option<&Workspace>| found.is_some_and(|it| settled(it).is_some());
    match timeout_at(deadline, await_condition(workspaces, name, is_settled)).await {
        Ok(found) => {
            let found = found.with_context(|| format!("waiting for Workspace `{name}`"))?;
            Ok(found.as_ref().and_then(settled))
        }
        Err(_) => Ok(None),
    }
}

fn settled(workspace: &Workspace) -> Option<Settled> {
    let conditions = &workspace.status.as_ref()?.conditions;
    let holds = |type_: &str| conditions.iter().find(|found| found.type_ == type_ && found.status == "True");
    if let Some(approval) = holds(condition::APPROVAL_REQUIRED) {
        return Some(Settled::Approval(approval.message.clone().unwrap_or_default()));
    }
    holds(condition::READY).map(|_| Settled::Ready)
}

async fn available(
    client: &Client,
    key: &Key,
    deadline: Instant,
    patience: Duration,
    printer: Printer,
) -> anyhow::Result<()> {
    printer.message(&format!("waiting for {key}"));
    let clusters: Api<Cluster> =
        Api::namespaced(client.clone(), key.namespace.as_deref().unwrap_or_default());
    let is_there = |found: Option<&Cluster>| found.is_some_and(is_available);
    let waited = timeout_at(deadline, await_condition(clusters, &key.name, is_there)).await;
    let waited = waited.with_context(|| {
        format!(
            "{key} is not available after {} s: see `capt doctor --cluster {}`",
            patience.as_secs(),
            key.name
        )
    })?;
    waited.map(drop).with_context(|| format!("waiting for {key}"))
}

fn is_available(cluster: &Cluster) -> bool {
    let conditions = cluster.status.iter().flat_map(|status| &status.conditions);
    conditions.into_iter().any(|found| found.type_ == condition::AVAILABLE && found.status == "True")
}
