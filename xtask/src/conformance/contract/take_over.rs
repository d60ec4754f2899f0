//! The real Cluster API arrives where CAPT has looked after Clusters itself.

use std::collections::BTreeMap;

use anyhow::ensure;
use capt_api::names::label;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::binary::ClusterApi;
use super::changes::barrier;
use super::hands::{CONNECTED_WITHIN, Kind, SOON};
use super::home::Home;
use super::way_down::goes_down;
use super::way_up::{Names, is_up};

/// CAPT steps back, and the Cluster stays as it was.
pub(super) async fn steps_back(
    home: &mut Home,
    cluster_api: &ClusterApi,
    names: Names,
) -> anyhow::Result<()> {
    let before = identities(home, names).await?;
    home.server.apply(&cluster_api.crds).await?;
    is_left_alone(home, names).await?;
    home.ok("CAPT leaves Clusters alone as soon as their CRD is Cluster API's");
    home.join(cluster_api)?;
    let deadline = Instant::now() + CONNECTED_WITHIN;
    while home.core.as_ref().is_some_and(|core| core.connections(names.cluster) == 0) {
        home.still(deadline, "Cluster API has not connected to a Cluster that it found").await?;
    }
    is_up(home, names).await?;
    let after = identities(home, names).await?;
    ensure!(before == after, "Cluster API arrived and {before:?} became {after:?}");
    home.ok("the real Cluster API arrives, CAPT steps back, and nothing is made anew");
    goes_down(home, names).await
}

/// Whoever looks after Clusters puts this label back.
async fn is_left_alone(home: &Home, names: Names) -> anyhow::Result<()> {
    let deadline = Instant::now() + SOON;
    loop {
        let patch = json!({ "metadata": { "labels": { label::CLUSTER_NAME: null } } });
        home.change(Kind::ControlPlane, names.control_plane, patch).await?;
        barrier(home).await?;
        let control_plane = home.expect(Kind::ControlPlane, names.control_plane).await?;
        if control_plane["metadata"]["labels"][label::CLUSTER_NAME].is_null() {
            return Ok(());
        }
        home.still(deadline, "CAPT goes on looking after Clusters that are Cluster API's").await?;
    }
}

/// What must stay the same: which objects there are, and what was asked of Terraform.
async fn identities(home: &Home, names: Names) -> anyhow::Result<BTreeMap<String, (Value, Value)>> {
    let mut identities = BTreeMap::new();
    let cluster = home.expect(Kind::Cluster, names.cluster).await?;
    identities.insert("Cluster".to_owned(), (cluster["metadata"]["uid"].clone(), cluster["spec"].clone()));
    for kind in [Kind::Network, Kind::ControlPlane, Kind::Apply, Kind::Workspace] {
        for object in home.of_cluster(kind, names.cluster).await? {
            let metadata = &object["metadata"];
            let identity = (metadata["uid"].clone(), metadata["generation"].clone());
            identities.insert(format!("{kind:?} {}", metadata["name"]), identity);
        }
    }
    Ok(identities)
}
