//! What is moved: in each namespace a cluster with its network, its templates and an add-on, all under the same names.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use capt_api::names::{annotation, label};
use capt_api::{
    AddonStack, AddonStackBinding, CAPTCluster, CAPTControlPlane, Cluster, Workspace, WorkspaceTemplate,
    WorkspaceTemplateApply,
};
use capt_local::ControlPlane;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use kube::{Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::super::engine::tainted::{resources, unpack};
use super::PAUSE;
use crate::conformance::objects_of;

const NAME: &str = "demo";
const CONNECTION: &str = "demo-eks-connection";
const BEGUN_WITHIN: Duration = Duration::from_secs(60);

/// What a cluster must stay, wherever it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    /// By the Secret that holds a state: its lineage, and what was made.
    states: BTreeMap<String, (String, BTreeSet<String>)>,
    outputs: BTreeMap<String, Vec<u8>>,
    /// The uid of what the add-on brought.
    addon: Option<String>,
}

impl Identity {
    /// Whether it is the same, but for what was made since.
    pub(crate) fn is_kept_by(&self, now: &Self) -> bool {
        let same = |(name, (lineage, made)): (&String, &(String, BTreeSet<String>))| {
            now.states.get(name).is_some_and(|(now, all)| lineage == now && made.is_subset(all))
        };
        self.states.len() == now.states.len()
            && self.states.iter().all(same)
            && self.outputs == now.outputs
            && self.addon == now.addon
    }
}

pub(crate) struct Fleet {
    /// Leads to the cluster that stands for those which are made.
    kubeconfig: String,
    authority: String,
    endpoint: String,
    workload: Client,
    steps: u32,
}

impl Fleet {
    /// The clusters that are made are this API server, which is there anyway: nobody minds who makes it.
    pub(crate) fn new(control_plane: &ControlPlane, workload: Client) -> Self {
        Self {
            kubeconfig: control_plane.kubeconfig(),
            authority: control_plane.certificate_authority().to_owned(),
            endpoint: control_plane.url().to_owned(),
            workload,
            steps: 1,
        }
    }

    pub(crate) async fn create(&self, client: &Client, namespace: &str) -> anyhow::Result<()> {
        let mut objects =
            vec![json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace } })];
        objects.extend(self.objects(namespace));
        for object in objects {
            put(client, &object).await?;
        }
        Ok(())
    }

    fn objects(&self, namespace: &str) -> Vec<Value> {
        let metadata = |name: &str| json!({ "name": name, "namespace": namespace });
        let manifest = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": brought(namespace), "namespace": "default" },
        });
        let mut manifests = metadata("manifests");
        // clusterctl takes along what carries this, and no other ConfigMap.
        manifests["labels"] = json!({ label::MOVE: "" });
        let mut cluster = metadata(NAME);
        cluster["labels"] = json!({ "addons": NAME });
        let addon = json!({ "name": "base", "delivery": "Direct", "resources": [{ "kind": "ConfigMap", "name": "manifests" }] });
        vec![
            self.control_plane_template(namespace),
            json!({
                "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplate",
                "metadata": metadata("network"),
                "spec": { "template": { "spec": { "forProvider": { "source": "Inline", "module": NETWORK } } } },
            }),
            json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": manifests,
                "data": { "it.yaml": manifest.to_string() },
            }),
            json!({
                "apiVersion": "addons.cluster.x-k8s.io/v1alpha1", "kind": "AddonStack", "metadata": metadata("stack"),
                "spec": { "clusterSelector": { "matchLabels": { "addons": NAME } }, "addons": [addon] },
            }),
            json!({
                "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "CAPTCluster",
                "metadata": metadata(NAME),
                "spec": { "region": "local", "vpcTemplateRef": { "name": "network" } },
            }),
            json!({
                "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane",
                "metadata": metadata(NAME),
                "spec": { "version": "1.34", "workspaceTemplateRef": { "name": "control-plane" } },
            }),
            json!({
                "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": cluster,
                "spec": {
                    "infrastructureRef": {
                        "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "CAPTCluster", "name": NAME,
                    },
                    "controlPlaneRef": {
                        "apiGroup": "controlplane.cluster.x-k8s.io", "kind": "CAPTControlPlane", "name": NAME,
                    },
                },
            }),
        ]
    }

    fn control_plane_template(&self, namespace: &str) -> Value {
        let text = |value: &str| Value::from(value).to_string();
        let module = CONTROL_PLANE
            .replace("STEPS", &self.steps.to_string())
            .replace("\"KUBECONFIG\"", &text(&self.kubeconfig))
            .replace("\"AUTHORITY\"", &text(&self.authority))
            .replace("\"ENDPOINT\"", &text(&self.endpoint));
        json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplate",
            "metadata": { "name": "control-plane", "namespace": namespace },
            "spec": { "template": { "spec": { "forProvider": { "source": "Inline", "module": module } } } },
        })
    }

    /// Asks for one thing more, which takes some seconds, and waits until it is being made.
    pub(super) async fn change(&mut self, client: &Client, namespace: &str) -> anyhow::Result<()> {
        self.steps += 1;
        put(client, &self.control_plane_template(namespace)).await?;
        let deadline = Instant::now() + BEGUN_WITHIN;
        let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
        loop {
            let all = secrets.list_metadata(&ListParams::default()).await?;
            if all.iter().any(|secret| secret.annotations().contains_key(annotation::BLOCK_MOVE)) {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "nothing was begun in {namespace}");
            sleep(PAUSE / 5).await;
        }
    }

    /// A move that was given up leaves its Clusters paused.
    pub(super) async fn unpause(&self, client: &Client, namespace: &str) -> anyhow::Result<()> {
        let clusters: Api<Cluster> = Api::namespaced(client.clone(), namespace);
        let patch = Patch::Merge(json!({ "spec": { "paused": null } }));
        match clusters.patch(NAME, &PatchParams::default(), &patch).await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            patched => Ok(patched.map(drop)?),
        }
    }

    /// What is not yet as it should be where the namespace is.
    pub(crate) async fn unsettled(&self, client: &Client, namespace: &str) -> anyhow::Result<Vec<String>> {
        let clusters: Api<Cluster> = Api::namespaced(client.clone(), namespace);
        let mut unsettled = Vec::new();
        let cluster =
            clusters.get_opt(NAME).await?.map(serde_json::to_value).transpose()?.unwrap_or_default();
        for type_ in ["Available", "AddonsReady"] {
            unsettled.extend(untrue(&cluster, type_, &format!("Cluster {namespace}")));
        }
        let workspaces = workspaces(client, namespace).await?;
        let active: Vec<&Value> = workspaces
            .iter()
            .filter(|it| it["metadata"]["annotations"][annotation::FROZEN].is_null())
            .collect();
        if active.len() != 2 {
            unsettled.push(format!("{namespace} has {} Workspaces", active.len()));
        }
        for workspace in active {
            let name = format!("Workspace {} of {namespace}", workspace["metadata"]["name"]);
            unsettled.extend(["Ready", "Synced"].iter().filter_map(|type_| untrue(workspace, type_, &name)));
        }
        Ok(unsettled)
    }

    /// What the clusters of a namespace are.
    pub(crate) async fn identity(&self, client: &Client, namespace: &str) -> anyhow::Result<Identity> {
        let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
        let mut identity = Identity::default();
        for secret in secrets.list(&ListParams::default().labels(label::TERRAFORM_STATE)).await? {
            let state = unpack(&secret).with_context(|| format!("{} holds no state", secret.name_any()))?;
            let lineage = state["lineage"].as_str().unwrap_or_default().to_owned();
            let made = resources(&state).into_iter().map(|(name, _)| name).collect();
            identity.states.insert(secret.name_any(), (lineage, made));
        }
        let outputs = secrets.get_opt(CONNECTION).await?.and_then(|secret| secret.data).unwrap_or_default();
        identity.outputs = outputs.into_iter().map(|(key, value)| (key, value.0)).collect();
        let maps: Api<ConfigMap> = Api::namespaced(self.workload.clone(), "default");
        identity.addon = maps.get_opt(&brought(namespace)).await?.and_then(|map| map.uid());
        Ok(identity)
    }

    /// What is left of a namespace that was moved away, but for Workspaces that are frozen and told to be.
    pub(crate) async fn rest(&self, client: &Client, namespace: &str) -> anyhow::Result<Vec<String>> {
        let mut rest = names::<Cluster>(client, namespace).await?;
        rest.extend(names::<CAPTCluster>(client, namespace).await?);
        rest.extend(names::<CAPTControlPlane>(client, namespace).await?);
        rest.extend(names::<WorkspaceTemplate>(client, namespace).await?);
        rest.extend(names::<WorkspaceTemplateApply>(client, namespace).await?);
        rest.extend(names::<AddonStack>(client, namespace).await?);
        rest.extend(names::<AddonStackBinding>(client, namespace).await?);
        rest.extend(names::<Secret>(client, namespace).await?);
        for workspace in workspaces(client, namespace).await? {
            let paused =
                untrue(&workspace, "Synced", "").is_some_and(|told| told.contains("ReconcilePaused"));
            if !paused || !workspace["metadata"]["deletionTimestamp"].is_null() {
                rest.push(format!("Workspace {} is neither gone nor frozen", workspace["metadata"]["name"]));
            }
        }
        Ok(rest)
    }

    /// Deletes the Workspaces whose applies are elsewhere, as their status says.
    pub(super) async fn let_go_of_frozen(
        &self,
        client: &Client,
        namespaces: &[&str],
    ) -> anyhow::Result<usize> {
        let api: Api<Workspace> = Api::all(client.clone());
        let mut count = 0;
        for namespace in namespaces {
            if names::<Cluster>(client, namespace).await?.is_empty() {
                for workspace in workspaces(client, namespace).await? {
                    let name = workspace["metadata"]["name"].as_str().unwrap_or_default();
                    api.delete(name, &DeleteParams::default()).await?;
                    count += 1;
                }
            }
        }
        Ok(count)
    }

    /// How many Workspaces there are whose applies are elsewhere.
    pub(super) async fn frozen(&self, clients: [&Client; 2]) -> anyhow::Result<usize> {
        let mut count = 0;
        for client in clients {
            for namespace in super::NAMESPACES {
                if names::<Cluster>(client, namespace).await?.is_empty() {
                    count += workspaces(client, namespace).await?.len();
                }
            }
        }
        Ok(count)
    }

    pub(super) async fn delete(&self, client: &Client, namespace: &str) -> anyhow::Result<()> {
        let clusters: Api<Cluster> = Api::namespaced(client.clone(), namespace);
        clusters.delete(NAME, &DeleteParams::default()).await?;
        Ok(())
    }

    pub(super) async fn is_there(&self, client: &Client, namespace: &str) -> anyhow::Result<bool> {
        let cluster = !names::<Cluster>(client, namespace).await?.is_empty();
        Ok(cluster || !workspaces(client, namespace).await?.is_empty())
    }
}

/// What the add-on of a namespace brings.
fn brought(namespace: &str) -> String {
    format!("from-{namespace}")
}

async fn put(client: &Client, object: &Value) -> anyhow::Result<()> {
    let dynamic: DynamicObject = serde_json::from_value(object.clone())?;
    let api = objects_of(client, &dynamic).await?;
    let put =
        api.patch(&dynamic.name_any(), &PatchParams::apply("soak").force(), &Patch::Apply(object)).await;
    put.map(drop).with_context(|| format!("applying {} {}", object["kind"], dynamic.name_any()))
}

/// The Workspaces that applies of a namespace made.
async fn workspaces(client: &Client, namespace: &str) -> anyhow::Result<Vec<Value>> {
    let all = Api::<Workspace>::all(client.clone()).list(&ListParams::default()).await?;
    let prefix = format!("{namespace}/");
    let of_namespace = |it: &Workspace| {
        it.annotations().get(annotation::APPLY).is_some_and(|apply| apply.starts_with(&prefix))
    };
    Ok(all.items.iter().filter(|it| of_namespace(it)).map(serde_json::to_value).collect::<Result<_, _>>()?)
}

async fn names<K>(client: &Client, namespace: &str) -> anyhow::Result<Vec<String>>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + DeserializeOwned,
{
    let all = Api::<K>::namespaced(client.clone(), namespace).list_metadata(&ListParams::default()).await?;
    Ok(all.iter().map(|it| format!("{} {namespace}/{}", K::kind(&()), it.name_any())).collect())
}

/// What is told of a condition that is not true.
fn untrue(object: &Value, type_: &str, name: &str) -> Option<String> {
    let conditions = object["status"]["conditions"].as_array();
    let told = conditions.into_iter().flatten().find(|told| told["type"] == type_);
    match told {
        Some(told) if told["status"] == "True" => None,
        told => Some(format!("{name}: {type_} is {}", told.unwrap_or(&Value::Null))),
    }
}

const NETWORK: &str = r#"
variable "name" {
  type    = string
  default = ""
}

variable "region" {
  type    = string
  default = ""
}

resource "terraform_data" "network" {
  input = "network"
}

output "vpc_id" {
  value = terraform_data.network.id
}
"#;

/// Each step takes some seconds to make, and none is ever made again.
const CONTROL_PLANE: &str = r#"
variable "cluster_name" {
  type    = string
  default = ""
}

variable "kubernetes_version" {
  type    = string
  default = ""
}

variable "region" {
  type    = string
  default = ""
}

resource "terraform_data" "steps" {
  count = STEPS

  provisioner "local-exec" {
    command = "sleep 3"
  }
}

output "cluster_name" {
  value = var.cluster_name
}

output "id" {
  value = terraform_data.steps[0].id
}

output "cluster_endpoint" {
  value = "ENDPOINT"
}

output "cluster_certificate_authority_data" {
  value = base64encode("AUTHORITY")
}

output "kubeconfig" {
  value     = "KUBECONFIG"
  sensitive = true
}
"#;
