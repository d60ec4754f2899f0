//! Clusters in which CAPT may not watch.

use capt_api::addon_stack::StepState;
use capt_testkit::{TestCluster, eventually, loose_definition};
use http::Request;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::json;

use super::bad_input::{set, workload};
use super::scene::{objects, play};

const USER: &str = "without-watch";
const GROUP: &str = "without-watch.example.com";

/// A kubeconfig of somebody who may do everything but watch.
async fn kubeconfig_without_watch(workload: &TestCluster) -> String {
    let verbs = ["get", "list", "create", "update", "patch", "delete"];
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": { "name": USER },
        "rules": [{ "apiGroups": ["*"], "resources": ["*"], "verbs": verbs }],
    });
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": { "name": USER },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": USER },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER }],
    });
    let parameters = PatchParams::apply("test").force();
    let roles: Api<ClusterRole> = Api::all(workload.client());
    roles.patch(USER, &parameters, &Patch::Apply(role)).await.unwrap();
    let bindings: Api<ClusterRoleBinding> = Api::all(workload.client());
    bindings.patch(USER, &parameters, &Patch::Apply(binding)).await.unwrap();
    workload.control_plane().kubeconfig_for(USER, &["system:authenticated"]).unwrap()
}

/// How often the API server was asked for things, by its own count.
async fn requests(workload: &TestCluster) -> u64 {
    let request = Request::get("/metrics").body(Vec::new()).unwrap();
    let metrics = workload.client().request_text(request).await.unwrap();
    let counted = metrics.lines().filter(|line| {
        line.starts_with("apiserver_request_total{") && line.contains(&format!("group=\"{GROUP}\""))
    });
    counted.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
}

#[tokio::test]
async fn credentials_without_the_verb_watch_are_reported_and_the_cluster_is_inspected_at_intervals() {
    let (scene, namespace) = set().await;
    let workload = workload().await;
    let definition = json!(loose_definition(GROUP, "v1", "Thing", "things"));
    let thing = json!({
        "apiVersion": format!("{GROUP}/v1"), "kind": "Thing", "metadata": { "name": "x", "namespace": namespace }, "spec": {},
    });
    scene.put_manifests("manifests", &format!("{definition}\n---\n{thing}\n")).await;
    let check = json!({
        "apiVersion": format!("{GROUP}/v1"), "kind": "Thing", "namespace": namespace, "name": "x",
        "expression": "has(self.status) && self.status.ready",
    });
    let addons = json!([{
        "name": "one", "delivery": "Direct", "resources": [{ "kind": "ConfigMap", "name": "manifests" }],
        "readiness": [check],
    }]);
    scene.put_stack("base", addons).await;
    scene.put_cluster("demo", workload, json!({})).await;
    scene.put_kubeconfig("demo", &kubeconfig_without_watch(workload).await).await;
    scene.label("demo", json!({ "addons": "base" })).await;
    scene.step("base", "demo", "one", StepState::WaitingForReady, "AddonNotReady").await;

    let note = eventually("an Event that names the missing verb", async || {
        let events = scene.stage.events("base.demo").await;
        let told = events.into_iter().find(|event| event.reason.as_deref() == Some("WatchForbidden"));
        match told {
            Some(event) => Ok(event.note.unwrap_or_default()),
            None => Err(format!("{} requests for things so far", requests(workload).await)),
        }
    })
    .await;
    assert!(note.contains("`watch`") && note.contains(&format!("things.{GROUP}")), "{note}");
    assert!(note.contains("demo-kubeconfig"), "{note}");
    let asked = requests(workload).await;
    assert!(asked < 50, "{asked} requests for things");

    // What happens there is seen all the same.
    let things = objects(workload.client(), &format!("{GROUP}/v1"), "Thing", &namespace);
    play(&things, "x", json!({ "ready": true })).await;
    scene.step("base", "demo", "one", StepState::Ready, "AddonReady").await;
    let events = scene.stage.events("base.demo").await;
    let told = events.iter().filter(|event| event.reason.as_deref() == Some("WatchForbidden"));
    assert_eq!(told.count(), 1, "it is told once");
}
