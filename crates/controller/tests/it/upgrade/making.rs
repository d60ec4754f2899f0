//! Makes what a version leaves behind: a Cluster with its network, its control plane and an add-on, run by the real Terraform.

use std::sync::Arc;

use capt_api::crd::{CAPT_VERSION, Foreign, foreign, own};
use capt_api::{AddonStack, CAPTCluster, CAPTControlPlane, Cluster, WorkspaceTemplate};
use capt_controller::options::{Options, TerraformOptions};
use capt_terraform::{Engine as _, ProcessEngine, Settings};
use capt_testkit::terraform::binary;
use capt_testkit::{TestCluster, watch_until};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{ApiResource, DynamicObject, ListParams, PostParams, TypeMeta};
use kube::core::GroupVersionKind;
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

use super::fixture::Fixture;
use crate::engine::stage::server_of;
use crate::stage::{Manager, Stage, permit};

/// Where everything is.
pub(super) const NAMESPACE: &str = "fleet";
/// What the machine is called in locks.
pub(super) const HOST: &str = "fixture";
const NAME: &str = "demo";

/// The certificate of an authority that signs for nobody: its key was thrown away.
const AUTHORITY: &str = include_str!("authority.pem");

const NETWORK: &str = r#"
variable "cluster_name" {}
variable "region" {}
resource "terraform_data" "vpc" { input = "vpc-${var.cluster_name}" }
output "vpc_id" { value = terraform_data.vpc.output }
output "region" { value = var.region }
"#;

/// A cluster that nobody runs, as a module would give it.
fn control_plane_module() -> String {
    r#"
variable "cluster_name" {}
variable "kubernetes_version" {}
resource "terraform_data" "control_plane" { input = "${var.cluster_name}-${var.kubernetes_version}" }
locals {
  server    = "https://127.0.0.1:1"
  authority = base64encode(<<EOT
AUTHORITYEOT
  )
}
output "cluster_name" { value = var.cluster_name }
output "cluster_endpoint" { value = local.server }
output "cluster_certificate_authority_data" { value = local.authority }
output "kubeconfig" {
  sensitive = true
  value = yamlencode({
    apiVersion = "v1", kind = "Config", current-context = "demo"
    clusters = [{ name = "demo", cluster = { server = local.server, certificate-authority-data = local.authority } }]
    contexts = [{ name = "demo", context = { cluster = "demo", user = "demo" } }]
    users    = [{ name = "demo", user = { token = "not-a-secret" } }]
  })
}
"#
    .replace("AUTHORITY", AUTHORITY)
}

pub(super) async fn make() -> Fixture {
    let cluster = TestCluster::start().await;
    let crds = [own(), foreign(Foreign::Terraform), foreign(Foreign::ClusterApi)].concat();
    cluster.apply_crds(&crds).await;
    permit(&cluster).await;
    make_namespace(&cluster).await;

    let directory = tempfile::tempdir().unwrap();
    let settings = Settings::new(directory.path().join("workspaces"), binary());
    let engine = Arc::new(ProcessEngine::start(settings).await.unwrap());
    let version = engine.version().clone();
    let artifacts = directory.path().join("artifacts");
    let (server, home) = (server_of(&cluster), NAMESPACE.to_owned());
    let terraform = TerraformOptions::new(engine, artifacts, server, home, HOST.to_owned());
    let options = Options { terraform: Some(terraform), ..Options::default() };
    let manager = Manager::start(&cluster, options).await;

    let stage = Stage::on(&cluster, NAMESPACE);
    put(&stage).await;
    ready(&stage).await;
    manager.stop().await;

    let crds = crds.iter().map(|crd| {
        let mut crd = crd.clone();
        crd.status = None;
        crd
    });
    let objects = objects(&cluster).await;
    let taken_at = Timestamp::now();
    Fixture { version: CAPT_VERSION.to_owned(), taken_at, engine: version, objects, crds: crds.collect() }
}

pub(super) async fn make_namespace(cluster: &TestCluster) {
    let namespace: Namespace = serde_json::from_value(json!({ "metadata": { "name": NAMESPACE } })).unwrap();
    Api::<Namespace>::all(cluster.client()).create(&PostParams::default(), &namespace).await.unwrap();
}

async fn put(stage: &Stage) {
    let module = |name: &str, text: &str| {
        json!({
            "metadata": { "name": name },
            "spec": { "template": { "spec": { "forProvider": { "source": "Inline", "module": text } } } },
        })
    };
    stage.put::<WorkspaceTemplate>(module("vpc", NETWORK)).await;
    stage.put::<WorkspaceTemplate>(module("eks", &control_plane_module())).await;
    let manifests =
        json!({ "manifests.yaml": "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: tools\n" });
    stage.put::<ConfigMap>(json!({ "metadata": { "name": "tools" }, "data": manifests })).await;
    let addon = json!({ "name": "tools", "delivery": "Direct", "resources": [{ "kind": "ConfigMap", "name": "tools" }] });
    let selector = json!({ "matchLabels": { "tools": "true" } });
    let stack = json!({ "clusterSelector": selector, "addons": [addon] });
    stage.put::<AddonStack>(json!({ "metadata": { "name": "tools" }, "spec": stack })).await;
    let reference = |group: &str, kind: &str| json!({ "apiGroup": group, "kind": kind, "name": NAME });
    let spec = json!({
        "infrastructureRef": reference("infrastructure.cluster.x-k8s.io", "CAPTCluster"),
        "controlPlaneRef": reference("controlplane.cluster.x-k8s.io", "CAPTControlPlane"),
    });
    stage
        .put::<Cluster>(json!({ "metadata": { "name": NAME, "labels": { "tools": "true" } }, "spec": spec }))
        .await;
    let spec = json!({ "region": "ap-northeast-1", "vpcTemplateRef": { "name": "vpc" } });
    stage.put::<CAPTCluster>(json!({ "metadata": { "name": NAME }, "spec": spec })).await;
    let spec = json!({ "version": "1.34", "workspaceTemplateRef": { "name": "eks" } });
    stage.put::<CAPTControlPlane>(json!({ "metadata": { "name": NAME }, "spec": spec })).await;
}

/// Waits until all is ready that can be, and told.
async fn ready(stage: &Stage) {
    let holds = |status: &Value, type_: &str, wanted: &str| {
        let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
        conditions.iter().any(|entry| entry["type"] == type_ && entry["status"] == wanted)
    };
    watch_until("the control plane to be ready", &stage.api::<CAPTControlPlane>(), NAME, |found| {
        let status = json!(found.status);
        holds(&status, "Ready", "True") && holds(&status, "Reachable", "False")
    })
    .await;
    watch_until("the network to be ready", &stage.api::<CAPTCluster>(), NAME, |found| {
        holds(&json!(found.status), "Ready", "True")
    })
    .await;
    watch_until("the Cluster to be told", &stage.api::<Cluster>(), NAME, |found| {
        let status = json!(found.status);
        holds(&status, "ControlPlaneInitialized", "True") && holds(&status, "AddonsReady", "False")
    })
    .await;
}

/// Everything that is there, owners first.
async fn objects(cluster: &TestCluster) -> Vec<DynamicObject> {
    let kinds = [
        ("cluster.x-k8s.io", "v1beta2", "Cluster", true),
        ("infrastructure.cluster.x-k8s.io", "v1beta1", "WorkspaceTemplate", true),
        ("infrastructure.cluster.x-k8s.io", "v1beta1", "CAPTCluster", true),
        ("controlplane.cluster.x-k8s.io", "v1beta1", "CAPTControlPlane", true),
        ("infrastructure.cluster.x-k8s.io", "v1beta1", "WorkspaceTemplateApply", true),
        ("tf.upbound.io", "v1beta1", "Workspace", false),
        ("addons.cluster.x-k8s.io", "v1alpha1", "AddonStack", true),
        ("addons.cluster.x-k8s.io", "v1alpha1", "AddonStackBinding", true),
        ("addons.cluster.x-k8s.io", "v1beta2", "ClusterResourceSet", true),
        ("", "v1", "ServiceAccount", true),
        ("", "v1", "ConfigMap", true),
        ("", "v1", "Secret", true),
        ("rbac.authorization.k8s.io", "v1", "Role", true),
        ("rbac.authorization.k8s.io", "v1", "RoleBinding", true),
        ("coordination.k8s.io", "v1", "Lease", true),
    ];
    let mut all = Vec::new();
    for (group, version, kind, namespaced) in kinds {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        let api: Api<DynamicObject> = if namespaced {
            Api::namespaced_with(cluster.client(), NAMESPACE, &resource)
        } else {
            Api::all_with(cluster.client(), &resource)
        };
        for mut object in api.list(&ListParams::default()).await.unwrap() {
            let name = object.name_any();
            // What every namespace has.
            if name == "kube-root-ca.crt" || (kind == "ServiceAccount" && name == "default") {
                continue;
            }
            object.types =
                Some(TypeMeta { api_version: resource.api_version.clone(), kind: kind.to_owned() });
            object.metadata.resource_version = None;
            all.push(object);
        }
    }
    all
}
