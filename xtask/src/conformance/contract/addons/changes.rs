//! What happens to add-ons that are there.

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use kube::runtime::wait::await_condition;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::super::hands::{Kind, SOON, lacking, status};
use super::super::home::Home;
use super::super::way_down::goes_down;
use super::record;
use super::site::{Site, VALUES, texts};

const QUEUE: &str = "karpenter_queue_name";

/// Each cluster has its own values, and never had any other's.
pub(super) async fn values_stay_apart(home: &Home, sites: [&Site; 2]) -> anyhow::Result<()> {
    for site in sites {
        let name = site.names.cluster;
        let secret = serde_json::to_value(site.values().get(VALUES.1).await?)?;
        let wanted = [
            ("cluster_name", name.to_owned()),
            ("cluster_endpoint", site.workload.url.clone()),
            ("karpenter_iam_role_arn", format!("arn:aws:iam::111122223333:role/{name}-karpenter")),
            (QUEUE, format!("{name}-karpenter")),
        ];
        let wanted: BTreeMap<_, _> = wanted.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let found = texts(&secret);
        ensure!(found == wanted, "the values in {name} are {found:?} and not {wanted:?}");
        let watched = &secret["metadata"]["labels"]["reconcile.fluxcd.io/watch"];
        ensure!(*watched == "Enabled", "Flux does not watch the values in {name}");
        let ever = site.happened.beginning("values of ");
        ensure!(ever == [format!("values of {name}")], "in {name} there were {ever:?}");
        // Also when the values of another one were brought by hand.
        record::exactly(home, name, &[record::FLUX, record::KARPENTER]).await?;
    }
    home.ok("each cluster has its own values, and never had another's");
    Ok(())
}

/// A changed output reaches the cluster that it belongs to, and Flux takes it.
pub(super) async fn an_output_is_followed(home: &Home, site: &Site, other: &Site) -> anyhow::Result<()> {
    let before = values_told(&site.until_steps(home, &[]).await?);
    let started = Instant::now();
    let connection = format!("{}-eks-connection", site.names.control_plane);
    home.change(Kind::Secret, &connection, json!({ "stringData": { QUEUE: "another-queue" } })).await?;
    let changed = await_condition(site.values(), VALUES.1, |secret: Option<&_>| {
        let queue = secret.and_then(|secret| texts(&json!(secret)).remove(QUEUE));
        queue.as_deref() == Some("another-queue")
    });
    timeout(SOON, changed).await.context("a changed output does not reach its cluster")??;
    let milliseconds = started.elapsed().as_millis();
    home.until(Kind::StackBinding, &site.binding(), SOON, |binding| {
        let told = values_told(binding);
        let taken = told["consumers"][0]["consumed"] == true && told["delivered"] != before["delivered"];
        let mut missing = lacking(binding, &[("Ready", "True")]);
        missing.extend((!taken).then(|| format!("of the values is told {told}")));
        missing
    })
    .await?;
    let others = texts(&serde_json::to_value(other.values().get(VALUES.1).await?)?);
    let wanted = format!("{}-karpenter", other.names.cluster);
    ensure!(others.get(QUEUE) == Some(&wanted), "the output of one cluster reached another");
    home.ok(&format!("a changed output is in its cluster after {milliseconds} ms, and Flux takes it"));
    Ok(())
}

/// What is told of the Secret with values.
fn values_told(binding: &Value) -> Value {
    let steps = binding["status"]["addons"].as_array();
    let karpenter = steps.into_iter().flatten().find(|step| step["name"] == "karpenter");
    karpenter.map(|step| step["values"][0].clone()).unwrap_or_default()
}

/// Cluster API writes conditions of its own beside ours, and counts on ours when it is asked to.
pub(super) async fn the_condition_stays(home: &Home, site: &Site) -> anyhow::Result<()> {
    let patch = json!({
        "metadata": { "labels": { "example.com/touched": "true" } },
        "spec": { "availabilityGates": [{ "conditionType": "AddonsReady" }] },
    });
    home.change(Kind::Cluster, site.names.cluster, patch).await?;
    home.until(Kind::Cluster, site.names.cluster, SOON, |cluster| {
        let mut missing = lacking(cluster, &[("AddonsReady", "True"), ("Available", "True")]);
        if cluster["status"]["observedGeneration"] != cluster["metadata"]["generation"] {
            missing.push("Cluster API has not looked at it again".to_owned());
        }
        missing
    })
    .await?;
    site.told.over(home, "no AddonsReady", "AddonsReady").await?;
    home.ok("the condition of the add-ons stays while Cluster API writes its own");
    Ok(())
}

/// A cluster that is no longer selected keeps what it has, and nothing is told of it any more.
pub(super) async fn a_cluster_leaves(home: &Home, site: &Site) -> anyhow::Result<()> {
    let name = site.names.cluster;
    home.change(Kind::Cluster, name, json!({ "metadata": { "labels": { "addons": null } } })).await?;
    home.until(Kind::Cluster, name, SOON, |cluster| {
        let told = status(cluster, "AddonsReady");
        told.map(|told| format!("AddonsReady is still {told}")).into_iter().collect()
    })
    .await?;
    let deadline = Instant::now() + SOON;
    while home.get(Kind::StackBinding, &site.binding()).await?.is_some() {
        home.still(deadline, "the binding of a cluster that left is still there").await?;
    }
    site.releases().get("karpenter").await.context("what was brought did not stay")?;
    site.values().get(VALUES.1).await.context("the values did not stay")?;
    home.ok("a cluster that leaves the stack keeps what it has, and the condition goes");
    Ok(())
}

/// A Cluster with add-ons is deleted as every other one is.
pub(super) async fn a_cluster_goes(home: &Home, site: &Site) -> anyhow::Result<()> {
    goes_down(home, site.names).await?;
    let record = home.get(Kind::ResourceSetBinding, site.names.cluster).await?;
    ensure!(record.is_none(), "what Cluster API brought to {} is still written down", site.names.cluster);
    Ok(())
}
