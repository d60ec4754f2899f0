//! Plays whoever runs Terraform: a Workspace becomes ready, its outputs appear, and its end takes a while.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use capt_api::Workspace;
use capt_api::names::{CONNECTION_SECRET_TYPE, finalizer};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::workload::Workload;

const PAUSE: Duration = Duration::from_millis(200);
/// How long it takes to destroy something.
const DESTROYED_AFTER: Duration = Duration::from_secs(1);
const MANAGER: &str = "terraform-runner";

/// What happened to a Workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Its infrastructure is being destroyed.
    Began(String),
    /// Its infrastructure is gone.
    Ended(String),
}

/// Runs no Terraform.
#[derive(Clone)]
pub(super) struct Terraform {
    client: Client,
    workload: Arc<Workload>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    events: Vec<Event>,
    began: BTreeMap<String, Instant>,
    /// Control plane → its account and how often that was replaced, and its kubeconfig.
    credentials: BTreeMap<String, (String, u32, String)>,
    /// Control plane → the cluster that it stands for, where that is one of its own.
    workloads: BTreeMap<String, Arc<Workload>>,
    trouble: Option<String>,
}

/// Plays as long as it lives.
pub(super) struct Playing(JoinHandle<()>);

impl Drop for Playing {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Terraform {
    pub(super) fn new(client: Client, workload: Arc<Workload>) -> Self {
        Self { client, workload, state: Arc::default() }
    }

    pub(super) fn play(&self) -> Playing {
        let player = self.clone();
        Playing(tokio::spawn(async move {
            loop {
                // Somebody else may have written in between: the next round sees that.
                let trouble = player.round().await.err().map(|error| format!("{error:#}"));
                player.state().trouble = trouble;
                sleep(PAUSE).await;
            }
        }))
    }

    /// What happened, in order.
    pub(super) fn events(&self) -> Vec<Event> {
        self.state().events.clone()
    }

    /// What went wrong in the last round.
    pub(super) fn trouble(&self) -> Option<String> {
        self.state().trouble.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn workspaces(&self) -> Api<Workspace> {
        Api::all(self.client.clone())
    }

    async fn round(&self) -> anyhow::Result<()> {
        for workspace in self.workspaces().list(&ListParams::default()).await? {
            let name = workspace.name_any();
            let done = if workspace.metadata.deletion_timestamp.is_some() {
                self.destroy(&workspace).await
            } else {
                self.apply(&workspace).await
            };
            done.with_context(|| format!("playing Terraform for {name}"))?;
        }
        Ok(())
    }

    async fn apply(&self, workspace: &Workspace) -> anyhow::Result<()> {
        let name = workspace.name_any();
        if workspace.finalizers().is_empty() {
            self.hold(workspace, &[finalizer::MANAGED_RESOURCE]).await?;
        }
        let outputs = self.outputs(workspace);
        let reported = json!(workspace.status)["atProvider"]["outputs"].clone();
        if reported == outputs {
            return Ok(());
        }
        if !is_network(workspace) {
            self.connect(workspace).await?;
        }
        let condition = |type_: &str, reason: &str| json!({ "type": type_, "status": "True", "reason": reason, "lastTransitionTime": "2026-01-01T00:00:00Z" });
        let conditions = [condition("Ready", "Available"), condition("Synced", "ReconcileSuccess")];
        let patch = json!({
            "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace",
            "status": { "atProvider": { "outputs": outputs }, "conditions": conditions },
        });
        let parameters = PatchParams::apply(MANAGER).force();
        self.workspaces().patch_status(&name, &parameters, &Patch::Apply(patch)).await?;
        Ok(())
    }

    /// A control plane stands for a cluster of its own.
    pub(super) fn assign(&self, control_plane: &str, workload: Arc<Workload>) {
        self.state().workloads.insert(control_plane.to_owned(), workload);
    }

    fn workload(&self, control_plane: &str) -> Arc<Workload> {
        let own = self.state().workloads.get(control_plane).cloned();
        own.unwrap_or_else(|| Arc::clone(&self.workload))
    }

    /// What is not sensitive.
    fn outputs(&self, workspace: &Workspace) -> Value {
        if is_network(workspace) {
            return json!({ "vpc_id": "vpc-0abc", "private_subnets": ["subnet-1", "subnet-2"], "azs": ["a", "b"] });
        }
        let control_plane = variable(workspace, "cluster_name");
        let workload = self.workload(control_plane.as_deref().unwrap_or_default());
        json!({
            "cluster_name": control_plane,
            "cluster_endpoint": workload.url,
            "cluster_certificate_authority_data": workload.authority_data(),
            "cluster_version": workload.version(),
        })
    }

    /// Writes the connection Secret.
    async fn connect(&self, workspace: &Workspace) -> anyhow::Result<()> {
        let control_plane = variable(workspace, "cluster_name").context("a module without a cluster_name")?;
        let known = self.state().credentials.get(&control_plane).map(|(.., kubeconfig)| kubeconfig.clone());
        let kubeconfig = match known {
            Some(kubeconfig) => kubeconfig,
            None => self.admit(&control_plane, 0).await?,
        };
        self.write_connection(&control_plane, &kubeconfig).await
    }

    async fn admit(&self, control_plane: &str, number: u32) -> anyhow::Result<String> {
        let account = format!("{control_plane}-{number}");
        let kubeconfig = self.workload(control_plane).kubeconfig_of(&account).await?;
        let known = (account, number, kubeconfig.clone());
        self.state().credentials.insert(control_plane.to_owned(), known);
        Ok(kubeconfig)
    }

    /// Hands out new credentials; answers with the account of the old ones, which still work.
    pub(super) async fn rotate(&self, control_plane: &str) -> anyhow::Result<String> {
        let known = self.state().credentials.get(control_plane).cloned();
        let (account, number, _) = known.context("a control plane without credentials")?;
        let kubeconfig = self.admit(control_plane, number + 1).await?;
        self.write_connection(control_plane, &kubeconfig).await?;
        Ok(account)
    }

    /// The credentials that were handed out last.
    pub(super) fn token(&self, control_plane: &str) -> Option<String> {
        let state = self.state();
        let (.., kubeconfig) = state.credentials.get(control_plane)?;
        let kubeconfig: Value = serde_json::from_str(kubeconfig).ok()?;
        kubeconfig["users"][0]["user"]["token"].as_str().map(str::to_owned)
    }

    async fn write_connection(&self, control_plane: &str, kubeconfig: &str) -> anyhow::Result<()> {
        let name = format!("{control_plane}-eks-connection");
        let workload = self.workload(control_plane);
        let data = json!({
            "kubeconfig": kubeconfig,
            "cluster_endpoint": workload.url,
            "cluster_certificate_authority_data": workload.authority_data(),
            "cluster_name": control_plane,
            "karpenter_iam_role_arn": format!("arn:aws:iam::111122223333:role/{control_plane}-karpenter"),
            "karpenter_queue_name": format!("{control_plane}-karpenter"),
        });
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": { "name": name },
            "type": CONNECTION_SECRET_TYPE, "stringData": data,
        });
        let secrets: Api<Secret> = Api::default_namespaced(self.client.clone());
        secrets.patch(&name, &PatchParams::apply(MANAGER).force(), &Patch::Apply(secret)).await?;
        Ok(())
    }

    async fn destroy(&self, workspace: &Workspace) -> anyhow::Result<()> {
        let name = workspace.name_any();
        if workspace.finalizers().is_empty() {
            return Ok(());
        }
        let began = {
            let mut state = self.state();
            if !state.began.contains_key(&name) {
                state.events.push(Event::Began(name.clone()));
            }
            *state.began.entry(name.clone()).or_insert_with(Instant::now)
        };
        if began.elapsed() < DESTROYED_AFTER {
            return Ok(());
        }
        if let Some(control_plane) = variable(workspace, "cluster_name").filter(|_| !is_network(workspace)) {
            let secrets: Api<Secret> = Api::default_namespaced(self.client.clone());
            let name = format!("{control_plane}-eks-connection");
            let _ = secrets.delete(&name, &DeleteParams::default()).await;
        }
        self.state().events.push(Event::Ended(name));
        self.hold(workspace, &[]).await
    }

    async fn hold(&self, workspace: &Workspace, finalizers: &[&str]) -> anyhow::Result<()> {
        let patch = json!({
            "metadata": { "finalizers": finalizers, "resourceVersion": workspace.resource_version() },
        });
        let parameters = PatchParams::default();
        self.workspaces().patch(&workspace.name_any(), &parameters, &Patch::Merge(patch)).await?;
        Ok(())
    }
}

fn is_network(workspace: &Workspace) -> bool {
    workspace.name_any().ends_with("-vpc")
}

/// The value of a variable.
pub(super) fn variable(workspace: &Workspace, key: &str) -> Option<String> {
    workspace.spec.for_provider.vars.iter().find(|entry| entry.key == key).map(|entry| entry.value.clone())
}
