//! From a Cluster to nothing, in the right order.

mod machines;

use anyhow::ensure;
use capt_api::names::Reason;

use super::hands::{Kind, SOON, condition};
use super::home::Home;
use super::terraform::Event;
use super::way_up::Names;
use machines::{Inside, Workers};

/// The Cluster is deleted, and everything goes with it.
pub(super) async fn goes_down(home: &Home, names: Names) -> anyhow::Result<()> {
    home.delete(Kind::Cluster, names.cluster).await?;
    ends(home, names).await?;
    home.ok(&format!("the Cluster `{}` is deleted, and everything goes in order", names.cluster));
    Ok(())
}

/// Everything is deleted at once, the network first, and still goes in order.
pub(super) async fn goes_down_at_once(home: &Home, names: Names) -> anyhow::Result<()> {
    for apply in [names.network_workspace(), format!("{}-apply", names.workspace())] {
        home.delete(Kind::Apply, &apply).await?;
    }
    if let Some(network) = names.network {
        home.delete(Kind::Network, network).await?;
    }
    home.delete(Kind::ControlPlane, names.control_plane).await?;
    home.delete(Kind::Cluster, names.cluster).await?;
    ends(home, names).await?;
    home.ok("everything is deleted at once, and goes in order");
    Ok(())
}

/// Workers go first, then what Terraform does not know of in the cluster, whenever it appeared; only then the cluster.
pub(super) async fn goes_down_after_its_machines(home: &Home, names: Names) -> anyhow::Result<()> {
    let inside = Inside::furnish(home).await?;
    inside.put("early", &[]).await?;
    let workers = Workers::put(home, names).await?;
    home.delete(Kind::Cluster, names.cluster).await?;
    // The clearing begins with the Cluster's deletion: while core takes workers down, Karpenter may still run on them.
    inside.until("`early` to be gone", <[_]>::is_empty).await?;
    inside.put("late", &["karpenter.sh/termination"]).await?;
    let waiting = home.expect(Kind::ControlPlane, names.control_plane).await?;
    ensure!(
        waiting["metadata"]["deletionTimestamp"].is_null(),
        "the control plane of {} went before its workers",
        names.cluster
    );
    workers.release().await?;
    home.until(Kind::ControlPlane, names.control_plane, SOON, |found| {
        let told = condition(found, "Deleting").cloned().unwrap_or_default();
        let message = told["message"].as_str().unwrap_or_default();
        let is_told = told["reason"] == Reason::ClearingCluster.as_str() && message.contains("`late`");
        (!is_told).then(|| format!("Deleting is {told}")).into_iter().collect()
    })
    .await?;
    let began = home.terraform.events().contains(&Event::Began(names.workspace()));
    ensure!(!began, "{} was destroyed before its machines were gone", names.cluster);
    inside.release("late").await?;
    ends(home, names).await?;
    home.ok("workers go first, then machines in the cluster, and only then Terraform destroys it");
    Ok(())
}

async fn ends(home: &Home, names: Names) -> anyhow::Result<()> {
    let workspace = names.workspace();
    let mut parts = vec![
        (Kind::Cluster, names.cluster),
        (Kind::ControlPlane, names.control_plane),
        (Kind::Workspace, workspace.as_str()),
    ];
    parts.extend(names.network.map(|name| (Kind::Network, name)));
    let network = names.network_workspace();
    if names.templated {
        parts.push((Kind::Workspace, network.as_str()));
    }
    home.until_gone(names.cluster, &parts).await?;
    let events = home.terraform.events();
    let place = |event: &Event| events.iter().position(|other| other == event);
    let ended = place(&Event::Ended(workspace.clone()));
    ensure!(ended.is_some(), "the control plane of {} was never destroyed: {events:?}", names.cluster);
    if names.templated {
        let began = place(&Event::Began(network));
        ensure!(
            began.is_some() && ended < began,
            "the network of {} was not destroyed after its control plane: {events:?}",
            names.cluster
        );
    }
    Ok(())
}
