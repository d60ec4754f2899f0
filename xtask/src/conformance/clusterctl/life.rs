//! A cluster of the flavour `local`: made, told of, used and taken down.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, ensure};
use capt_testkit::home::Home;
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams};
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::contract::Core;
use super::super::server::client;
use super::super::table::objects_of;
use super::eyes::{get, is_true, put, until};
use super::flavors::generate;
use super::installation::NAMESPACE;
use super::manager::Manager;
use super::{Site, Tools, described, ok};
use crate::dist::{self, Version};

pub(super) const NAME: &str = "first";
const CLUSTER: (&str, &str) = ("default", NAME);
const CAPI: &str = "cluster.x-k8s.io/v1beta2";
/// Cluster API tries to connect every 30 seconds, and Terraform takes its time, too.
const PATIENCE: Duration = Duration::from_secs(150);

/// What a cluster lives by. What is dropped first comes first.
pub(super) struct Living {
    manager: Manager,
    core: Core,
    home: Home,
    directory: TempDir,
}

/// Whoever follows the guide gets a cluster that can be used.
pub(super) async fn begins(site: &Site, tools: &Tools) -> anyhow::Result<Living> {
    let client = &site.server.client;
    add_kinds_of_terraform(client).await?;
    // Garbage collection knows the kinds that are there when it starts.
    site.server.control_plane.refresh_controllers()?;
    let directory = tempfile::tempdir()?;
    let home = start_home(&tools.capt, directory.path()).await?;
    let core = Core::start(&tools.cluster_api.program, &site.server.control_plane, &[])?;
    let manager = Manager::start(&tools.capt, &site.server, NAMESPACE).await?;
    let living = Living { manager, core, home, directory };
    let lived = is_made(site, tools, &living.home).await;
    lived.with_context(|| living.story())?;
    Ok(living)
}

async fn is_made(site: &Site, tools: &Tools, home: &Home) -> anyhow::Result<()> {
    let text = |path: &Path| path.display().to_string();
    let (home, binary) = (text(&home.announcement().directory), text(&tools.capt));
    let variables = [("CAPT_HOME", home.as_str()), ("CAPT_BINARY", binary.as_str())];
    let objects = generate(&site.clusterctl, "local", NAME, &variables).await?.objects()?;
    let network = format!("{NAME}-network");
    let (template, others): (Vec<Value>, Vec<Value>) =
        objects.into_iter().partition(|object| object["metadata"]["name"] == *network);
    for object in &others {
        put(&site.server.client, object, false).await?;
    }
    described::while_it_waits(site).await?;
    for object in &template {
        put(&site.server.client, object, false).await?;
    }
    is_available(site).await?;
    ok(
        "a cluster of the flavour `local` is available, made by real Terraform under the account that init installed",
    );
    described::when_it_is_there(site).await?;
    can_be_used(site).await
}

impl Living {
    /// Does something while there is no manager, as when one pod follows another.
    pub(super) async fn with_new_manager(
        self,
        site: &Site,
        tools: &Tools,
        meanwhile: impl AsyncFnOnce() -> anyhow::Result<()>,
    ) -> anyhow::Result<Self> {
        let Self { manager, core, home, directory } = self;
        manager.stop()?;
        meanwhile().await?;
        let manager = Manager::start(&tools.capt, &site.server, NAMESPACE).await?;
        Ok(Self { manager, core, home, directory })
    }

    /// What those say who look after it.
    pub(super) fn story(&self) -> String {
        format!("the manager said:\n{}\nCluster API said:\n{}", self.manager.tail(), self.core.tail())
    }
}

/// The kinds of Terraform, as somebody installs them who has no Crossplane.
pub(super) async fn add_kinds_of_terraform(client: &Client) -> anyhow::Result<()> {
    let files = dist::files(&Version::of_this(), None)?;
    let kinds: Vec<Value> = serde_saphyr::from_multiple(&files["terraform-kinds.yaml"])?;
    for kind in &kinds {
        put(client, kind, false).await?;
    }
    Ok(())
}

pub(super) async fn start_home(capt: &Path, directory: &Path) -> anyhow::Result<Home> {
    let (capt, directory) = (capt.to_owned(), directory.to_owned());
    let start = move || Home::start(&capt, &directory.join("home"), &directory.join("home.log"));
    tokio::task::spawn_blocking(start).await?.context("starting capt up")
}

pub(super) async fn is_available(site: &Site) -> anyhow::Result<()> {
    until(PATIENCE, async || {
        let cluster = get(&site.server.client, CAPI, "Cluster", CLUSTER).await?.unwrap_or_default();
        Ok(is_true(&cluster, "Available"))
    })
    .await
}

/// `clusterctl get kubeconfig` opens the cluster.
async fn can_be_used(site: &Site) -> anyhow::Result<()> {
    let kubeconfig = site.clusterctl.run(&["get", "kubeconfig", NAME]).await?.data;
    let namespaces: Api<Namespace> = Api::all(client(&kubeconfig).await?);
    let found = namespaces.list(&ListParams::default()).await.context("using the kubeconfig")?;
    ensure!(
        found.items.iter().any(|found| found.metadata.name.as_deref() == Some("kube-system")),
        "no cluster"
    );
    ok("get kubeconfig: it opens the cluster");
    Ok(())
}

/// Deleted, it goes by Terraform, and all of it.
pub(super) async fn ends(site: &Site, living: Living) -> anyhow::Result<()> {
    let client = &site.server.client;
    let about: DynamicObject = serde_json::from_value(json!({
        "apiVersion": CAPI, "kind": "Cluster", "metadata": { "namespace": "default", "name": NAME },
    }))?;
    objects_of(client, &about).await?.delete(NAME, &DeleteParams::default()).await?;
    let gone = until(PATIENCE, async || {
        let mut left = Vec::new();
        let parts = [
            (CAPI, "Cluster"),
            ("infrastructure.cluster.x-k8s.io/v1beta1", "CAPTCluster"),
            ("controlplane.cluster.x-k8s.io/v1beta1", "CAPTControlPlane"),
        ];
        for (version, kind) in parts {
            left.extend(get(client, version, kind, CLUSTER).await?.map(|_| kind));
        }
        Ok(if left.is_empty() { Ok(()) } else { Err(format!("still there: {left:?}")) })
    })
    .await;
    gone.with_context(|| living.story())?;
    ok("deleted, it goes by Terraform");
    let Living { manager, mut home, directory, .. } = living;
    manager.stop()?;
    home.signal(Signal::TERM)?;
    home.wait(PATIENCE).context("stopping capt up")?;
    // Only now nobody writes there any more.
    Ok(directory.close()?)
}
