//! What happens to a Cluster that has a class: its tags change, it is upgraded, it gets another class.

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::home::Home;
use super::super::way_up::Names;
use super::class::{SECOND, TIMEOUT, put_second};
use super::hands::{CONNECTED_WITHIN, Kind, SOON, lacking};
use super::life::{is_reconciled, told, vary};
use super::site::Site;

/// Changed tags reach Terraform, by one write, and nothing is made anew.
pub(super) async fn is_tagged(home: &Home, names: Names) -> anyhow::Result<()> {
    let before = home.expect(Kind::ControlPlane, names.control_plane).await?;
    let tags = json!({ "team": "storage", "cost": "42" });
    vary(home, names, "tags", &tags).await?;
    let deadline = Instant::now() + SOON;
    while told(home, names).await?["tags"] != tags {
        home.still(deadline, "Terraform was not told of the tags").await?;
    }
    is_reconciled(home, names).await?;
    let after = home.expect(Kind::ControlPlane, names.control_plane).await?;
    is_changed_once(&before, &after)?;
    home.ok("changed tags reach Terraform, by one write");
    Ok(())
}

/// The same object, with one change of its spec.
fn is_changed_once(before: &Value, after: &Value) -> anyhow::Result<()> {
    let [before, after] = [before, after].map(|object| &object["metadata"]);
    ensure!(before["uid"] == after["uid"], "the control plane was replaced");
    let generation = before["generation"].as_i64().context("no generation")?;
    ensure!(
        after["generation"] == generation + 1,
        "the spec was written more than once: from generation {generation} to {}",
        after["generation"]
    );
    Ok(())
}

/// A new version in the topology is one run of Terraform, told while it is on its way and when it is there.
pub(super) async fn is_upgraded(home: &Home, site: &Site, names: Names) -> anyhow::Result<()> {
    let before = home.expect(Kind::ControlPlane, names.control_plane).await?;
    let diary = site.diary();
    let after = home.workload.after.clone();
    let version = format!("v{after}");
    let patch = json!({ "spec": { "topology": { "version": version } } });
    home.change(Kind::Cluster, names.cluster, patch).await?;
    let deadline = Instant::now() + SOON;
    while !site.is_asked_for(&after) {
        home.still(deadline, "Terraform does not ask for the new version").await?;
    }
    for (kind, name) in [(Kind::ControlPlane, names.control_plane), (Kind::Cluster, names.cluster)] {
        home.until(kind, name, SOON, |object| lacking(object, &[("RollingOut", "True")])).await?;
    }
    home.workload.upgrade().await?;
    site.has(&after)?;
    home.until(Kind::ControlPlane, names.control_plane, CONNECTED_WITHIN, |object| {
        let mut missing = lacking(object, &[("RollingOut", "False"), ("Available", "True")]);
        if object["status"]["version"] != json!(version) {
            missing.push(format!("it tells {}", object["status"]["version"]));
        }
        missing
    })
    .await?;
    home.until(Kind::Cluster, names.cluster, CONNECTED_WITHIN, |cluster| {
        lacking(cluster, &[("RollingOut", "False"), ("Available", "True"), ("TopologyReconciled", "True")])
    })
    .await?;
    is_reconciled(home, names).await?;
    let upgraded = home.expect(Kind::ControlPlane, names.control_plane).await?;
    is_changed_once(&before, &upgraded)?;
    ensure!(upgraded["spec"]["version"] == json!(version), "the version is {}", upgraded["spec"]["version"]);
    let done = site.diary()[diary.len()..].to_vec();
    ensure!(done == [format!("{} has {after}", names.cluster)], "Terraform did {done:?}");
    home.ok(&format!("an upgrade to {version} is one run of Terraform on the same control plane"));
    Ok(())
}

/// Another class changes the objects that are there.
pub(super) async fn changes_its_class(home: &Home, site: &Site, names: Names) -> anyhow::Result<()> {
    put_second(home).await?;
    let before = home.expect(Kind::ControlPlane, names.control_plane).await?;
    let diary = site.diary();
    let patch = json!({ "spec": { "topology": { "classRef": { "name": SECOND } } } });
    home.change(Kind::Cluster, names.cluster, patch).await?;
    home.until(Kind::ControlPlane, names.control_plane, SOON, |object| {
        let found = &object["spec"]["beforeDestroy"]["timeout"];
        (*found != TIMEOUT).then(|| format!("its timeout is {found}")).into_iter().collect()
    })
    .await?;
    is_reconciled(home, names).await?;
    let after = home.expect(Kind::ControlPlane, names.control_plane).await?;
    is_changed_once(&before, &after)?;
    ensure!(site.diary() == diary, "Terraform made something: {:?}", site.diary());
    home.ok("another class changes the objects that are there, and Terraform makes nothing anew");
    Ok(())
}
