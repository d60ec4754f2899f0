//! Classes: the real Cluster API, with its webhooks, makes Clusters from the class of `examples/clusterclass`, and CAPT runs
//! Terraform for them.
//!
//! The modules stand for those of AWS: Terraform really runs them, and a real API server is what they have made.

mod changes;
mod class;
pub(super) mod engine;
mod life;
mod site;
pub(super) mod webhooks;
mod wrong;

use anyhow::Context;

use super::super::packaging::Helm;
use super::ClusterApi;
use super::home::Home;
use super::way_up::Names;
use super::{all, hands};
use site::Site;

/// A VPC that Terraform makes.
const NEW: Names =
    Names { cluster: "classy-1", network: Some("classy-1"), control_plane: "classy-1", templated: true };
/// A VPC that was there before.
const EXISTING: Names =
    Names { cluster: "classy-2", network: Some("classy-2"), control_plane: "classy-2", templated: false };

/// Clusters of the class of the examples come up, change and go.
pub(in super::super) async fn holds(cluster_api: &ClusterApi, helm: &Helm) -> anyhow::Result<()> {
    let home = Home::with_classes(cluster_api, helm).await?;
    let lived = lives(&home).await;
    all([lived, home.leave().await]).context("classes")
}

async fn lives(home: &Home) -> anyhow::Result<()> {
    let site = Site::prepare(home).await?;
    class::put(home, &site).await?;
    wrong::is_refused(home).await?;
    let new = async {
        life::comes_up(home, NEW, &class::cluster(home)?).await?;
        life::settles(home, NEW).await?;
        changes::is_tagged(home, NEW).await?;
        wrong::cannot_move(home, NEW).await
    };
    let existing = async {
        life::comes_up(home, EXISTING, &class::in_existing_vpc(home)?).await?;
        life::goes_down(home, &site, EXISTING).await
    };
    let (new, existing) = tokio::join!(new, existing);
    all([new, existing])?;
    // The API server is gone for a while, and is that of all Clusters.
    changes::is_upgraded(home, &site, NEW).await?;
    changes::changes_its_class(home, &site, NEW).await?;
    wrong::class_in_use_stays(home).await?;
    life::goes_down(home, &site, NEW).await
}
