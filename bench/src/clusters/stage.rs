//! An API server of one's own, a manager that is listened to, and a Terraform that is done at once.

use std::fmt::Debug;
use std::time::Duration;

use anyhow::Context;
use capt_api::crd::{Foreign, foreign, own};
use capt_api::{CAPTCluster, CAPTControlPlane, Cluster, WorkspaceTemplate};
use capt_controller::manager;
use capt_controller::options::{LeaderElection, Options};
use capt_local::Helper;
use capt_testkit::TestCluster;
use futures::{StreamExt, TryStreamExt, stream};
use kube::api::{Patch, PatchParams};
use kube::config::Kubeconfig;
use kube::core::NamespaceResourceScope;
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::engine;
use super::manifests::{self, CONTROL_PLANE_TEMPLATE, NAMESPACE, NETWORK_TEMPLATE, Network};
use super::ready::Ready;
use super::recorder::{Recorder, Who};

/// Longer than it takes a manager to do what follows from something.
pub(crate) const LONG_QUIET: Duration = Duration::from_secs(2);

/// An API server of one's own, with a manager.
pub(super) struct Stage {
    pub(super) recorder: Recorder,
    /// What makes clusters.
    pub(super) client: Client,
    pub(super) ready: Ready,
    /// The certificates of the clusters that Terraform makes.
    pub(super) authority: String,
    concurrency: u16,
    shutdown: CancellationToken,
    manager: JoinHandle<Result<(), manager::Error>>,
    _engine: AbortOnDropHandle<()>,
    /// The last to go.
    cluster: TestCluster,
}

impl Stage {
    pub(super) async fn set(concurrency: u16) -> anyhow::Result<Self> {
        let cluster = bare().await?;
        let recorder = Recorder::default();
        let options = Options {
            leader_election: Some(LeaderElection {
                namespace: NAMESPACE.to_owned(),
                name: "capt-bench".to_owned(),
                identity: "capt-bench".to_owned(),
                lease_duration: Duration::from_secs(15),
            }),
            ..Options::default()
        };
        let shutdown = CancellationToken::new();
        let client = recorder.listen(cluster.client(), Who::Manager);
        let manager = tokio::spawn(manager::run(client, options, shutdown.clone()));
        let client = recorder.listen(cluster.client(), Who::Others);
        let authority = authority(&cluster.control_plane().kubeconfig())?;
        let engine = tokio::spawn(engine::run(client.clone(), authority.clone(), concurrency));
        let ready = Ready::follow(cluster.client(), is_ready);
        let stage = Self {
            recorder,
            client,
            ready,
            authority,
            concurrency,
            shutdown,
            manager,
            _engine: AbortOnDropHandle::new(engine),
            cluster,
        };
        stage.put_templates().await?;
        stage.recorder.quiet(LONG_QUIET).await;
        anyhow::ensure!(!stage.manager.is_finished(), "the manager does not run");
        Ok(stage)
    }

    async fn put_templates(&self) -> anyhow::Result<()> {
        let variables = ["cluster_name", "kubernetes_version", "region", "vpc_id"];
        put::<WorkspaceTemplate>(&self.client, &manifests::template(CONTROL_PLANE_TEMPLATE, &variables))
            .await?;
        put::<WorkspaceTemplate>(&self.client, &manifests::template(NETWORK_TEMPLATE, &["vpc_name"])).await
    }

    /// Puts the objects of a cluster there.
    pub(super) async fn put_cluster(&self, name: &str, network: Network) -> anyhow::Result<()> {
        put::<Cluster>(&self.client, &manifests::cluster(name)).await?;
        put::<CAPTCluster>(&self.client, &manifests::network(name, network)).await?;
        put::<CAPTControlPlane>(&self.client, &manifests::control_plane(name)).await
    }

    /// Makes so many clusters and waits until all are ready.
    pub(super) async fn bring_up(&self, prefix: &str, count: usize) -> anyhow::Result<Vec<String>> {
        let names: Vec<_> = (0..count).map(|number| format!("{prefix}-{number}")).collect();
        stream::iter(&names)
            .map(|name| self.put_cluster(name, Network::Existing))
            .buffer_unordered(self.concurrency.into())
            .try_collect::<()>()
            .await?;
        self.ready.all(&names).await?;
        Ok(names)
    }

    /// As [`Self::bring_up`], and waits until nothing follows any more.
    pub(super) async fn settle(&self, prefix: &str, count: usize) -> anyhow::Result<Vec<String>> {
        let names = self.bring_up(prefix, count).await?;
        self.recorder.quiet(LONG_QUIET).await;
        Ok(names)
    }

    /// A client that nobody listens to.
    pub(super) fn unheard(&self) -> Client {
        self.cluster.client()
    }

    pub(super) async fn stop(self) -> anyhow::Result<()> {
        self.shutdown.cancel();
        Ok(self.manager.await??)
    }
}

/// An API server with CAPT's kinds and nothing else.
pub(crate) async fn bare() -> anyhow::Result<TestCluster> {
    let helper = Helper::current_exe().context("finding the path of this program")?;
    let cluster = TestCluster::start_with(|| helper).await;
    cluster.apply_crds(&[own(), foreign(Foreign::Terraform), foreign(Foreign::ClusterApi)].concat()).await;
    Ok(cluster)
}

fn is_ready(control_plane: &CAPTControlPlane) -> bool {
    control_plane.status.as_ref().is_some_and(|status| status.ready)
}

fn authority(kubeconfig: &str) -> anyhow::Result<String> {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig)?;
    let cluster = kubeconfig.clusters.into_iter().next().and_then(|named| named.cluster);
    cluster
        .and_then(|cluster| cluster.certificate_authority_data)
        .context("the kubeconfig has no certificates")
}

/// One server-side apply in the namespace of everything.
pub(crate) async fn put<K>(client: &Client, body: &Value) -> anyhow::Result<()>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
{
    patch(&Api::<K>::namespaced(client.clone(), NAMESPACE), body).await
}

/// One server-side apply.
pub(crate) async fn patch<K>(api: &Api<K>, body: &Value) -> anyhow::Result<()>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned,
{
    let mut body = body.clone();
    body["apiVersion"] = json!(K::api_version(&()));
    body["kind"] = json!(K::kind(&()));
    let name = body["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    api.patch(&name, &parameters(), &Patch::Apply(&body))
        .await
        .with_context(|| format!("applying {name}"))?;
    Ok(())
}

pub(crate) fn parameters() -> PatchParams {
    PatchParams::apply("capt-bench").force()
}
