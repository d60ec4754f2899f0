//! An API server of one's own, and managers that run Workspaces there.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capt_api::crd::{Foreign, foreign, own};
use capt_controller::manager;
use capt_controller::options::{Options, Server, TerraformOptions};
use capt_local::Helper;
use capt_terraform::{ProcessEngine, Settings};
use capt_testkit::TestCluster;
use kube::config::Kubeconfig;
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::clock::SimulatedClock;
use super::counting::{Counter, CountingEngine};
use crate::diagnostics::{Counted, Diagnostics};

/// The namespace of everything, CAPT's own included.
pub(super) const NAMESPACE: &str = "default";
/// What this machine calls itself in locks.
const HOST: &str = "capt-bench";

/// An API server of one's own.
pub(super) struct Stage {
    pub(super) cluster: TestCluster,
    pub(super) binary: PathBuf,
    /// Where Terraform works, laid out as `capt manager` does, so that it finds what was done in here.
    pub(super) directory: TempDir,
}

impl Stage {
    pub(super) async fn set(binary: PathBuf) -> anyhow::Result<Self> {
        let helper = Helper::current_exe().context("finding the path of this program")?;
        let cluster = TestCluster::start_with(|| helper).await;
        cluster
            .apply_crds(&[own(), foreign(Foreign::Terraform), foreign(Foreign::ClusterApi)].concat())
            .await;
        let directory = tempfile::tempdir().context("making a directory to work in")?;
        Ok(Self { cluster, binary, directory })
    }

    /// How Terraform reaches the API server.
    fn server(&self) -> anyhow::Result<Server> {
        let kubeconfig = Kubeconfig::from_yaml(&self.cluster.control_plane().kubeconfig())?;
        let cluster = kubeconfig.clusters.into_iter().next().and_then(|named| named.cluster);
        let cluster = cluster.context("the kubeconfig names no cluster")?;
        let authority = cluster.certificate_authority_data.context("the kubeconfig has no certificates")?;
        let authority = String::from_utf8(STANDARD.decode(authority)?)?;
        Ok(Server {
            address: cluster.server.context("the kubeconfig has no address")?,
            certificate_authority: Some(authority),
            server_name: None,
        })
    }
}

/// A manager in this process.
pub(super) struct Manager {
    pub(super) diagnostics: Diagnostics,
    shutdown: CancellationToken,
    task: JoinHandle<Result<(), manager::Error>>,
}

impl Manager {
    pub(super) async fn start(
        stage: &Stage,
        clock: &SimulatedClock,
        counter: &Counter,
    ) -> anyhow::Result<Self> {
        let directory = stage.directory.path();
        let mut settings = Settings::new(directory.join("workspaces"), &stage.binary);
        settings.plugin_cache = Some(directory.join("plugins"));
        let engine = ProcessEngine::start(settings).await.context("starting the Terraform engine")?;
        let engine = Arc::new(CountingEngine::new(engine, counter.clone()));
        let artifacts = directory.join("artifacts");
        let mut terraform =
            TerraformOptions::new(engine, artifacts, stage.server()?, NAMESPACE.to_owned(), HOST.to_owned());
        terraform.clock = clock.for_manager();
        let diagnostics = Diagnostics::choose(Counted::Workspaces).await?;
        let options = Options {
            diagnostics_address: Some(diagnostics.address()),
            terraform: Some(terraform),
            ..Options::default()
        };
        let shutdown = CancellationToken::new();
        let task = tokio::spawn(manager::run(stage.cluster.client(), options, shutdown.clone()));
        Ok(Self { diagnostics, shutdown, task })
    }

    pub(super) async fn stop(self) -> anyhow::Result<()> {
        self.shutdown.cancel();
        Ok(self.task.await??)
    }
}
