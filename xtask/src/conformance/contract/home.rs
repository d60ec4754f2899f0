//! A management cluster with CAPT's manager, with or without the real Cluster API beside it.

use std::sync::Arc;

use anyhow::Context;
use capt_api::crd::{Foreign, foreign, own};
use capt_controller::install::{Kinds, install};
use capt_controller::options::{ClusterApiMode, Options};
use capt_controller::{manager, rbac};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use kube::Client;
use kube::api::{Api, PostParams};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::super::server::{Server, client};
use super::binary::ClusterApi;
use super::core::Core;
use super::terraform::{Playing, Terraform};
use super::workload::Workload;

/// Who the manager is.
const USER: &str = "system:serviceaccount:capt-system:capt-manager";

/// A management cluster. What is dropped first comes first.
pub(super) struct Home {
    /// What messages call it.
    pub(super) title: &'static str,
    pub(super) client: Client,
    pub(super) core: Option<Core>,
    pub(super) terraform: Terraform,
    pub(super) workload: Arc<Workload>,
    manager: Manager,
    _playing: Playing,
    pub(super) server: Server,
}

impl Home {
    /// With the real Cluster API.
    pub(super) async fn beside(cluster_api: &ClusterApi) -> anyhow::Result<Self> {
        let server = Server::start_with_garbage_collection().await?;
        server.apply(&cluster_api.crds).await?;
        let core = Core::start(&cluster_api.program, &server.control_plane)?;
        Self::furnish("with the real Cluster API", server, Some(core)).await
    }

    /// With nothing but CAPT.
    pub(super) async fn alone() -> anyhow::Result<Self> {
        let server = Server::start_with_garbage_collection().await?;
        install(&server.client, Kinds::Foreign, &foreign(Foreign::ClusterApi)).await?;
        Self::furnish("with CAPT alone", server, None).await
    }

    async fn furnish(title: &'static str, server: Server, core: Option<Core>) -> anyhow::Result<Self> {
        install(&server.client, Kinds::Own, &own()).await?;
        install(&server.client, Kinds::Foreign, &foreign(Foreign::Terraform)).await?;
        // Garbage collection knows the kinds that are there when it starts.
        server.control_plane.refresh_controllers()?;
        permit(&server.client).await?;
        let directory = server.control_plane.directory().join("workload");
        let workload = Arc::new(Workload::start(directory).await?);
        let client = server.client.clone();
        let terraform = Terraform::new(client.clone(), Arc::clone(&workload));
        let manager = Manager::start(&server).await?;
        let playing = terraform.play();
        Ok(Self { title, client, core, terraform, workload, manager, _playing: playing, server })
    }

    /// The real Cluster API comes to a home that did without.
    pub(super) fn join(&mut self, cluster_api: &ClusterApi) -> anyhow::Result<()> {
        self.core = Some(Core::start(&cluster_api.program, &self.server.control_plane)?);
        Ok(())
    }

    /// One more cluster, which a control plane of this name will stand for.
    pub(super) async fn found(&self, control_plane: &str) -> anyhow::Result<Arc<Workload>> {
        let directory = self.server.control_plane.directory().join("workloads").join(control_plane);
        let workload = Arc::new(Workload::start_for_good(directory).await?);
        self.terraform.assign(control_plane, Arc::clone(&workload));
        Ok(workload)
    }

    /// Tells that something holds.
    pub(super) fn ok(&self, what: &str) {
        println!("ok: {}: {what}", self.title);
    }

    /// Stops the manager, which must not have failed.
    pub(super) async fn leave(self) -> anyhow::Result<()> {
        self.manager.stop().await
    }
}

struct Manager {
    stop: CancellationToken,
    task: JoinHandle<Result<(), manager::Error>>,
}

impl Manager {
    /// With the rights that its drivers declare, and no others. Whose the Clusters are it has to find out.
    async fn start(server: &Server) -> anyhow::Result<Self> {
        let kubeconfig = server.control_plane.kubeconfig_for(USER, &["system:authenticated"])?;
        let options = Options { cluster_api: ClusterApiMode::Auto, ..Options::default() };
        let stop = CancellationToken::new();
        let task = tokio::spawn(manager::run(client(&kubeconfig).await?, options, stop.clone()));
        Ok(Self { stop, task })
    }

    async fn stop(self) -> anyhow::Result<()> {
        self.stop.cancel();
        Ok(self.task.await.context("the manager panicked")??)
    }
}

async fn permit(client: &Client) -> anyhow::Result<()> {
    let rules = [rbac::rules(), rbac::own_namespace_rules()].concat();
    let role: ClusterRole = of(json!({ "metadata": { "name": "capt-manager" }, "rules": rules }))?;
    let binding: ClusterRoleBinding = of(json!({
        "metadata": { "name": "capt-manager" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "capt-manager" },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER }],
    }))?;
    Api::all(client.clone()).create(&PostParams::default(), &role).await?;
    Api::all(client.clone()).create(&PostParams::default(), &binding).await?;
    Ok(())
}

fn of<K: serde::de::DeserializeOwned>(object: Value) -> anyhow::Result<K> {
    Ok(serde_json::from_value(object)?)
}
