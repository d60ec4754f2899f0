//! What happens to a Cluster that is there: credentials change, it is paused, it is upgraded.

use std::collections::BTreeMap;

use anyhow::ensure;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::hands::{CONNECTED_WITHIN, Kind, SOON, lacking, status};
use super::home::Home;
use super::way_up::{Names, kubeconfig};

/// New credentials reach `<cluster>-kubeconfig`, and whoever uses the old ones finds the new ones.
pub(super) async fn rotates(home: &Home, names: Names) -> anyhow::Result<()> {
    let connections = connections(home, names);
    let old = home.terraform.rotate(names.control_plane).await?;
    follows(home, names).await?;
    home.workload.close(&old).await?;
    if home.core.is_some() {
        let deadline = Instant::now() + CONNECTED_WITHIN;
        while self::connections(home, names) == connections {
            home.still(deadline, "Cluster API has not connected again with the new credentials").await?;
        }
    }
    let wanted = [("RemoteConnectionProbe", "True"), ("Available", "True")];
    home.until(Kind::Cluster, names.cluster, CONNECTED_WITHIN, |cluster| lacking(cluster, &wanted)).await?;
    home.ok("new credentials are followed, and the connection stays when the old ones end");
    Ok(())
}

fn connections(home: &Home, names: Names) -> usize {
    home.core.as_ref().map_or(0, |core| core.connections(names.cluster))
}

/// Waits until the kubeconfig has the credentials that were handed out last.
async fn follows(home: &Home, names: Names) -> anyhow::Result<()> {
    let deadline = Instant::now() + SOON;
    let token = home.terraform.token(names.control_plane).unwrap_or_default();
    while !kubeconfig(home, names).await?.contains(&token) {
        home.still(deadline, "the kubeconfig does not follow the connection Secret").await?;
    }
    Ok(())
}

/// A paused Cluster is left alone, and catches up afterwards.
pub(super) async fn pauses(home: &Home, names: Names) -> anyhow::Result<()> {
    home.change(Kind::Cluster, names.cluster, json!({ "spec": { "paused": true } })).await?;
    let network = names.network.map(|name| (Kind::Network, name.to_owned()));
    let parts = [
        (Kind::Cluster, names.cluster.to_owned()),
        (Kind::ControlPlane, names.control_plane.to_owned()),
        (Kind::Apply, format!("{}-apply", names.workspace())),
    ];
    for (kind, name) in parts.into_iter().chain(network) {
        home.until(kind, &name, SOON, |object| lacking(object, &[("Paused", "True")])).await?;
    }
    let before = versions(home, names).await?;
    home.terraform.rotate(names.control_plane).await?;
    home.change(
        Kind::ControlPlane,
        names.control_plane,
        json!({ "spec": { "additionalTags": { "a": "b" } } }),
    )
    .await?;
    barrier(home).await?;
    let mut after = versions(home, names).await?;
    // That one was changed by ourselves.
    after.extend(before.get_key_value("ControlPlane").map(|(key, value)| (key.clone(), value.clone())));
    ensure!(before == after, "something was written while paused: {before:?} became {after:?}");
    let control_plane = home.expect(Kind::ControlPlane, names.control_plane).await?;
    let observed = &control_plane["status"]["observedGeneration"];
    ensure!(*observed != control_plane["metadata"]["generation"], "a paused control plane was looked after");
    home.change(Kind::Cluster, names.cluster, json!({ "spec": { "paused": null } })).await?;
    follows(home, names).await?;
    let wanted = [("Paused", "False"), ("Available", "True")];
    home.until(Kind::Cluster, names.cluster, CONNECTED_WITHIN, |cluster| lacking(cluster, &wanted)).await?;
    home.ok("nothing but the condition is written while the Cluster is paused");
    Ok(())
}

/// What of the Cluster's things there is in which version. The user's own control plane has a key of its own.
async fn versions(home: &Home, names: Names) -> anyhow::Result<BTreeMap<String, Value>> {
    let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
    let control_plane = home.expect(Kind::ControlPlane, names.control_plane).await?;
    let mut versions = BTreeMap::from([("ControlPlane".to_owned(), version(&control_plane))]);
    for kind in [Kind::Network, Kind::Apply, Kind::Workspace, Kind::Secret] {
        for object in home.of_cluster(kind, names.cluster).await? {
            versions.insert(format!("{kind:?} {}", object["metadata"]["name"]), version(&object));
        }
    }
    Ok(versions)
}

/// Returns when CAPT has looked at what came after everything that has happened until now.
pub(super) async fn barrier(home: &Home) -> anyhow::Result<()> {
    let name = "barrier";
    let spec = json!({ "version": "1.34", "workspaceTemplateRef": { "name": "control-plane" } });
    home.put(&json!({
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane",
        "metadata": { "name": name }, "spec": spec,
    }))
    .await?;
    home.until(Kind::ControlPlane, name, SOON, |object| lacking(object, &[("Ready", "False")])).await?;
    home.delete(Kind::ControlPlane, name).await
}

/// A new version is carried through, and told while it is on its way and when it is there.
pub(super) async fn upgrades(home: &Home, names: Names) -> anyhow::Result<()> {
    let after = home.workload.after.clone();
    let version = format!("v{after}");
    home.change(Kind::ControlPlane, names.control_plane, json!({ "spec": { "version": version } })).await?;
    home.until(Kind::Workspace, &names.workspace(), SOON, |workspace| {
        let variables = workspace["spec"]["forProvider"]["vars"].as_array();
        let wanted = json!({ "key": "kubernetes_version", "value": after });
        let told = variables.into_iter().flatten().any(|variable| *variable == wanted);
        if told { Vec::new() } else { vec!["it does not ask for the new version".to_owned()] }
    })
    .await?;
    for (kind, name) in [(Kind::ControlPlane, names.control_plane), (Kind::Cluster, names.cluster)] {
        home.until(kind, name, SOON, |object| lacking(object, &[("RollingOut", "True")])).await?;
    }
    home.ok("a version that is on its way is told");
    home.workload.upgrade().await?;
    for (kind, name) in [(Kind::ControlPlane, names.control_plane), (Kind::Cluster, names.cluster)] {
        home.until(kind, name, CONNECTED_WITHIN, |object| {
            let mut missing = lacking(object, &[("RollingOut", "False"), ("Available", "True")]);
            let versions = match kind {
                Kind::Cluster => &object["status"]["controlPlane"]["versions"],
                _ => &object["status"]["versions"],
            };
            if *versions != json!([{ "version": version }]) {
                missing.push(format!("it tells {versions}"));
            }
            missing
        })
        .await?;
    }
    let cluster = home.expect(Kind::Cluster, names.cluster).await?;
    ensure!(status(&cluster, "RemoteConnectionProbe") == Some("True"), "the connection was lost");
    home.ok("a version that is there is told, and no upgrade goes on for ever");
    Ok(())
}
