//! The whole way, with a real manager, a real Terraform and a real workload cluster in which a release runs.
//!
//! The chart's provider is not at hand here: that Terraform installed the release is written into the state by hand. Flux is
//! not at hand either: what its helm-controller does with a release that it finds is done by hand, in the same way.

use std::collections::BTreeMap;

use capt_api::names::{annotation, condition};
use capt_api::{Cluster, ClusterResourceSet, Workspace, WorkspaceTemplate, WorkspaceTemplateApply};
use capt_testkit::{TestCluster, eventually, watch_until};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams};
use kube::{Client, Resource, ResourceExt};
use serde_json::{Value, json};

use super::stage::{command, ended, gunzip, gzip};
use crate::up::Place;

const NAMESPACE: &str = "default";

/// What Terraform really makes.
const CLUSTER: &str = r#"
resource "terraform_data" "eks" {
  input = "prod"
}
output "cluster_endpoint" { value = "https://example.com" }
output "karpenter_iam_role_arn" { value = "arn:aws:iam::1:role/x" }
output "karpenter_queue_name" { value = "queue" }
"#;

const RELEASE: &str = r#"
# Add-ons.

resource "helm_release" "karpenter" {
  chart = "karpenter"
  set {
    name  = "settings.clusterName"
    value = terraform_data.eks.output
  }
}
"#;

/// What the release consists of in the workload cluster, Helm's own note of it included.
fn release(namespace: &str) -> Vec<Value> {
    let metadata = |name: &str| {
        json!({
            "name": name, "namespace": namespace,
            "labels": { "app.kubernetes.io/managed-by": "Helm" },
            "annotations": { "meta.helm.sh/release-name": "karpenter", "meta.helm.sh/release-namespace": namespace },
        })
    };
    let labels = json!({ "app": "karpenter" });
    let container = json!({ "name": "controller", "image": "example.com/karpenter:1.0.7" });
    vec![
        json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata("karpenter") }),
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata("settings"), "data": { "CLUSTER_NAME": "prod" } }),
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata("karpenter"),
            "spec": {
                "selector": { "matchLabels": labels },
                "template": { "metadata": { "labels": labels }, "spec": { "containers": [container] } },
            },
        }),
        json!({
            "apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
            "metadata": { "name": "sh.helm.release.v1.karpenter.v1", "namespace": namespace, "labels": { "owner": "helm" } },
            "stringData": { "release": "x" },
        }),
    ]
}

fn api(client: &Client, object: &Value) -> Api<DynamicObject> {
    let object: DynamicObject = serde_json::from_value(object.clone()).unwrap();
    let kind = GroupVersionKind::try_from(object.types.as_ref().unwrap()).unwrap();
    let namespace = object.metadata.namespace.unwrap();
    Api::namespaced_with(client.clone(), &namespace, &ApiResource::from_gvk(&kind))
}

/// Applies objects as a manager of fields.
async fn apply(client: &Client, manager: &str, objects: &[Value]) {
    for object in objects {
        let name = object["metadata"]["name"].as_str().unwrap();
        let parameters = PatchParams::apply(manager).force();
        api(client, object).patch(name, &parameters, &Patch::Apply(object)).await.unwrap();
    }
}

/// The uid and the version of each object.
async fn identities(client: &Client, objects: &[Value]) -> BTreeMap<String, (String, String)> {
    let mut found = BTreeMap::new();
    for object in objects {
        let name = object["metadata"]["name"].as_str().unwrap();
        let there = api(client, object).get(name).await.unwrap();
        let key = format!("{} {name}", object["kind"]);
        found.insert(key, (there.uid().unwrap(), there.resource_version().unwrap()));
    }
    found
}

fn uids(identities: BTreeMap<String, (String, String)>) -> BTreeMap<String, String> {
    identities.into_iter().map(|(key, (uid, _))| (key, uid)).collect()
}

/// A `HelmRelease` of Flux, as far as this test needs it.
fn helm_release_kind() -> CustomResourceDefinition {
    let anything = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    serde_json::from_value(json!({
        "metadata": { "name": "helmreleases.helm.toolkit.fluxcd.io" },
        "spec": {
            "group": "helm.toolkit.fluxcd.io", "scope": "Namespaced",
            "names": { "kind": "HelmRelease", "plural": "helmreleases", "singular": "helmrelease" },
            "versions": [{ "name": "v2", "served": true, "storage": true, "schema": { "openAPIV3Schema": anything } }],
        },
    }))
    .unwrap()
}

fn helm_release(namespace: &str) -> Value {
    json!({
        "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
        "metadata": { "name": "karpenter", "namespace": namespace },
        "spec": { "interval": "30m", "releaseName": "karpenter", "chartRef": { "kind": "OCIRepository", "name": "karpenter" } },
    })
}

/// The management cluster.
struct Management {
    client: Client,
}

impl Management {
    fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    fn workspaces(&self) -> Api<Workspace> {
        Api::all(self.client.clone())
    }

    async fn put(&self, object: Value) {
        let mut object = object;
        object["metadata"]["namespace"] = NAMESPACE.into();
        apply(&self.client, "kubectl", &[object]).await;
    }

    async fn put_template(&self, module: &str) {
        self.put(json!({
            "apiVersion": WorkspaceTemplate::api_version(&()), "kind": "WorkspaceTemplate", "metadata": { "name": "eks" },
            "spec": { "template": { "spec": { "forProvider": { "source": "Inline", "module": module } } } },
        }))
        .await;
    }

    async fn pause(&self, value: Value) {
        let patch = Patch::Merge(json!({ "metadata": { "annotations": { annotation::PAUSED: value } } }));
        self.api::<WorkspaceTemplateApply>()
            .patch("prod-apply", &PatchParams::default(), &patch)
            .await
            .unwrap();
    }

    async fn state(&self) -> Value {
        let secret = self.api::<Secret>().get("tfstate-prod-capt").await.unwrap();
        serde_json::from_slice(&gunzip(&secret.data.unwrap()["tfstate"].0)).unwrap()
    }

    /// Terraform has made the cluster.
    async fn provision(&self) {
        self.put_template(CLUSTER).await;
        self.put(json!({
            "apiVersion": WorkspaceTemplateApply::api_version(&()), "kind": "WorkspaceTemplateApply",
            "metadata": { "name": "prod-apply", "labels": { "cluster.x-k8s.io/cluster-name": "prod" } },
            "spec": { "templateRef": { "name": "eks" } },
        }))
        .await;
        watch_until("the Workspace to be Ready", &self.workspaces(), "prod", |workspace| {
            is(workspace, condition::READY)
        })
        .await;
    }

    /// From here on Terraform has installed the release too, as far as anybody can see.
    async fn pretend(&self) {
        let mut state = self.state().await;
        let release = json!({
            "mode": "managed", "type": "helm_release", "name": "karpenter",
            "provider": "provider[\"registry.opentofu.org/hashicorp/helm\"]",
            "instances": [{ "schema_version": 1, "attributes": { "id": "karpenter" }, "sensitive_attributes": [] }],
        });
        state["resources"].as_array_mut().unwrap().push(release);
        let packed = k8s_openapi::ByteString(gzip(state.to_string().as_bytes()));
        let patch = Patch::Merge(json!({ "data": { "tfstate": packed } }));
        self.api::<Secret>().patch("tfstate-prod-capt", &PatchParams::default(), &patch).await.unwrap();
        let module = format!("{CLUSTER}{RELEASE}");
        self.put_template(&module).await;
        let patch = Patch::Merge(json!({ "spec": { "forProvider": { "module": module } } }));
        self.workspaces().patch("prod", &PatchParams::default(), &patch).await.unwrap();
    }

    /// A Cluster that leads to the workload cluster, and a set that brings a `HelmRelease` where the label is.
    async fn put_cluster(&self, kubeconfig: &str, helm_release: &Value) {
        let cluster = json!({ "apiVersion": Cluster::api_version(&()), "kind": "Cluster", "metadata": { "name": "prod" }, "spec": {} });
        self.put(cluster).await;
        let status =
            Patch::Merge(json!({ "status": { "initialization": { "controlPlaneInitialized": true } } }));
        self.api::<Cluster>().patch_status("prod", &PatchParams::default(), &status).await.unwrap();
        let secret = json!({
            "metadata": { "name": "prod-kubeconfig", "labels": { "cluster.x-k8s.io/cluster-name": "prod" } },
            "type": "cluster.x-k8s.io/secret", "stringData": { "value": kubeconfig },
        });
        let secret: Secret = serde_json::from_value(secret).unwrap();
        self.api::<Secret>().create(&PostParams::default(), &secret).await.unwrap();
        let manifests = json!({ "metadata": { "name": "karpenter" }, "data": { "release.yaml": helm_release.to_string() } });
        let manifests: ConfigMap = serde_json::from_value(manifests).unwrap();
        self.api::<ConfigMap>().create(&PostParams::default(), &manifests).await.unwrap();
        self.put(json!({
            "apiVersion": ClusterResourceSet::api_version(&()), "kind": "ClusterResourceSet", "metadata": { "name": "karpenter" },
            "spec": {
                "clusterSelector": { "matchLabels": { "karpenter.sh/enabled": "true" } },
                "resources": [{ "kind": "ConfigMap", "name": "karpenter" }],
            },
        }))
        .await;
    }
}

fn is(workspace: &Workspace, type_: &str) -> bool {
    let conditions = workspace.status.iter().flat_map(|status| &status.conditions);
    conditions.into_iter().any(|found| found.type_ == type_ && found.status == "True")
}

#[tokio::test]
async fn a_release_that_runs_goes_on_running_and_is_taken_over() {
    let workload = TestCluster::shared().await;
    workload.apply_crds(&[helm_release_kind()]).await;
    let namespace = workload.namespace("karpenter").await;
    let release = release(&namespace);
    apply(&workload.client(), "helm", &release).await;
    let running = identities(&workload.client(), &release).await;
    let place = Place::new();
    let home = place.up();
    let management = Management { client: home.client().await.unwrap() };
    management.put_cluster(&workload.control_plane().kubeconfig(), &helm_release(&namespace)).await;
    management.provision().await;
    let made = management.state().await["resources"].clone();
    management.pause(json!("by its user")).await;
    management.pretend().await;
    let kubeconfig = home.announcement().kubeconfig.clone();

    // First while its user has paused it, then to the end.
    let (code, _, told) = ended(command(&kubeconfig, NAMESPACE, "json", &["--yes"]).spawn().unwrap()).await;
    assert_eq!(code, Some(0), "{told}\n{}", place.messages());
    management.pause(Value::Null).await;
    let (code, printed, told) =
        ended(command(&kubeconfig, NAMESPACE, "json", &["--yes"]).spawn().unwrap()).await;
    assert_eq!((code, &printed["left"]), (Some(0), &Value::Null), "{told}\n{}", place.messages());

    let has_output = |workspace: &Workspace| {
        let seen = workspace.status.as_ref().and_then(|status| status.at_provider.as_ref());
        is(workspace, condition::SYNCED)
            && seen.is_some_and(|seen| seen.outputs.get("cluster_name") == Some(&json!("prod")))
    };
    let workspace = watch_until("the new output", &management.workspaces(), "prod", has_output).await;
    assert!(!workspace.spec.for_provider.module.contains("helm_release"));
    assert_eq!(management.state().await["resources"], made, "Terraform has changed nothing");
    let brought = helm_release(&namespace);
    let helm_releases = api(&workload.client(), &brought);
    eventually("the HelmRelease", async || helm_releases.get_opt("karpenter").await.unwrap().is_some()).await;
    assert_eq!(identities(&workload.client(), &release).await, running, "nobody has touched the release");

    apply(&workload.client(), "helm-controller", &release).await;
    assert_eq!(uids(identities(&workload.client(), &release).await), uids(running));
}
