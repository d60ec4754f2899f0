//! The life of a Cluster that has a class.

use std::collections::BTreeMap;

use anyhow::{bail, ensure};
use serde_json::{Value, json};

use super::super::home::Home;
use super::super::way_up::{Names, is_up};
use super::class::{VPC, apply, set};
use super::hands::{CONNECTED_WITHIN, Kind, condition, lacking};
use super::site::Site;

/// How often Cluster API may look before nothing is written any more.
const LOOKS: usize = 8;

/// A Cluster is put, and its objects come out as its variables have it.
pub(super) async fn comes_up(home: &Home, names: Names, cluster: &Value) -> anyhow::Result<()> {
    apply(home, cluster).await?;
    is_up(home, names).await?;
    is_reconciled(home, names).await?;
    let network = home.expect(Kind::Network, names.cluster).await?;
    let control_plane = home.expect(Kind::ControlPlane, names.control_plane).await?;
    let (vpc, template) = if names.templated {
        (json!([{ "name": "eks-vpc" }, null]), "eks-control-plane")
    } else {
        (json!([null, VPC]), "eks-in-existing-vpc")
    };
    let version = &cluster["spec"]["topology"]["version"];
    let wanted = [
        ("region", network["spec"]["region"].clone(), json!("eu-west-1")),
        ("the VPC", json!([network["spec"]["vpcTemplateRef"], network["spec"]["existingVpcId"]]), vpc),
        ("the version", control_plane["spec"]["version"].clone(), version.clone()),
        ("the version that runs", control_plane["status"]["version"].clone(), version.clone()),
        ("the template", control_plane["spec"]["workspaceTemplateRef"].clone(), json!({ "name": template })),
        ("the tags", control_plane["spec"]["additionalTags"].clone(), json!({ "team": "platform" })),
        (
            "the ranges",
            control_plane["spec"]["controlPlaneConfig"]["endpointAccess"]["publicCIDRs"].clone(),
            json!(["203.0.113.0/24"]),
        ),
        (
            "what Terraform was told",
            told(home, names).await?,
            json!({
                "minor": minor(version.as_str().unwrap_or_default()),
                "vpc": if names.templated { json!("vpc-of-classy-1-vpc") } else { json!(VPC) },
                "cidrs": ["203.0.113.0/24"],
                "tags": { "team": "platform" },
            }),
        ),
    ];
    for (what, found, wanted) in wanted {
        ensure!(found == wanted, "{what} of {} is {found} and not {wanted}", names.cluster);
    }
    home.ok(&format!("the Cluster `{}` is made from the class, and available", names.cluster));
    Ok(())
}

/// `1.34` of `v1.34.4`.
fn minor(version: &str) -> Option<String> {
    capt_core::kubernetes_version::minor(version)
}

/// What the module of the control plane was told, as its output has it.
pub(super) async fn told(home: &Home, names: Names) -> anyhow::Result<Value> {
    let workspace = home.expect(Kind::Workspace, &names.workspace()).await?;
    Ok(workspace["status"]["atProvider"]["outputs"]["told"].clone())
}

/// Cluster API has done what the Cluster says now.
pub(super) async fn is_reconciled(home: &Home, names: Names) -> anyhow::Result<()> {
    home.until(Kind::Cluster, names.cluster, CONNECTED_WITHIN, |cluster| {
        let mut missing = lacking(cluster, &[("TopologyReconciled", "True")]);
        let told = condition(cluster, "TopologyReconciled").cloned().unwrap_or_default();
        if told["observedGeneration"] != cluster["metadata"]["generation"] {
            missing.push(format!("TopologyReconciled is of an earlier time: {told}"));
        }
        missing
    })
    .await?;
    Ok(())
}

/// Gives a variable of a Cluster another value.
pub(super) async fn vary(home: &Home, names: Names, name: &str, value: &Value) -> anyhow::Result<()> {
    let mut cluster = home.expect(Kind::Cluster, names.cluster).await?;
    set(&mut cluster, name, value);
    let variables = &cluster["spec"]["topology"]["variables"];
    let patch = json!({ "spec": { "topology": { "variables": variables } } });
    home.change(Kind::Cluster, names.cluster, patch).await
}

/// However often Cluster API compares, it finds nothing to write.
pub(super) async fn settles(home: &Home, names: Names) -> anyhow::Result<()> {
    let generations = written(home, names, "generation").await?;
    let mut quiet = 0;
    for look in 1..=LOOKS {
        let before = written(home, names, "resourceVersion").await?;
        // Makes it look again, and is nothing to anybody else.
        let patch =
            json!({ "spec": { "clusterNetwork": { "serviceDomain": format!("look-{look}.local") } } });
        home.change(Kind::Cluster, names.cluster, patch).await?;
        is_reconciled(home, names).await?;
        quiet = if before == written(home, names, "resourceVersion").await? { quiet + 1 } else { 0 };
        if quiet == 2 {
            let now = written(home, names, "generation").await?;
            ensure!(generations == now, "specs were rewritten: {generations:?} became {now:?}");
            home.ok(&format!("nothing is written in the last two of {look} looks of Cluster API"));
            return Ok(());
        }
    }
    bail!("something is written whenever Cluster API looks, {LOOKS} times")
}

/// What tells whether the Cluster's objects were written.
async fn written(home: &Home, names: Names, field: &str) -> anyhow::Result<BTreeMap<String, Value>> {
    let mut versions = BTreeMap::new();
    for (kind, name) in [(Kind::Network, names.cluster), (Kind::ControlPlane, names.control_plane)] {
        let object = home.expect(kind, name).await?;
        versions.insert(format!("{kind:?}"), object["metadata"][field].clone());
    }
    Ok(versions)
}

/// The Cluster is deleted; Terraform takes down the control plane, then its network, and nothing is left.
pub(super) async fn goes_down(home: &Home, site: &Site, names: Names) -> anyhow::Result<()> {
    home.delete(Kind::Cluster, names.cluster).await?;
    let workspace = names.workspace();
    let network = names.network_workspace();
    let parts = [
        (Kind::Cluster, names.cluster),
        (Kind::Network, names.cluster),
        (Kind::ControlPlane, names.control_plane),
        (Kind::Workspace, workspace.as_str()),
        (Kind::Workspace, network.as_str()),
    ];
    home.until_gone(names.cluster, &parts).await?;
    let diary = site.diary();
    let of_cluster = |line: &&String| {
        let name = line.strip_prefix("destroyed ");
        name.is_some_and(|name| name == names.cluster || name == network)
    };
    let destroyed: Vec<&String> = diary.iter().filter(of_cluster).collect();
    let mut wanted = vec![format!("destroyed {}", names.cluster)];
    if names.templated {
        wanted.push(format!("destroyed {network}"));
    }
    ensure!(destroyed.iter().copied().eq(&wanted), "Terraform did {diary:?} and not {wanted:?}");
    home.ok(&format!("the Cluster `{}` is deleted, Terraform has destroyed {wanted:?}", names.cluster));
    Ok(())
}
