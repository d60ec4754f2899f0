//! A management cluster with CAPT's manager, with or without the real Cluster API beside it.

use std::sync::Arc;

use anyhow::Context;
use capt_api::crd::{Foreign, foreign};
use capt_controller::install::{Kinds, install};
use capt_controller::manager;
use capt_controller::options::{ClusterApiMode, Options, TerraformOptions};
use kube::Client;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::super::packaging::{Chart, Helm, of_the_account};
use super::super::server::{Server, client};
use super::binary::ClusterApi;
use super::core::Core;
use super::terraform::{Playing, Terraform};
use super::topology::{engine, webhooks};
use super::workload::Workload;

/// A management cluster. What is dropped first comes first.
pub(super) struct Home {
    /// What messages call it.
    pub(super) title: &'static str,
    pub(super) client: Client,
    pub(super) core: Option<Core>,
    pub(super) terraform: Terraform,
    pub(super) workload: Arc<Workload>,
    manager: Manager,
    _playing: Option<Playing>,
    pub(super) server: Server,
}

impl Home {
    /// With the real Cluster API.
    pub(super) async fn beside(cluster_api: &ClusterApi, helm: &Helm) -> anyhow::Result<Self> {
        let server = Server::start_with_garbage_collection().await?;
        server.apply(&cluster_api.crds).await?;
        let core = Core::start(&cluster_api.program, &server.control_plane, &[])?;
        Self::furnish("with the real Cluster API", server, helm, Some(core), None).await
    }

    /// With the real Cluster API, its webhooks and its classes, and with Terraform itself.
    pub(super) async fn with_classes(cluster_api: &ClusterApi, helm: &Helm) -> anyhow::Result<Self> {
        let server = Server::start_with_garbage_collection().await?;
        server.apply(&cluster_api.crds).await?;
        let gates = ["ClusterTopology=true", "RuntimeSDK=false"];
        let core = Core::start(&cluster_api.program, &server.control_plane, &gates)?;
        webhooks::install(&server.client, &cluster_api.webhooks, &core).await?;
        let terraform = engine::start(&server).await?;
        Self::furnish("with classes", server, helm, Some(core), Some(terraform)).await
    }

    /// With nothing but CAPT.
    pub(super) async fn alone(helm: &Helm) -> anyhow::Result<Self> {
        let server = Server::start_with_garbage_collection().await?;
        install(&server.client, Kinds::Foreign, &foreign(Foreign::ClusterApi)).await?;
        Self::furnish("with CAPT alone", server, helm, None, None).await
    }

    /// By the charts: their kinds, their account and its rights. Where nobody runs Terraform, it is played.
    async fn furnish(
        title: &'static str,
        server: Server,
        helm: &Helm,
        core: Option<Core>,
        runner: Option<TerraformOptions>,
    ) -> anyhow::Result<Self> {
        for chart in [Chart::Crds, Chart::Manager] {
            helm.install(chart, &chart.values(), server.control_plane.kubeconfig_path())?;
        }
        // Garbage collection knows the kinds that are there when it starts.
        server.control_plane.refresh_controllers()?;
        let directory = server.control_plane.directory().join("workload");
        let workload = Arc::new(Workload::start(directory).await?);
        let client = server.client.clone();
        let terraform = Terraform::new(client.clone(), Arc::clone(&workload));
        let playing = runner.is_none().then(|| terraform.play());
        let manager = Manager::start(&server, runner).await?;
        Ok(Self { title, client, core, terraform, workload, manager, _playing: playing, server })
    }

    /// The real Cluster API comes to a home that did without.
    pub(super) fn join(&mut self, cluster_api: &ClusterApi) -> anyhow::Result<()> {
        self.core = Some(Core::start(&cluster_api.program, &self.server.control_plane, &[])?);
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
    /// With a token of the chart's account, and no other right. Whose the Clusters are it has to find out.
    async fn start(server: &Server, terraform: Option<TerraformOptions>) -> anyhow::Result<Self> {
        let kubeconfig = of_the_account(server).await?;
        let options = Options { cluster_api: ClusterApiMode::Auto, terraform, ..Options::default() };
        let stop = CancellationToken::new();
        let task = tokio::spawn(manager::run(client(&kubeconfig).await?, options, stop.clone()));
        Ok(Self { stop, task })
    }

    async fn stop(self) -> anyhow::Result<()> {
        self.stop.cancel();
        Ok(self.task.await.context("the manager panicked")??)
    }
}
