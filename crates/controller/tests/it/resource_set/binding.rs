//! What is written down in bindings: in Cluster API's format, by several sets, and the truth.

use capt_api::{Cluster, ClusterResourceSetBinding};
use capt_testkit::eventually;
use kube::ResourceExt;
use serde_json::json;

use super::scene::{Scene, far, first, manifest, value};

#[tokio::test]
async fn sets_share_the_binding_of_a_cluster_without_losing_an_entry() {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("shared").await;
    scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
    let sets: Vec<_> = (0..6).map(|number| format!("s-{number}")).collect();
    for set in &sets {
        scene.stage.put_config_map(set, &[("a", &manifest(&namespace, set, "1"))]).await;
    }
    // All at once.
    let put = async |set: &String| drop(scene.put_set(set, "ApplyOnce", &[set]).await);
    futures::future::join_all(sets.iter().map(put)).await;
    for set in &sets {
        scene.applied(set).await;
    }
    let binding = scene.bindings().get("c").await.unwrap();
    assert_eq!(binding.spec.cluster_name, "c");
    let mut found: Vec<_> =
        binding.spec.bindings.iter().map(|entry| entry.cluster_resource_set_name.clone()).collect();
    found.sort();
    assert_eq!(found, sets);
    let owners = binding.owner_references();
    assert_eq!(owners.len(), sets.len());
    assert!(owners.iter().all(|owner| owner.kind == "ClusterResourceSet" && owner.controller.is_none()));
    for entry in &binding.spec.bindings {
        assert_eq!(entry.resources.len(), 1);
        assert!(entry.resources[0].applied && entry.resources[0].hash.is_some());
    }
}

#[tokio::test]
async fn a_resource_that_was_taken_out_leaves_the_binding_and_its_objects_stay() {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("removed").await;
    let there = far(workload, &namespace);
    scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "1"))]).await;
    scene.stage.put_config_map("n", &[("a", &manifest(&namespace, "y", "1"))]).await;
    scene.put_set("s", "ApplyOnce", &["m", "n"]).await;
    scene.applied("s").await;
    let rest = json!({ "spec": { "resources": [{ "kind": "ConfigMap", "name": "n" }] } });
    scene.change_set("s", rest).await;
    let expected = [("n".to_owned(), true)];
    eventually("the entry to go", async || scene.brought("c", "s").await.as_deref() == Some(&expected)).await;
    assert!(value(&there, "x").await.is_some());
    scene.applied("s").await;
}

#[tokio::test]
async fn a_cluster_that_lost_its_label_leaves_the_binding_and_may_come_back() {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("label").await;
    let there = far(workload, &namespace);
    scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "1"))]).await;
    scene.stage.put_config_map("n", &[("a", &manifest(&namespace, "y", "1"))]).await;
    scene.put_set("s", "ApplyOnce", &["m"]).await;
    let spec = json!({
        "clusterSelector": { "matchExpressions": [{ "key": "never", "operator": "DoesNotExist" }] },
        "resources": [{ "kind": "ConfigMap", "name": "n" }],
    });
    scene.put_set_with("other", spec).await;
    scene.applied("s").await;
    scene.applied("other").await;
    scene.stage.change::<Cluster>("c", json!({ "metadata": { "labels": { "fleet": null } } })).await;
    eventually("the entry to go", async || scene.brought("c", "s").await.is_none()).await;
    scene.told("s", "False", "NoClusters").await;
    assert!(value(&there, "x").await.is_some(), "what was brought stays");
    assert_eq!(scene.brought("c", "other").await.unwrap(), [("n".to_owned(), true)]);
    let owners = scene.bindings().get("c").await.unwrap().metadata.owner_references.unwrap();
    assert_eq!(owners.iter().map(|owner| owner.name.as_str()).collect::<Vec<_>>(), ["other"]);
    scene.stage.change::<Cluster>("c", json!({ "metadata": { "labels": { "fleet": "test" } } })).await;
    scene.applied("s").await;
}

#[tokio::test]
async fn the_binding_of_a_cluster_goes_with_it() {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("going").await;
    scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "1"))]).await;
    scene.put_set("s", "ApplyOnce", &["m"]).await;
    scene.applied("s").await;
    let held = json!({ "metadata": { "finalizers": ["cluster.cluster.x-k8s.io", "example.com/hold"] } });
    scene.stage.change::<Cluster>("c", held).await;
    scene.delete::<Cluster>("c").await;
    scene.gone::<ClusterResourceSetBinding>("c").await;
    scene.told("s", "False", "NoClusters").await;
    scene.stage.change::<Cluster>("c", json!({ "metadata": { "finalizers": null } })).await;
    scene.gone::<Cluster>("c").await;
    assert!(value(&far(workload, &namespace), "x").await.is_some());
}
