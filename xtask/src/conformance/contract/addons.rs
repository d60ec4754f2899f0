//! The proposals' own objects and an `AddonStack`, with the real Cluster API that brings what they name.

mod by_hand;
mod changes;
mod diary;
mod nodes;
mod order;
mod proposals;
mod record;
mod site;

use super::all;
use super::home::Home;
use super::way_up::Names;
use site::Site;

/// Available only when its add-ons are ready.
const ONE: Names = Names { cluster: "one", network: Some("one"), control_plane: "one", templated: false };
const TWO: Names = Names { cluster: "two", network: Some("two"), control_plane: "two", templated: false };

/// Flux and then Karpenter come to two clusters, each with values of its own, and to a third one by hand.
pub(super) async fn come_in_order(home: &Home) -> anyhow::Result<()> {
    proposals::put(home).await?;
    let (mut one, mut two) = tokio::try_join!(Site::found(home, ONE), Site::found(home, TWO))?;
    let (in_order, by_hand) = tokio::join!(
        order::flux_then_karpenter(home, &mut one, &mut two),
        by_hand::values_of_one_cluster(home)
    );
    all([in_order, by_hand])?;
    changes::values_stay_apart(home, [&one, &two]).await?;
    changes::an_output_is_followed(home, &one, &two).await?;
    changes::the_condition_stays(home, &two).await?;
    changes::a_cluster_leaves(home, &two).await?;
    changes::a_cluster_goes(home, &one).await
}
