//! `ApplyOnce`: what is not there yet is made, once.

use capt_testkit::eventually;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{DeleteParams, DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::json;

use super::scene::{Scene, far, first, manifest, value};

#[tokio::test]
async fn what_is_there_is_left_alone_and_what_was_brought_once_is_not_brought_again() {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("once").await;
    let there = far(workload, &namespace);
    let theirs: ConfigMap = serde_json::from_str(&manifest(&namespace, "theirs", "old")).unwrap();
    there.create(&PostParams::default(), &theirs).await.unwrap();
    scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
    let texts = [manifest(&namespace, "theirs", "new"), manifest(&namespace, "ours", "1")];
    scene.stage.put_config_map("m", &[("a", &texts[0]), ("b", &texts[1])]).await;
    scene.put_set("s", "ApplyOnce", &["m"]).await;
    scene.applied("s").await;
    assert_eq!(value(&there, "theirs").await.as_deref(), Some("old"));
    assert_eq!(value(&there, "ours").await.as_deref(), Some("1"));
    let brought = scene.entries("c", "s").await.unwrap();
    assert_eq!(
        brought[0].hash.as_deref(),
        Some(hash(&texts.concat()).as_str()),
        "as Cluster API computes it"
    );
    assert!(brought[0].last_applied_time.is_some());

    there.delete("ours", &DeleteParams::default()).await.unwrap();
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "more", "1"))]).await;
    // A second set shows when the change has been looked at.
    scene.put_set("canary", "ApplyOnce", &["m"]).await;
    scene.applied("canary").await;
    scene.later(700, "s").await;
    scene.stage.put_config_map("n", &[("a", &manifest(&namespace, "later", "1"))]).await;
    scene.put_set("second-canary", "ApplyOnce", &["n"]).await;
    scene.applied("second-canary").await;
    assert_eq!(value(&there, "ours").await, None, "it is not looked after");
    assert_eq!(scene.entries("c", "s").await.unwrap(), brought, "and nothing is written about it");
}

fn hash(text: &str) -> String {
    use sha2::{Digest as _, Sha256};
    let digits: Vec<_> = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{}", digits.concat())
}

#[tokio::test]
async fn a_definition_and_its_object_come_from_one_file_in_any_order() {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("crd").await;
    let group = format!("{namespace}.example.com");
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("widgets.{group}") },
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": { "kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget" },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            } } }],
        },
    });
    let widget = json!({
        "apiVersion": format!("{group}/v1"), "kind": "Widget", "metadata": { "name": "w", "namespace": namespace },
        "spec": { "size": 3 },
    });
    scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
    scene.stage.put_config_map("m", &[("all", &format!("{widget}\n---\n{definition}\n"))]).await;
    scene.put_set("s", "ApplyOnce", &["m"]).await;
    scene.applied("s").await;
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk(&group, "v1", "Widget"));
    let widgets: Api<DynamicObject> = Api::namespaced_with(workload.client(), &namespace, &kind);
    assert_eq!(widgets.get("w").await.unwrap().data["spec"]["size"], 3);
}

#[tokio::test]
async fn placeholders_and_comments_stay_as_they_are() {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("bytes").await;
    let there = far(workload, &namespace);
    scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
    let text = "${CLUSTER_NAME} $${KEEP} {{ .Values.x }} ${var.y}";
    scene
        .stage
        .put_config_map("m", &[("a", "# tiny"), ("b", ""), ("c", &manifest(&namespace, "x", text))])
        .await;
    scene.put_set("s", "ApplyOnce", &["m"]).await;
    scene.applied("s").await;
    assert_eq!(value(&there, "x").await.as_deref(), Some(text));
}

#[tokio::test]
async fn clusters_are_selected_by_expressions_too() {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("expression").await;
    let there = far(workload, &namespace);
    let kubeconfig = workload.control_plane().kubeconfig();
    scene.put_cluster_labelled("gold", json!({ "tier": "gold" })).await;
    scene.put_cluster_labelled("lead", json!({ "tier": "lead" })).await;
    for name in ["gold", "lead"] {
        scene.initialize(name).await;
        scene.put_kubeconfig(name, &kubeconfig).await;
    }
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "1"))]).await;
    let expression = json!([
        { "key": "tier", "operator": "In", "values": ["gold", "silver"] }, { "key": "retired", "operator": "DoesNotExist" },
    ]);
    let resources = json!([{ "kind": "ConfigMap", "name": "m" }]);
    scene
        .put_set_with(
            "s",
            json!({ "clusterSelector": { "matchExpressions": expression }, "resources": resources }),
        )
        .await;
    scene.applied("s").await;
    assert_eq!(value(&there, "x").await.as_deref(), Some("1"));
    assert_eq!(scene.entries("lead", "s").await, None);
    eventually("the binding", async || scene.brought("gold", "s").await.is_some()).await;
}
