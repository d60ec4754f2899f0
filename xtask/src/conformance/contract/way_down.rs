//! From a Cluster to nothing, in the right order.

use anyhow::ensure;

use super::hands::Kind;
use super::home::Home;
use super::terraform::Event;
use super::way_up::Names;

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
