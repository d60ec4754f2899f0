//! `Reconcile`: changes of the manifests and changes in the cluster are both brought in line, and nothing else is touched.

use capt_testkit::eventually;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;

use super::scene::{Scene, far, first, manifest, value};

#[tokio::test]
async fn a_change_of_a_manifest_is_brought_at_once() {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("change").await;
    let there = far(workload, &namespace);
    scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "1"))]).await;
    scene.put_set("s", "Reconcile", &["m"]).await;
    scene.applied("s").await;
    let before = scene.entries("c", "s").await.unwrap();
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "2"))]).await;
    eventually("the change", async || value(&there, "x").await.as_deref() == Some("2")).await;
    scene.applied("s").await;
    eventually("the other hash", async || scene.entries("c", "s").await.unwrap()[0].hash != before[0].hash)
        .await;
}

#[tokio::test]
async fn what_was_deleted_or_changed_in_the_cluster_is_brought_in_line_again() {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("drift").await;
    let there = far(workload, &namespace);
    scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
    let texts = [manifest(&namespace, "deleted", "1"), manifest(&namespace, "changed", "1")];
    scene.stage.put_config_map("m", &[("a", &texts[0]), ("b", &texts[1])]).await;
    scene.put_set("s", "Reconcile", &["m"]).await;
    scene.applied("s").await;
    there.delete("deleted", &DeleteParams::default()).await.unwrap();
    let changed = Patch::Merge(json!({ "data": { "key": "2", "beside": "mine" } }));
    there.patch("changed", &PatchParams::default(), &changed).await.unwrap();
    scene.later(601, "s").await;
    eventually("what was deleted", async || value(&there, "deleted").await.is_some()).await;
    eventually("what was changed", async || value(&there, "changed").await.as_deref() == Some("1")).await;
    let data = there.get("changed").await.unwrap().data.unwrap();
    assert_eq!(data["beside"], "mine", "what the manifest says nothing of is left alone");
    let told = eventually("an Event", async || {
        let events = scene.stage.events("s").await;
        let found = events.into_iter().find(|event| event.reason.as_deref() == Some("DriftRepaired"));
        found.and_then(|event| event.note)
    })
    .await;
    assert!(told.contains("Cluster `c`") && told.contains("/deleted`"), "{told}");
    scene.applied("s").await;
}

#[tokio::test]
async fn what_others_wrote_on_an_object_stays() {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("others").await;
    let there = far(workload, &namespace);
    scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "1"))]).await;
    scene.put_set("s", "Reconcile", &["m"]).await;
    scene.applied("s").await;
    let theirs = json!({
        "metadata": {
            "annotations": { "example.com/a": "1" }, "labels": { "example.com/l": "1" }, "finalizers": ["example.com/f"],
        },
        "data": { "beside": "1" },
    });
    there.patch("x", &PatchParams::default(), &Patch::Merge(theirs)).await.unwrap();
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "2"))]).await;
    eventually("the change", async || value(&there, "x").await.as_deref() == Some("2")).await;
    let kept = there.get("x").await.unwrap();
    assert_eq!(kept.metadata.annotations.unwrap()["example.com/a"], "1");
    assert_eq!(kept.metadata.labels.unwrap()["example.com/l"], "1");
    assert_eq!(kept.metadata.finalizers.unwrap(), ["example.com/f"]);
    assert_eq!(kept.data.unwrap()["beside"], "1");
    let released = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    there.patch("x", &PatchParams::default(), &released).await.unwrap();
}

#[tokio::test]
async fn drift_is_looked_for_after_a_restart_too() {
    let (mut scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("restart").await;
    let there = far(workload, &namespace);
    scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "1"))]).await;
    scene.put_set("s", "Reconcile", &["m"]).await;
    scene.applied("s").await;
    scene.stop_manager().await;
    there.delete("x", &DeleteParams::default()).await.unwrap();
    scene.later(601, "s").await;
    scene.start_manager().await;
    eventually("what was deleted", async || value(&there, "x").await.is_some()).await;
}
