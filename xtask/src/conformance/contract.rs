//! Cluster API's contract: the same checks beside the real core and where CAPT looks after Clusters itself.

mod addons;
mod binary;
mod changes;
mod core;
mod hands;
mod home;
mod take_over;
mod terraform;
pub(super) mod topology;
mod way_down;
mod way_up;
mod workload;

use anyhow::{Context, ensure};

use super::packaging::Helm;
pub(crate) use binary::ClusterApi;
pub(super) use core::Core;
use home::Home;
use way_up::{ALONE, AT_ONCE, EXISTING, TEMPLATED};

/// The contract holds in both homes.
pub(super) async fn holds(cluster_api: &ClusterApi, helm: &Helm) -> anyhow::Result<()> {
    let beside = async {
        let home = Home::beside(cluster_api, helm).await?;
        let (lived, brought) = tokio::join!(lives(&home), addons::come_in_order(&home));
        let gone = way_down::goes_down_after_its_machines(&home, EXISTING).await;
        all([lived, brought.context("add-ons"), gone, home.leave().await])
    };
    let alone = async {
        let mut home = Home::alone(helm).await?;
        let lived = lives(&home).await;
        let stepped_back = take_over::steps_back(&mut home, cluster_api, EXISTING).await;
        all([lived, stepped_back, home.leave().await])
    };
    let (beside, alone) = tokio::join!(beside, alone);
    all([beside.context("with the real Cluster API"), alone.context("with CAPT alone")])
        .context("the contract of Cluster API does not hold")
}

/// Everything that happens to Clusters, but for one that stays.
async fn lives(home: &Home) -> anyhow::Result<()> {
    way_up::put_all(home).await?;
    let templated = async {
        way_up::comes_up(home, TEMPLATED).await?;
        changes::rotates(home, TEMPLATED).await?;
        changes::pauses(home, TEMPLATED).await
    };
    let alone = async {
        way_up::comes_up(home, ALONE).await?;
        way_down::goes_down(home, ALONE).await
    };
    let at_once = async {
        way_up::comes_up(home, AT_ONCE).await?;
        way_down::goes_down_at_once(home, AT_ONCE).await
    };
    let lived = tokio::join!(templated, alone, at_once, way_up::comes_up(home, EXISTING));
    // The API server is gone for a while, and is that of all Clusters.
    let upgraded = changes::upgrades(home, TEMPLATED).await;
    let gone = way_down::goes_down(home, TEMPLATED).await;
    all([lived.0, lived.1, lived.2, lived.3, upgraded, gone])
}

/// One result for all: what failed first does not hide the rest.
pub(super) fn all<const N: usize>(results: [anyhow::Result<()>; N]) -> anyhow::Result<()> {
    let failed: Vec<String> =
        results.into_iter().filter_map(|result| Some(format!("{:#}", result.err()?))).collect();
    ensure!(failed.is_empty(), "{}", failed.join("\n\n"));
    Ok(())
}
