//! `capt migrate from-go` in a management cluster as the Go implementation leaves it.

use capt_api::crd::{Foreign, foreign, own};
use capt_api::names::{finalizer, label};
use capt_api::{Cluster, WorkspaceTemplateApply};
use capt_testkit::{TestCluster, loose_definition};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::{Client, ResourceExt};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::stage::{ended, verb};

const GROUP: &str = "infrastructure.cluster.x-k8s.io";
const CONTROL_PLANE_GROUP: &str = "controlplane.cluster.x-k8s.io";

/// A management cluster of its own: kinds are everybody's.
pub(crate) struct Left {
    cluster: TestCluster,
    namespace: String,
    directory: TempDir,
}

impl Left {
    pub(crate) async fn behind() -> Self {
        let cluster = TestCluster::start().await;
        let theirs = [
            kind(GROUP, "CAPTCluster", "captclusters"),
            kind(CONTROL_PLANE_GROUP, "CAPTControlPlane", "captcontrolplanes"),
            kind(GROUP, "WorkspaceTemplate", "workspacetemplates"),
            kind(GROUP, "WorkspaceTemplateApply", "workspacetemplateapplies"),
            kind(GROUP, "CaptMachine", "captmachines"),
        ];
        let others = [foreign(Foreign::Terraform), foreign(Foreign::ClusterApi)].concat();
        // Cluster API's own kind takes any host.
        let loose = loose_definition("cluster.x-k8s.io", "v1beta2", "Cluster", "clusters");
        let others = others.into_iter().filter(|crd| crd.spec.names.kind != "Cluster");
        let all: Vec<_> = theirs.into_iter().chain(others).chain([loose]).collect();
        cluster.apply_crds(&all).await;
        let namespace = cluster.namespace("left").await;
        let left = Self { cluster, namespace, directory: tempfile::tempdir().unwrap() };
        left.fill().await;
        left
    }

    pub(crate) fn kubeconfig(&self) -> String {
        self.cluster.control_plane().kubeconfig()
    }

    fn client(&self) -> Client {
        self.cluster.client()
    }

    fn api(&self, group: &str, version: &str, kind: &str) -> Api<DynamicObject> {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        match kind {
            "Workspace" => Api::all_with(self.client(), &resource),
            _ => Api::namespaced_with(self.client(), &self.namespace, &resource),
        }
    }

    async fn put(&self, api_version: &str, kind: &str, mut object: Value, status: Value) {
        let (group, version) = api_version.split_once('/').unwrap();
        object["apiVersion"] = json!(api_version);
        object["kind"] = json!(kind);
        let api = self.api(group, version, kind);
        let made =
            api.create(&PostParams::default(), &serde_json::from_value(object).unwrap()).await.unwrap();
        if !status.is_null() {
            let patch = Patch::Merge(json!({ "status": status }));
            api.patch_status(&made.name_any(), &PatchParams::default(), &patch).await.unwrap();
        }
    }

    async fn fill(&self) {
        let version = format!("{GROUP}/v1beta1");
        let module = "variable \"region\" {}\n";
        let vars = |value: &str| json!([{ "key": "region", "value": value }]);
        let provider = |value: &str| json!({ "source": "Inline", "module": module, "vars": vars(value) });
        let spec = json!({ "template": { "spec": { "forProvider": provider("${region}") } } });
        self.put(
            &version,
            "WorkspaceTemplate",
            json!({ "metadata": { "name": "t" }, "spec": spec }),
            Value::Null,
        )
        .await;
        for (name, runs) in [("same", "r"), ("edited", "elsewhere")] {
            let object = json!({
                "metadata": { "name": format!("{name}-apply"), "finalizers": [finalizer::LEGACY] },
                "spec": { "templateRef": { "name": "t", "namespace": self.namespace }, "variables": { "region": "r" } },
            });
            let status = json!({ "workspaceName": name, "applied": true });
            self.put(&version, "WorkspaceTemplateApply", object, status).await;
            let object = json!({ "metadata": { "name": name }, "spec": { "forProvider": provider(runs) } });
            self.put("tf.upbound.io/v1beta1", "Workspace", object, Value::Null).await;
        }
        self.put(&version, "CaptMachine", json!({ "metadata": { "name": "worker" } }), Value::Null).await;
        let endpoint = json!({ "host": "https://127.0.0.1:21040", "port": 443 });
        let cluster = json!({ "metadata": { "name": "demo" }, "spec": { "controlPlaneEndpoint": endpoint } });
        self.put("cluster.x-k8s.io/v1beta2", "Cluster", cluster, Value::Null).await;
    }

    async fn json(&self, arguments: &[&str]) -> (Option<i32>, Value, String) {
        let kubeconfig = self.directory.path().join("kubeconfig");
        std::fs::write(&kubeconfig, self.kubeconfig()).unwrap();
        let from_go = ["migrate", "from-go", "--namespace", &self.namespace];
        ended(verb(&kubeconfig, "json", &[&from_go[..], arguments].concat()).spawn().unwrap()).await
    }

    /// The versions of everything that could be written.
    async fn versions(&self) -> Vec<String> {
        let mut versions = Vec::new();
        let crds: Api<CustomResourceDefinition> = Api::all(self.client());
        let listed = crds.list(&ListParams::default()).await.unwrap();
        versions.extend(listed.iter().map(|crd| format!("{} {:?}", crd.name_any(), crd.metadata.generation)));
        for (group, version, kind) in [
            (GROUP, "v1beta1", "WorkspaceTemplateApply"),
            (GROUP, "v1beta1", "CaptMachine"),
            ("tf.upbound.io", "v1beta1", "Workspace"),
            ("cluster.x-k8s.io", "v1beta2", "Cluster"),
        ] {
            let listed = self.api(group, version, kind).list(&ListParams::default()).await.unwrap();
            versions.extend(
                listed.iter().map(|it| format!("{kind} {} {:?}", it.name_any(), it.resource_version())),
            );
        }
        versions
    }
}

/// A kind that takes everything, with the label of the older contract.
fn kind(group: &str, kind: &str, plural: &str) -> CustomResourceDefinition {
    let mut crd = loose_definition(group, "v1beta1", kind, plural);
    crd.labels_mut().insert(label::CONTRACT_V1BETA1.to_owned(), "v1beta1".to_owned());
    crd
}

fn entry<'printed>(printed: &'printed Value, kind: &str, name: &str) -> &'printed Value {
    let entries = printed["entries"].as_array().unwrap();
    entries.iter().find(|entry| entry["kind"] == kind && entry["name"] == name).unwrap_or(&Value::Null)
}

#[tokio::test]
async fn a_dry_run_shows_what_becomes_of_everything_and_writes_nothing() {
    let left = Left::behind().await;
    let before = left.versions().await;

    let (code, printed, told) = left.json(&["--dry-run"]).await;

    assert_eq!(code, Some(0), "{told}");
    assert_eq!(printed["outcome"], "Planned");
    let apply = |name: &str| entry(&printed, "WorkspaceTemplateApply", name);
    assert_eq!(apply("same-apply")["by"], "Manager", "{printed}");
    assert_eq!(apply("edited-apply")["by"], "You", "{printed}");
    assert!(
        apply("edited-apply")["what"].as_str().unwrap().contains("forProvider.vars[region]"),
        "{printed}"
    );
    assert_eq!(entry(&printed, "Cluster", "demo")["by"], "Command", "{printed}");
    assert_eq!(entry(&printed, "CaptMachine", "(1)")["by"], "Nobody", "{printed}");
    let crd = entry(
        &printed,
        "CustomResourceDefinition",
        "workspacetemplateapplies.infrastructure.cluster.x-k8s.io",
    );
    assert!(crd["what"].as_str().unwrap().contains("cluster.x-k8s.io/v1beta1"), "{printed}");
    assert_eq!(left.versions().await, before);
}

#[tokio::test]
async fn it_does_its_part_once_and_leaves_the_rest() {
    let left = Left::behind().await;
    let workspaces = || async {
        let listed =
            left.api("tf.upbound.io", "v1beta1", "Workspace").list(&ListParams::default()).await.unwrap();
        listed.iter().map(ResourceExt::resource_version).collect::<Vec<_>>()
    };
    let before = workspaces().await;

    let (code, printed, told) = left.json(&["--yes"]).await;

    assert_eq!((code, &printed["outcome"]), (Some(0), &json!("Done")), "{told}");
    let crds: Api<CustomResourceDefinition> = Api::all(left.client());
    for wanted in own() {
        let found = crds.get(&wanted.name_any()).await.unwrap();
        assert!(!found.labels().contains_key(label::CONTRACT_V1BETA1), "{}", wanted.name_any());
    }
    let clusters: Api<Cluster> = Api::namespaced(left.client(), &left.namespace);
    let endpoint = clusters.get("demo").await.unwrap().spec.control_plane_endpoint.unwrap();
    assert_eq!((endpoint.host.as_str(), endpoint.port), ("127.0.0.1", 21040));
    assert_eq!(workspaces().await, before, "what runs is the manager's matter");

    let settled = left.versions().await;
    let (code, printed, told) = left.json(&["--yes"]).await;
    assert_eq!(code, Some(0), "{told}");
    let by_command =
        printed["entries"].as_array().unwrap().iter().filter(|entry| entry["by"] == "Command").count();
    assert_eq!(by_command, 0, "{printed}");
    assert_eq!(left.versions().await, settled, "once more changes nothing");
    let applies: Api<WorkspaceTemplateApply> = Api::namespaced(left.client(), &left.namespace);
    assert_eq!(applies.get("same-apply").await.unwrap().finalizers(), [finalizer::LEGACY]);
}

#[tokio::test]
async fn nothing_is_done_while_the_go_manager_runs() {
    let left = Left::behind().await;
    let deployment: Deployment = serde_json::from_value(json!({
        "metadata": { "name": "capt-controller-manager", "labels": { "app.kubernetes.io/name": "capt" } },
        "spec": {
            "replicas": 1, "selector": { "matchLabels": { "a": "b" } },
            "template": {
                "metadata": { "labels": { "a": "b" } },
                "spec": { "containers": [{ "name": "manager", "image": "x", "command": ["/manager"] }] },
            },
        },
    }))
    .unwrap();
    let deployments: Api<Deployment> = Api::namespaced(left.client(), &left.namespace);
    deployments.create(&PostParams::default(), &deployment).await.unwrap();
    let before = left.versions().await;

    let (code, printed, told) = left.json(&["--dry-run"]).await;
    assert_eq!(code, Some(1), "{told}");
    assert!(printed["inTheWay"][0].as_str().unwrap().contains("--replicas 0"), "{printed}");
    let (code, _, told) = left.json(&["--yes"]).await;
    assert_eq!(code, Some(1));
    assert!(told.contains("nothing was changed: Deployment"), "{told}");
    assert_eq!(left.versions().await, before);
}

#[tokio::test]
async fn nobody_is_asked_where_nobody_is() {
    let left = Left::behind().await;
    let (code, _, told) = left.json(&[]).await;
    assert_eq!(code, Some(1));
    assert!(told.contains("--dry-run") && told.contains("--yes"), "{told}");
}
