//! One add-on after the other.

use anyhow::{Context, ensure};
use serde_json::json;

use super::super::hands::{Kind, SOON, lacking, status};
use super::super::home::Home;
use super::site::{STACK, Site, VALUES};
use super::{proposals, record};

/// Flux comes to both clusters, and Karpenter to each when Flux runs there.
pub(super) async fn flux_then_karpenter(home: &Home, one: &mut Site, two: &mut Site) -> anyhow::Result<()> {
    tokio::try_join!(one.is_connected(home), two.is_connected(home))?;
    let available = [("Available", "True")];
    home.until(Kind::Cluster, two.names.cluster, SOON, |cluster| lacking(cluster, &available)).await?;
    for site in [&*one, &*two] {
        let patch = json!({ "metadata": { "labels": { "addons": STACK } } });
        home.change(Kind::Cluster, site.names.cluster, patch).await?;
    }
    tokio::try_join!(has_flux(home, one), has_flux(home, two))?;
    home.ok("Flux is brought to both clusters by Cluster API, and Karpenter waits for it");
    has_karpenter(home, one).await?;
    one.told.in_order(home, &["AddonsReady", "Available"]).await?;
    home.ok("the Cluster `one`, which waits for its add-ons, is available after them");
    // Nothing runs in the other cluster yet.
    waits_for_flux(home, two).await?;
    has_karpenter(home, two).await?;
    home.ok("each cluster has Flux, then its values, then Karpenter");
    Ok(())
}

/// Everything of `fluxcd.yaml` is in the cluster, and nothing runs.
async fn has_flux(home: &Home, site: &Site) -> anyhow::Result<()> {
    waits_for_flux(home, site).await?;
    record::exactly(home, site.names.cluster, &[record::FLUX]).await?;
    for (api_version, kind) in [("v1", "ServiceAccount"), ("batch/v1", "Job")] {
        let found = site.objects(api_version, kind, "flux-system").get_opt("flux-installer").await?;
        found.with_context(|| format!("the {kind} of the proposal is not there"))?;
    }
    Ok(())
}

async fn waits_for_flux(home: &Home, site: &Site) -> anyhow::Result<()> {
    site.until_steps(home, &[("flux", "WaitingForReady"), ("karpenter", "Pending")]).await?;
    let cluster = home.expect(Kind::Cluster, site.names.cluster).await?;
    let labels = &cluster["metadata"]["labels"];
    ensure!(labels["fluxcd.io/enabled"] == "true", "Flux has come without its label");
    ensure!(labels["karpenter.sh/enabled"].is_null(), "Karpenter was let in before Flux runs");
    ensure!(status(&cluster, "AddonsReady") == Some("False"), "it is not told that add-ons are missing");
    let values = site.values().get_opt(VALUES.1).await?;
    ensure!(values.is_none(), "values were written before Flux runs");
    Ok(())
}

/// Flux runs, and Karpenter follows.
async fn has_karpenter(home: &Home, site: &mut Site) -> anyhow::Result<()> {
    site.run_flux().await?;
    site.until_steps(home, &[("flux", "Ready"), ("karpenter", "Ready")]).await?;
    let cluster = site.names.cluster;
    home.until(Kind::Cluster, cluster, SOON, |cluster| lacking(cluster, &[("AddonsReady", "True")])).await?;
    record::exactly(home, cluster, &[record::FLUX, record::KARPENTER]).await?;
    let release = site.releases().get("karpenter").await?;
    let wanted = proposals::release()?;
    ensure!(release.data["spec"] == wanted["spec"], "the HelmRelease is {} and not {wanted}", release.data);
    let told = [
        "label addons",
        "label fluxcd.io/enabled",
        "brought by \"fluxcd-installer\"",
        "label karpenter.sh/enabled",
        "brought by \"karpenter-installer\"",
        "AddonsReady",
    ];
    site.told.in_order(home, &told).await?;
    let happened = ["\"source-controller\" runs", "\"helm-controller\" runs", "the values", "the release"];
    site.happened.in_order(home, &happened).await
}
