//! What is in a cluster goes before Terraform destroys it: one API server for management, another that is the cluster.

use capt_api::{CAPTControlPlane, Cluster};
use capt_controller::options::Options;
use capt_testkit::{TestCluster, eventually};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

use super::scene::{Scene, condition};

const NAMESPACE: &str = "default";
const NODE_CLAIM: (&str, &str) = ("karpenter.sh/v1", "NodeClaim");
const NODE_POOL: (&str, &str) = ("karpenter.sh/v1", "NodePool");
const RELEASE: (&str, &str) = ("helm.toolkit.fluxcd.io/v2", "HelmRelease");
const KUSTOMIZATION: (&str, &str) = ("kustomize.toolkit.fluxcd.io/v1", "Kustomization");
const APPLICATION: (&str, &str) = ("argoproj.io/v1alpha1", "Application");

/// A kind of somebody else's, without anything inside.
fn definition((api_version, kind): (&str, &str), scope: &str) -> CustomResourceDefinition {
    let (group, version) = api_version.split_once('/').unwrap();
    let singular = kind.to_lowercase();
    let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    serde_json::from_value(json!({
        "metadata": { "name": format!("{singular}s.{group}") },
        "spec": {
            "group": group,
            "scope": scope,
            "names": { "kind": kind, "plural": format!("{singular}s"), "singular": singular },
            "versions": [{
                "name": version, "served": true, "storage": true, "schema": { "openAPIV3Schema": schema },
            }],
        },
    }))
    .unwrap()
}

/// A cluster of its own: what is cleared is cleared whole.
struct Inside {
    scene: Scene,
}

impl Inside {
    /// A cluster that is ready, and that has the kinds of Flux and Karpenter.
    async fn set(before_destroy: Value) -> Self {
        let workload: &'static TestCluster = Box::leak(Box::new(TestCluster::start().await));
        let kinds = [
            definition(NODE_CLAIM, "Cluster"),
            definition(NODE_POOL, "Cluster"),
            definition(RELEASE, "Namespaced"),
            definition(KUSTOMIZATION, "Namespaced"),
            definition(APPLICATION, "Namespaced"),
        ];
        workload.apply_crds(&kinds).await;
        let mut scene = Scene::without_manager().await;
        scene.workload = workload;
        scene.start_manager(Options::default()).await;
        scene.put(json!({ "beforeDestroy": before_destroy })).await;
        scene.provision().await;
        scene.condition("Reachable", "True", "Reachable").await;
        Self { scene }
    }

    fn all(&self, (api_version, kind): (&str, &str)) -> Api<DynamicObject> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        let client = self.scene.workload.client();
        match kind {
            "NodeClaim" | "NodePool" | "Node" => Api::all_with(client, &resource),
            _ => Api::namespaced_with(client, NAMESPACE, &resource),
        }
    }

    async fn put(&self, kind: (&str, &str), name: &str, finalizers: &[&str], more: Value) {
        let mut object = json!({ "metadata": { "name": name, "finalizers": finalizers } });
        for (field, value) in more.as_object().unwrap() {
            match field.as_str() {
                "annotations" | "labels" => object["metadata"][field] = value.clone(),
                _ => object[field] = value.clone(),
            }
        }
        object["apiVersion"] = json!(kind.0);
        object["kind"] = json!(kind.1);
        let object = serde_json::from_value(object).unwrap();
        self.all(kind).create(&PostParams::default(), &object).await.unwrap();
    }

    async fn get(&self, kind: (&str, &str), name: &str) -> Option<DynamicObject> {
        self.all(kind).get_opt(name).await.unwrap()
    }

    /// Whether an object is there and nobody has asked for its deletion.
    async fn stays(&self, kind: (&str, &str), name: &str) -> bool {
        self.get(kind, name).await.is_some_and(|found| found.metadata.deletion_timestamp.is_none())
    }

    /// Lets an object go, as Karpenter or Flux do when they are done.
    async fn release(&self, kind: (&str, &str), name: &str) {
        eventually(&format!("{name} to be deleted"), async || {
            self.get(kind, name).await.is_none_or(|found| found.metadata.deletion_timestamp.is_some())
        })
        .await;
        let patch = json!({ "metadata": { "finalizers": null } });
        self.all(kind).patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }

    async fn delete_cluster(&self) {
        let clusters = self.scene.stage.api::<Cluster>();
        clusters.delete(&self.scene.name, &DeleteParams::default()).await.unwrap();
    }

    /// Waits until the control plane says this about its way down.
    async fn told(&self, reason: &str, part: &str) -> CAPTControlPlane {
        self.scene
            .until(&format!("{reason}: {part}"), |found| {
                condition(found, "Deleting")
                    .is_some_and(|told| told.reason == reason && told.message.contains(part))
            })
            .await
    }

    /// Whether Terraform has not been asked to destroy anything.
    async fn is_not_destroyed(&self) -> bool {
        let workspace = self.scene.stage.workspaces().get_opt(&self.scene.workspace_name()).await.unwrap();
        workspace.is_some_and(|workspace| workspace.metadata.deletion_timestamp.is_none())
    }

    async fn until_gone(&self) {
        eventually("the cluster to be destroyed", async || {
            self.scene.control_planes().get_opt(&self.scene.name).await.unwrap().is_none()
        })
        .await;
        assert!(!self.is_not_destroyed().await);
    }
}

#[tokio::test]
async fn terraform_destroys_nothing_before_machines_and_add_ons_are_gone() {
    let inside = Inside::set(json!({})).await;
    inside.put(NODE_POOL, "general", &[], json!({})).await;
    inside.put(NODE_CLAIM, "general-1", &["karpenter.sh/termination"], json!({})).await;
    inside.put(KUSTOMIZATION, "apps", &[], json!({ "spec": { "prune": true } })).await;
    inside
        .put(APPLICATION, "shop", &[], json!({ "spec": { "syncPolicy": { "automated": {}, "retry": {} } } }))
        .await;
    inside.put(RELEASE, "own", &["finalizers.fluxcd.io"], json!({ "spec": {} })).await;
    let brought = json!({ "capt.cluster.x-k8s.io/addon": "a/b/c/d" });
    let karpenter = json!({ "annotations": brought, "spec": { "suspend": true, "dependsOn": [{ "name": "karpenter-crd" }] } });
    inside.put(RELEASE, "karpenter", &["finalizers.fluxcd.io"], karpenter).await;
    let definitions = json!({ "annotations": brought, "spec": {} });
    inside.put(RELEASE, "karpenter-crd", &["finalizers.fluxcd.io"], definitions).await;
    inside.delete_cluster().await;

    let told = inside.told("ClearingCluster", "1 NodeClaim (`general-1`)").await;
    let message = &condition(&told, "Deleting").unwrap().message;
    assert!(message.contains("no Karpenter runs in the cluster that could take them down"), "{message}");
    eventually("the pool to be gone", async || inside.get(NODE_POOL, "general").await.is_none()).await;
    assert!(!inside.stays(NODE_CLAIM, "general-1").await);
    let suspended = inside.get(KUSTOMIZATION, "apps").await.unwrap().data;
    assert_eq!(suspended["spec"], json!({ "prune": true, "suspend": true }));
    let policy = inside.get(APPLICATION, "shop").await.unwrap().data["spec"]["syncPolicy"].clone();
    assert_eq!(policy, json!({ "retry": {} }));
    assert_eq!(inside.get(RELEASE, "own").await.unwrap().data["spec"]["suspend"], json!(true));
    for name in ["own", "karpenter", "karpenter-crd"] {
        assert!(inside.stays(RELEASE, name).await, "{name} is needed while there are machines");
    }
    assert!(inside.is_not_destroyed().await);

    inside.release(NODE_CLAIM, "general-1").await;
    inside.told("ClearingCluster", "2 HelmReleases (`default/karpenter`, `default/karpenter-crd`)").await;
    let karpenter = inside.get(RELEASE, "karpenter").await.unwrap();
    assert!(karpenter.metadata.deletion_timestamp.is_some());
    assert_eq!(karpenter.data["spec"]["suspend"], json!(false), "what is suspended is not uninstalled");
    assert!(inside.stays(RELEASE, "karpenter-crd").await, "what another needs goes after it");
    assert!(inside.is_not_destroyed().await);

    inside.release(RELEASE, "karpenter").await;
    inside.release(RELEASE, "karpenter-crd").await;
    inside.until_gone().await;
    assert!(inside.stays(RELEASE, "own").await, "what no add-on brought is not uninstalled");
}

#[tokio::test]
async fn after_the_deadline_the_policy_decides() {
    let inside = Inside::set(json!({ "timeout": "1s", "onTimeout": "Wait" })).await;
    inside.put(NODE_CLAIM, "stuck", &["karpenter.sh/termination"], json!({})).await;
    inside.delete_cluster().await;
    let told = inside.told("ClusterNotCleared", "1 NodeClaim (`stuck`)").await;
    assert!(condition(&told, "Deleting").unwrap().message.contains("spec.beforeDestroy.onTimeout"));
    assert!(inside.is_not_destroyed().await);

    let scene = &inside.scene;
    let anyway = json!({ "spec": { "beforeDestroy": { "onTimeout": "Destroy" } } });
    scene.stage.change::<CAPTControlPlane>(&scene.name, anyway).await;
    inside.until_gone().await;
    assert!(inside.get(NODE_CLAIM, "stuck").await.is_some(), "it is left behind");
    let events = scene.stage.events(&scene.name).await;
    let told = events.iter().filter(|event| event.reason.as_deref() == Some("ClusterNotCleared"));
    let notes: Vec<_> = told.filter_map(|event| event.note.clone()).collect();
    assert!(notes.iter().any(|note| note.contains("destroys the cluster all the same")), "{notes:?}");
}

#[tokio::test]
async fn a_cluster_that_cannot_be_reached_is_not_waited_for_for_ever() {
    let scene = Scene::without_manager().await;
    let mut inside = Inside { scene };
    inside.scene.start_manager(Options::default()).await;
    inside.scene.put(json!({ "beforeDestroy": { "timeout": "2s" } })).await;
    inside.scene.workspace().await;
    let mut outputs = inside.scene.outputs();
    let url = inside.scene.workload.control_plane().url().to_owned();
    for (_, value) in &mut outputs {
        *value = value.replace(&url, "https://127.0.0.1:9");
    }
    inside.scene.connect(&outputs).await;
    inside.scene.report_ready(&outputs).await;
    inside.scene.condition("Reachable", "False", "Unreachable").await;
    inside.delete_cluster().await;
    inside.told("ClearingCluster", "the cluster cannot be asked").await;
    inside.until_gone().await;
}

#[tokio::test]
async fn karpenter_on_machines_of_its_own_is_noticed_and_they_are_left_running() {
    let inside = Inside::set(json!({})).await;
    let status = |node: &str| json!({ "nodeName": node, "providerID": format!("aws:///zone/i-{node}") });
    let of = |pool: &str| json!({ "karpenter.sh/nodepool": pool });
    inside.put(NODE_POOL, "system", &[], json!({ "spec": {} })).await;
    inside.put(NODE_POOL, "general", &[], json!({ "spec": {} })).await;
    inside.put(NODE_CLAIM, "host", &[], json!({ "labels": of("system"), "status": status("n1") })).await;
    inside.put(NODE_CLAIM, "other", &[], json!({ "labels": of("general"), "status": status("n2") })).await;
    let pod = json!({
        "labels": { "app.kubernetes.io/name": "karpenter" },
        "spec": { "nodeName": "n1", "containers": [{ "name": "controller", "image": "example.com/karpenter" }] },
    });
    let account = json!({});
    inside.put(("v1", "ServiceAccount"), "karpenter", &[], account).await;
    let mut pod = pod;
    pod["spec"]["serviceAccountName"] = json!("karpenter");
    inside.put(("v1", "Pod"), "karpenter-0", &[], pod).await;
    let running = json!({ "status": { "phase": "Running" } });
    let pods = inside.all(("v1", "Pod"));
    pods.patch_status("karpenter-0", &PatchParams::default(), &Patch::Merge(running)).await.unwrap();
    inside.delete_cluster().await;

    let told = inside.told("ClearingCluster", "1 NodeClaim (`host`)").await;
    let message = &condition(&told, "Deleting").unwrap().message;
    assert!(
        message.contains("Karpenter runs on machines of its own (`host`, aws:///zone/i-n1)"),
        "{message}"
    );
    eventually("the others to be gone", async || {
        inside.get(NODE_CLAIM, "other").await.is_none() && inside.get(NODE_POOL, "general").await.is_none()
    })
    .await;
    assert!(inside.stays(NODE_CLAIM, "host").await && inside.stays(NODE_POOL, "system").await);
    let limits = inside.get(NODE_POOL, "system").await.unwrap().data["spec"]["limits"].clone();
    assert_eq!(limits, json!({ "cpu": "0" }), "it makes no more machines");

    // Its pod is moved to a node that Terraform made.
    inside.all(("v1", "Pod")).delete("karpenter-0", &DeleteParams::default().grace_period(0)).await.unwrap();
    inside.until_gone().await;
    assert_eq!(inside.get(NODE_CLAIM, "host").await.map(|found| found.name_any()), None);
}

#[tokio::test]
async fn load_balancers_and_volumes_go_where_that_is_asked_for() {
    let inside = Inside::set(json!({ "loadBalancers": true, "volumes": true })).await;
    let ports = json!([{ "port": 80 }]);
    let balanced = json!({ "spec": { "type": "LoadBalancer", "ports": ports } });
    inside.put(("v1", "Service"), "shop", &["service.kubernetes.io/load-balancer-cleanup"], balanced).await;
    inside.put(("v1", "Service"), "inner", &[], json!({ "spec": { "ports": ports } })).await;
    let claim = json!({ "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } },
    } });
    inside.put(("v1", "PersistentVolumeClaim"), "data", &["kubernetes.io/pvc-protection"], claim).await;
    inside.delete_cluster().await;

    inside
        .told(
            "ClearingCluster",
            "1 Service (`default/shop`): held by service.kubernetes.io/load-balancer-cleanup",
        )
        .await;
    assert!(inside.stays(("v1", "PersistentVolumeClaim"), "data").await, "one thing after the other");
    inside.release(("v1", "Service"), "shop").await;
    inside.told("ClearingCluster", "1 PersistentVolumeClaim (`default/data`)").await;
    assert!(inside.is_not_destroyed().await);
    inside.release(("v1", "PersistentVolumeClaim"), "data").await;
    inside.until_gone().await;
    assert!(inside.stays(("v1", "Service"), "inner").await);
}
