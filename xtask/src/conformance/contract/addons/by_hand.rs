//! The way of the proposals without a stack: the user sets the labels, and wraps the values.

use anyhow::ensure;
use serde_json::json;

use super::super::hands::{CONNECTED_WITHIN, Kind, lacking};
use super::super::home::Home;
use super::super::way_up::EXISTING;
use super::nodes::objects;
use super::site::{VALUES, texts, until};
use super::{proposals, record};

/// The values that were written for one cluster reach it.
pub(super) async fn values_of_one_cluster(home: &Home) -> anyhow::Result<()> {
    let cluster = EXISTING.cluster;
    proposals::put_values_by_hand(home).await?;
    let connected = [("RemoteConnectionProbe", "True")];
    home.until(Kind::Cluster, cluster, CONNECTED_WITHIN, |cluster| lacking(cluster, &connected)).await?;
    let labels = json!({
        "fluxcd.io/enabled": "true", "karpenter.sh/enabled": "true", "example.com/values-of": "demo",
    });
    home.change(Kind::Cluster, cluster, json!({ "metadata": { "labels": labels } })).await?;
    let sets = [record::FLUX, record::KARPENTER, record::VALUES_BY_HAND];
    record::exactly(home, cluster, &sets).await?;
    // The API server of this cluster is upgraded at some time, and then out of reach for a while.
    let values = objects(&home.workload.client, "v1", "Secret", VALUES.0);
    let found = until(home, &values, VALUES.1, |_| true).await?;
    let (found, wanted) = (json!(texts(&found)), &proposals::values_by_hand()?["stringData"]);
    ensure!(found == *wanted, "the values by hand are {found} and not {wanted}");
    let releases = objects(&home.workload.client, "helm.toolkit.fluxcd.io/v2", "HelmRelease", "karpenter");
    until(home, &releases, "karpenter", |_| true).await?;
    home.ok("by hand and without a stack, one cluster gets Flux, Karpenter and its values");
    Ok(())
}
