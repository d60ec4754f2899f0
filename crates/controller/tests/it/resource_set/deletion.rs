//! A set that is deleted leaves no trace in bindings, and its objects in the clusters.

use capt_api::{ClusterResourceSet, ClusterResourceSetBinding};
use capt_testkit::eventually;
use kube::api::DeleteParams;
use serde_json::json;

use super::gate::Gate;
use super::scene::{Scene, far, first, manifest, value};

#[tokio::test]
async fn every_binding_is_cleaned_and_a_set_of_the_same_name_brings_everything_again() {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("deleted").await;
    let there = far(workload, &namespace);
    let kubeconfig = workload.control_plane().kubeconfig();
    // The first has no binding at all.
    scene.put_cluster_labelled("a-none", json!({ "fleet": "test" })).await;
    scene.put_cluster("b", &kubeconfig).await;
    scene.put_cluster("c", &kubeconfig).await;
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "1"))]).await;
    scene.stage.put_config_map("n", &[("a", &manifest(&namespace, "y", "1"))]).await;
    scene.put_set("s", "ApplyOnce", &["m"]).await;
    scene.put_set("stays", "ApplyOnce", &["n"]).await;
    for (cluster, set) in [("b", "s"), ("b", "stays"), ("c", "s"), ("c", "stays")] {
        eventually("all entries", async || scene.brought(cluster, set).await.is_some()).await;
    }
    scene.delete::<ClusterResourceSet>("s").await;
    scene.gone::<ClusterResourceSet>("s").await;
    for cluster in ["b", "c"] {
        assert_eq!(scene.brought(cluster, "s").await, None, "{cluster}");
        assert_eq!(scene.brought(cluster, "stays").await.unwrap(), [("n".to_owned(), true)]);
        let owners = scene.bindings().get(cluster).await.unwrap().metadata.owner_references.unwrap();
        assert_eq!(owners.len(), 1, "{owners:?}");
    }
    assert!(value(&there, "x").await.is_some(), "what was brought stays");

    there.delete("x", &DeleteParams::default()).await.unwrap();
    scene.put_set("s", "ApplyOnce", &["m"]).await;
    eventually("it to be brought again", async || value(&there, "x").await.is_some()).await;
}

#[tokio::test]
async fn the_last_set_of_a_binding_takes_it_along() {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("last").await;
    scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "1"))]).await;
    scene.put_set("s", "ApplyOnce", &["m"]).await;
    scene.applied("s").await;
    scene.delete::<ClusterResourceSet>("s").await;
    scene.gone::<ClusterResourceSetBinding>("c").await;
    scene.gone::<ClusterResourceSet>("s").await;
}

#[tokio::test]
async fn what_is_on_its_way_does_not_hold_up_the_deletion() {
    let (scene, workload) = (Scene::set().await, first().await);
    let gate = Gate::to(workload).await;
    gate.fall_silent();
    scene.put_cluster("c", &gate.kubeconfig()).await;
    scene.stage.put_config_map("m", &[("a", &manifest("default", "never-there", "1"))]).await;
    scene.put_set("s", "ApplyOnce", &["m"]).await;
    gate.is_called().await;
    scene.delete::<ClusterResourceSet>("s").await;
    scene.gone::<ClusterResourceSet>("s").await;
    assert_eq!(scene.bindings().get_opt("c").await.unwrap(), None);
}

#[tokio::test]
async fn what_an_earlier_set_left_behind_does_not_count() {
    let (mut scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("earlier").await;
    let there = far(workload, &namespace);
    scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "1"))]).await;
    scene.put_set("s", "ApplyOnce", &["m"]).await;
    scene.put_set("stays", "ApplyOnce", &["m"]).await;
    scene.applied("s").await;
    scene.applied("stays").await;
    scene.stop_manager().await;
    // Somebody takes the finalizer off by hand.
    scene.delete::<ClusterResourceSet>("s").await;
    scene.change_set("s", json!({ "metadata": { "finalizers": null } })).await;
    scene.gone::<ClusterResourceSet>("s").await;
    there.delete("x", &DeleteParams::default()).await.unwrap();
    scene.put_set("s", "ApplyOnce", &["m"]).await;
    scene.start_manager().await;
    eventually("it to be brought again", async || value(&there, "x").await.is_some()).await;
    scene.applied("s").await;
}
