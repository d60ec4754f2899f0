//! The real clusterctl, with a repository that holds what `cargo xtask dist` writes: it installs CAPT beside the real Cluster API,
//! makes a cluster that can be used, tells of it, upgrades CAPT and takes it away again; it moves clusters from a laptop's home to
//! such a management cluster, and back.
//!
//! There are no containers here. What would run in pods runs as processes: the real core, and `capt` with the arguments and the
//! account of the Deployment that was installed.

mod core_components;
mod described;
pub(super) mod eyes;
mod flavors;
mod installation;
mod life;
mod manager;
mod moves;
mod namespaces;
mod program;
mod providers;
mod repository;
mod road;
mod upgrade;

use std::path::PathBuf;

use anyhow::Context;

use super::contract::{ClusterApi, all};
use super::server::Server;
use crate::dist::{self, Version};
pub(crate) use program::Clusterctl;
pub(super) use program::NOWHERE;
use repository::Repository;

/// What everything here is done with.
pub(super) struct Tools {
    pub(super) cluster_api: ClusterApi,
    pub(super) clusterctl: PathBuf,
    pub(super) capt: PathBuf,
}

/// A management cluster for clusterctl.
struct Site {
    clusterctl: Clusterctl,
    repository: Repository,
    server: Server,
}

impl Site {
    /// With an empty cluster, and a repository that has this version.
    async fn new(tools: &Tools) -> anyhow::Result<Self> {
        // clusterctl makes a namespace and deletes it again, for which somebody has to be there.
        let server = Server::start_with_garbage_collection().await?;
        let repository = Repository::with_core(&tools.cluster_api)?;
        repository.release(&Version::of_this(), &dist::files(&Version::of_this(), None)?)?;
        let kubeconfig = server.control_plane.kubeconfig_path();
        let clusterctl = Clusterctl::new(&tools.clusterctl, &repository.configuration(), Some(kubeconfig))?;
        installation::pretend_that_cert_manager_is_there(&server).await?;
        Ok(Self { clusterctl, repository, server })
    }
}

/// All of it.
pub(super) async fn installs_capt(tools: &Tools) -> anyhow::Result<()> {
    let (usual, elsewhere) =
        tokio::join!(Box::pin(as_usual(tools)), Box::pin(namespaces::are_followed(tools)));
    all([usual.context("clusterctl"), elsewhere.context("clusterctl, in a namespace of the user's")])?;
    Box::pin(moves::go_and_come_back(tools)).await.context("clusterctl move")
}

async fn as_usual(tools: &Tools) -> anyhow::Result<()> {
    let site = Site::new(tools).await?;
    providers::come_out_as_they_are(&site.clusterctl).await?;
    installation::is_complete(&site).await?;
    installation::is_harmless_twice(&site).await?;
    flavors::name_what_is_missing(&site.clusterctl).await?;
    flavors::become_clusters(&site, tools).await?;
    let cluster = life::begins(&site, tools).await?;
    let cluster = upgrade::keeps_everything(&site, tools, cluster).await?;
    life::ends(&site, cluster).await?;
    upgrade::leaves_the_kinds(&site).await
}

/// Tells that something holds.
fn ok(what: &str) {
    println!("ok: clusterctl: {what}");
}
