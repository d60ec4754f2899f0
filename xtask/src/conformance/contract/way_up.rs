//! From plain YAML to a Cluster that can be used.

use anyhow::{Context, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capt_api::names::{CLUSTER_SECRET_TYPE, label};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, ListParams};
use serde_json::{Value, json};

use super::super::server::client;
use super::hands::{CONNECTED_WITHIN, Kind, SOON, lacking};
use super::home::Home;

const OBJECTS: &str = include_str!("clusters.yaml");

/// A Cluster and the names of its parts.
#[derive(Clone, Copy)]
pub(super) struct Names {
    pub(super) cluster: &'static str,
    pub(super) network: Option<&'static str>,
    pub(super) control_plane: &'static str,
    /// Whether CAPT makes the VPC.
    pub(super) templated: bool,
}

pub(super) const TEMPLATED: Names =
    Names { cluster: "templated", network: Some("templated"), control_plane: "templated", templated: true };
pub(super) const EXISTING: Names = Names {
    cluster: "existing",
    network: Some("existing-network"),
    control_plane: "existing-plane",
    templated: false,
};
pub(super) const ALONE: Names =
    Names { cluster: "alone", network: None, control_plane: "alone", templated: false };
pub(super) const AT_ONCE: Names =
    Names { cluster: "at-once", network: Some("at-once"), control_plane: "at-once", templated: true };

impl Names {
    /// The name of the control plane's Workspace.
    pub(super) fn workspace(&self) -> String {
        format!("{}-eks-controlplane", self.control_plane)
    }

    /// The name of the network's Workspace.
    pub(super) fn network_workspace(&self) -> String {
        format!("{}-vpc", self.cluster)
    }

    pub(super) fn kubeconfig(&self) -> String {
        format!("{}-kubeconfig", self.cluster)
    }
}

/// Applies every object of the YAML.
pub(super) async fn put_all(home: &Home) -> anyhow::Result<()> {
    let before = &home.workload.before;
    let minor = before.rsplit_once('.').map_or(before.as_str(), |(minor, _)| minor);
    let text = OBJECTS.replace("VERSION", &format!("v{before}")).replace("MINOR", &format!("\"{minor}\""));
    let objects: Vec<Value> = serde_saphyr::from_multiple(&text).context("reading clusters.yaml")?;
    for object in &objects {
        home.put(object).await?;
    }
    Ok(())
}

/// The Cluster can be used, and says so; so do its parts.
pub(super) async fn comes_up(home: &Home, names: Names) -> anyhow::Result<()> {
    let cluster = is_up(home, names).await?;
    let versions = json!([{ "version": format!("v{}", home.workload.version()) }]);
    let control_plane = home.expect(Kind::ControlPlane, names.control_plane).await?;
    for found in [&cluster["status"]["controlPlane"]["versions"], &control_plane["status"]["versions"]] {
        ensure!(*found == versions, "of Cluster {} is told {found} and not {versions}", names.cluster);
    }
    opens(home, names).await?;
    let summary = if is_vague(home, names) { "connected" } else { "available" };
    home.ok(&format!("the Cluster `{}` is provisioned and {summary}", names.cluster));
    Ok(())
}

/// Cluster API itself says nothing sure about a network that is not named, and so neither about the whole.
fn is_vague(home: &Home, names: Names) -> bool {
    home.core.is_some() && names.network.is_none()
}

/// The Cluster says that it can be used, and owns its parts.
pub(super) async fn is_up(home: &Home, names: Names) -> anyhow::Result<Value> {
    let endpoint = endpoint(home)?;
    let cluster = home
        .until(Kind::Cluster, names.cluster, CONNECTED_WITHIN, |cluster| {
            let mut missing = not_up(cluster, &endpoint);
            if !is_vague(home, names) {
                missing.extend(lacking(cluster, &[("InfrastructureReady", "True"), ("Available", "True")]));
            }
            missing
        })
        .await?;
    owns(home, names, &cluster).await?;
    Ok(cluster)
}

fn endpoint(home: &Home) -> anyhow::Result<Value> {
    let address = home.workload.url.strip_prefix("https://").context("an address without https")?;
    let (host, port) = address.split_once(':').context("an address without a port")?;
    Ok(json!({ "host": host, "port": port.parse::<u16>()? }))
}

/// What is missing of a Cluster that is provisioned and connected.
fn not_up(cluster: &Value, endpoint: &Value) -> Vec<String> {
    let mut missing = lacking(
        cluster,
        &[
            ("ControlPlaneInitialized", "True"),
            ("ControlPlaneAvailable", "True"),
            ("RemoteConnectionProbe", "True"),
            ("WorkersAvailable", "True"),
            ("RollingOut", "False"),
            ("Deleting", "False"),
            ("Paused", "False"),
        ],
    );
    let fields = [
        ("/status/initialization/infrastructureProvisioned", json!(true)),
        ("/status/initialization/controlPlaneInitialized", json!(true)),
        ("/status/phase", json!("Provisioned")),
        ("/spec/controlPlaneEndpoint", endpoint.clone()),
    ];
    for (path, wanted) in fields {
        let found = cluster.pointer(path).cloned().unwrap_or_default();
        if found != wanted {
            missing.push(format!("{path} is {found} and not {wanted}"));
        }
    }
    missing
}

/// Its parts are marked as the Cluster's own. Conditions may have been there before whoever marks them.
async fn owns(home: &Home, names: Names, cluster: &Value) -> anyhow::Result<()> {
    let network = names.network.map(|name| (Kind::Network, name));
    for (kind, name) in network.into_iter().chain([(Kind::ControlPlane, names.control_plane)]) {
        home.until(kind, name, SOON, |part| {
            let mut missing = Vec::new();
            let owners = part["metadata"]["ownerReferences"].as_array();
            if !owners.into_iter().flatten().any(|owner| owner["uid"] == cluster["metadata"]["uid"]) {
                missing.push("it is not owned by its Cluster".to_owned());
            }
            if part["metadata"]["labels"][label::CLUSTER_NAME] != names.cluster {
                missing.push("it does not carry its Cluster's name".to_owned());
            }
            missing
        })
        .await?;
    }
    Ok(())
}

/// What is in `<cluster>-kubeconfig`.
pub(super) async fn kubeconfig(home: &Home, names: Names) -> anyhow::Result<String> {
    let secret = home.expect(Kind::Secret, &names.kubeconfig()).await?;
    let value = secret["data"]["value"].as_str().context("no `value` in the kubeconfig Secret")?;
    Ok(String::from_utf8(STANDARD.decode(value)?)?)
}

/// `<cluster>-kubeconfig` is as Cluster API wants it, and opens the cluster.
async fn opens(home: &Home, names: Names) -> anyhow::Result<()> {
    let secret = home.expect(Kind::Secret, &names.kubeconfig()).await?;
    ensure!(secret["type"] == CLUSTER_SECRET_TYPE, "the kubeconfig Secret is of type {}", secret["type"]);
    ensure!(secret["metadata"]["labels"][label::CLUSTER_NAME] == names.cluster, "no label on the kubeconfig");
    let control_plane = home.expect(Kind::ControlPlane, names.control_plane).await?;
    let owner = &secret["metadata"]["ownerReferences"][0]["uid"];
    ensure!(*owner == control_plane["metadata"]["uid"], "the kubeconfig is not owned by its control plane");
    let namespaces: Api<Namespace> = Api::all(client(&kubeconfig(home, names).await?).await?);
    let found = namespaces.list(&ListParams::default()).await.context("using the kubeconfig")?;
    ensure!(!found.items.is_empty(), "a cluster without a namespace");
    Ok(())
}
