//! A Cluster whose workload cluster is an API server of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Context;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capt_core::addon::names;
use kube::api::{Api, DynamicObject};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::hands::{CONNECTED_WITHIN, Kind, SOON, lacking, status};
use super::super::home::Home;
use super::super::way_up::Names;
use super::super::workload::Workload;
use super::diary::Diary;
use super::nodes::{Flux, objects};
use super::{ONE, nodes};

const OBJECTS: &str = include_str!("cluster.yaml");

/// The stack of the proposals.
pub(super) const STACK: &str = "base";
/// The namespace and the name of the Secret with values, as the stack has it.
pub(super) const VALUES: (&str, &str) = ("karpenter", "eks-connection");

/// A Cluster and what is seen of it.
pub(super) struct Site {
    pub(super) names: Names,
    pub(super) workload: Arc<Workload>,
    /// What happens to the Cluster.
    pub(super) told: Diary,
    /// What happens in the cluster.
    pub(super) happened: Diary,
    flux: Option<Flux>,
}

impl Site {
    /// Makes the cluster and the Cluster, and does not wait for it.
    pub(super) async fn found(home: &Home, names: Names) -> anyhow::Result<Self> {
        let workload = home.found(names.control_plane).await?;
        let version = format!("v{}", workload.version());
        let text = OBJECTS.replace("NAME", names.cluster).replace("VERSION", &version);
        let objects: Vec<Value> = serde_saphyr::from_multiple(&text).context("reading cluster.yaml")?;
        for mut object in objects {
            if object["kind"] == "Cluster" && names.cluster == ONE.cluster {
                object["spec"]["availabilityGates"] = json!([{ "conditionType": "AddonsReady" }]);
            }
            home.put(&object).await?;
        }
        let (told, happened) = (Diary::default(), Diary::default());
        Ok(Self { names, workload, told, happened, flux: None })
    }

    /// Waits until Cluster API has connected to it, and notes from then on what happens.
    pub(super) async fn is_connected(&mut self, home: &Home) -> anyhow::Result<()> {
        let name = self.names.cluster;
        let wanted = [("ControlPlaneInitialized", "True"), ("RemoteConnectionProbe", "True")];
        home.until(Kind::Cluster, name, CONNECTED_WITHIN, |cluster| lacking(cluster, &wanted)).await?;
        self.told.watch(home.api(Kind::Cluster), name, of_cluster).await?;
        self.told.watch(home.api(Kind::ResourceSetBinding), name, of_sets).await
    }

    /// The name of what the stack tells of it.
    pub(super) fn binding(&self) -> String {
        names::binding(STACK, self.names.cluster)
    }

    /// Objects in the cluster.
    pub(super) fn objects(&self, api_version: &str, kind: &str, namespace: &str) -> Api<DynamicObject> {
        objects(&self.workload.client, api_version, kind, namespace)
    }

    pub(super) fn releases(&self) -> Api<DynamicObject> {
        self.objects("helm.toolkit.fluxcd.io/v2", "HelmRelease", "karpenter")
    }

    pub(super) fn values(&self) -> Api<DynamicObject> {
        self.objects("v1", "Secret", VALUES.0)
    }

    /// A node comes, on which Flux runs; what happens then is noted.
    pub(super) async fn run_flux(&mut self) -> anyhow::Result<()> {
        let deployments = self.objects("apps/v1", "Deployment", "flux-system");
        for name in nodes::CONTROLLERS {
            self.happened.watch(deployments.clone(), name, of_deployment).await?;
        }
        self.happened.watch(self.values(), VALUES.1, of_values).await?;
        self.happened.watch(self.releases(), "karpenter", |_| vec!["the release".to_owned()]).await?;
        self.flux = Some(Flux::run(&self.workload.client).await?);
        Ok(())
    }

    /// Waits until add-ons are where they should be.
    pub(super) async fn until_steps(&self, home: &Home, steps: &[(&str, &str)]) -> anyhow::Result<Value> {
        home.until(Kind::StackBinding, &self.binding(), SOON, |binding| {
            let told = binding["status"]["addons"].as_array();
            let told: BTreeMap<_, _> = told
                .into_iter()
                .flatten()
                .filter_map(|step| Some((step["name"].as_str()?, step["state"].as_str()?)))
                .collect();
            let late = steps.iter().filter(|(name, state)| told.get(name) != Some(state));
            late.map(|(name, state)| format!("{name} is {:?} and not {state}", told.get(name))).collect()
        })
        .await
    }
}

/// What is in a Secret.
pub(super) fn texts(secret: &Value) -> BTreeMap<String, String> {
    let data = secret["data"].as_object().into_iter().flatten();
    data.filter_map(|(key, value)| {
        let decoded = STANDARD.decode(value.as_str()?).ok()?;
        Some((key.clone(), String::from_utf8(decoded).ok()?))
    })
    .collect()
}

/// Looks at an object in a cluster, which may be out of reach for a while, until it is as it should be.
pub(super) async fn until(
    home: &Home,
    objects: &Api<DynamicObject>,
    name: &str,
    wanted: impl Fn(&Value) -> bool,
) -> anyhow::Result<Value> {
    let deadline = Instant::now() + SOON;
    loop {
        let lack = match objects.get_opt(name).await {
            Ok(None) => "it is not there".to_owned(),
            Err(error) => error.to_string(),
            Ok(Some(found)) => {
                let found = serde_json::to_value(found)?;
                if wanted(&found) {
                    return Ok(found);
                }
                "it is not as it should be".to_owned()
            }
        };
        home.still(deadline, &format!("{name} in the cluster: {lack}")).await?;
    }
}

fn of_cluster(cluster: &Value) -> Vec<String> {
    let mut truths = Vec::new();
    for label in ["addons", "fluxcd.io/enabled", "karpenter.sh/enabled"] {
        if cluster["metadata"]["labels"][label].is_string() {
            truths.push(format!("label {label}"));
        }
    }
    for condition in ["AddonsReady", "Available"] {
        match status(cluster, condition) {
            None => truths.push(format!("no {condition}")),
            Some("True") => truths.push(condition.to_owned()),
            Some(_) => {}
        }
    }
    truths
}

fn of_sets(binding: &Value) -> Vec<String> {
    let bindings = binding["spec"]["bindings"].as_array().into_iter().flatten();
    let brought = bindings.filter(|binding| {
        let resources = binding["resources"].as_array();
        resources.is_some_and(|all| all.iter().all(|resource| resource["applied"] == true))
    });
    brought.map(|binding| format!("brought by {}", binding["clusterResourceSetName"])).collect()
}

fn of_deployment(deployment: &Value) -> Vec<String> {
    let name = &deployment["metadata"]["name"];
    let runs = deployment["status"]["availableReplicas"] == 1;
    if runs { vec![format!("{name} runs")] } else { Vec::new() }
}

fn of_values(secret: &Value) -> Vec<String> {
    let whose = texts(secret).remove("cluster_name").unwrap_or_default();
    vec!["the values".to_owned(), format!("values of {whose}")]
}
