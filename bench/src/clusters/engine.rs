//! A Terraform that is done at once: each new Workspace gets its connection Secret and says that it is ready.

use anyhow::Context;
use capt_api::Workspace;
use futures::StreamExt;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, Patch};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};

use super::manifests;
use super::stage::{parameters, patch};
use crate::progress::tell;

/// Runs every Workspace that nobody has run, so many at the same time.
pub(super) async fn run(client: Client, authority: String, concurrency: u16) {
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let is_new =
        |workspace: &Workspace| workspace.status.as_ref().is_none_or(|status| status.conditions.is_empty());
    watcher(workspaces, watcher::Config::default())
        .default_backoff()
        .applied_objects()
        .filter_map(async |change| change.ok().filter(is_new))
        .for_each_concurrent(usize::from(concurrency), async |workspace| {
            if let Err(error) = provision(&client, &authority, &workspace).await {
                tell(&format!("Workspace {} could not be run: {error:#}", workspace.name_any()));
            }
        })
        .await;
}

async fn provision(client: &Client, authority: &str, workspace: &Workspace) -> anyhow::Result<()> {
    let name = workspace.name_any();
    let outputs = match &workspace.spec.write_connection_secret_to_ref {
        Some(reference) => {
            let secrets: Api<Secret> = Api::namespaced(client.clone(), &reference.namespace);
            let data = manifests::connection(authority, &name, "first");
            patch(&secrets, &manifests::secret(&reference.name, &data)).await?;
            manifests::outputs(authority, &name)
        }
        None => manifests::network_outputs(),
    };
    let status = json!({
        "conditions": [condition("Ready", "Available"), condition("Synced", "ReconcileSuccess")],
        "atProvider": { "outputs": outputs },
    });
    let body = json!({
        "apiVersion": "tf.upbound.io/v1beta1",
        "kind": "Workspace",
        "metadata": { "name": name },
        "status": status,
    });
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let patched = workspaces.patch_status(&name, &parameters(), &Patch::Apply(&body)).await;
    patched.map(drop).context("writing its status")
}

fn condition(type_: &str, reason: &str) -> Value {
    json!({ "type": type_, "status": "True", "reason": reason, "lastTransitionTime": "2026-01-01T00:00:00Z" })
}
