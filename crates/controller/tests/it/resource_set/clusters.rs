//! Clusters that are not there yet, do not answer, are paused, or are replaced: each is told, and none holds up another.

use capt_api::{Cluster, ClusterResourceSet};
use capt_testkit::{eventually, watch_until};
use kube::api::DeleteParams;
use serde_json::json;

use super::gate::Gate;
use super::scene::{Scene, condition, far, first, manifest, second, value};

#[tokio::test]
async fn one_cluster_fails_and_another_succeeds_and_both_are_told() {
    let (scene, good, bad) = (Scene::set().await, first().await, second().await);
    // The namespace is there in one of them only.
    let namespace = good.namespace("only-here").await;
    scene.put_cluster("bad", &bad.control_plane().kubeconfig()).await;
    scene.put_cluster("good", &good.control_plane().kubeconfig()).await;
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "1"))]).await;
    scene.put_set("s", "ApplyOnce", &["m"]).await;
    let message = scene.told("s", "False", "NamespaceMissing").await;
    assert!(message.contains("Cluster `bad`") && !message.contains("Cluster `good`"), "{message}");
    eventually("the good one", async || value(&far(good, &namespace), "x").await.is_some()).await;
    let truth = async |cluster: &str| scene.brought(cluster, "s").await;
    eventually("both bindings", async || truth("good").await.is_some() && truth("bad").await.is_some()).await;
    assert_eq!(truth("good").await.unwrap(), [("m".to_owned(), true)]);
    assert_eq!(truth("bad").await.unwrap(), [("m".to_owned(), false)]);
}

#[tokio::test]
async fn a_cluster_that_does_not_answer_holds_up_nobody_and_is_tried_again() {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("silent").await;
    let there = far(workload, &namespace);
    let gate = Gate::to(workload).await;
    gate.fall_silent();
    scene.put_cluster("a-silent", &gate.kubeconfig()).await;
    scene.put_cluster("good", &workload.control_plane().kubeconfig()).await;
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "1"))]).await;
    scene.put_set("s", "ApplyOnce", &["m"]).await;
    gate.is_called().await;
    eventually("the good one", async || value(&there, "x").await.is_some()).await;
    // While the first is still waited for, another one comes and is served.
    scene.put_cluster("late", &workload.control_plane().kubeconfig()).await;
    eventually("the late one", async || scene.brought("late", "s").await.is_some()).await;

    gate.shut();
    let message = scene.told("s", "False", "ClusterUnreachable").await;
    assert!(message.contains("Cluster `a-silent`"), "{message}");
    assert_eq!(scene.brought("a-silent", "s").await.unwrap(), [("m".to_owned(), false)]);
    gate.open();
    scene.later(3600, "s").await;
    scene.applied("s").await;
}

#[tokio::test]
async fn a_cluster_that_is_not_there_yet_is_waited_for() {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("waiting").await;
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "1"))]).await;
    scene.put_set("s", "ApplyOnce", &["m"]).await;
    scene.put_cluster_labelled("c", json!({ "fleet": "test" })).await;
    let message = scene.told("s", "False", "WaitingForCredentials").await;
    assert!(message.contains("Cluster `c`: its control plane is not there yet"), "{message}");
    scene.initialize("c").await;
    let sets = scene.stage.api::<ClusterResourceSet>();
    watch_until("to wait for the kubeconfig", &sets, "s", |found| {
        condition(found, "ResourcesApplied").is_some_and(|told| told.message.contains("`c-kubeconfig`"))
    })
    .await;
    assert_eq!(scene.entries("c", "s").await, None, "nothing is written down until something is tried");
    scene.put_kubeconfig("c", &workload.control_plane().kubeconfig()).await;
    scene.applied("s").await;
}

#[tokio::test]
async fn credentials_that_are_not_accepted_are_told_and_new_ones_are_tried_at_once() {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("rejected").await;
    let kubeconfig = workload.control_plane().kubeconfig();
    scene.put_cluster("c", &expired(&kubeconfig)).await;
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "1"))]).await;
    scene.put_set("s", "ApplyOnce", &["m"]).await;
    let message = scene.told("s", "False", "ClusterUnreachable").await;
    assert!(message.contains("does not accept the credentials in Secret"), "{message}");
    scene.put_kubeconfig("c", &kubeconfig).await;
    scene.applied("s").await;
}

/// A kubeconfig with a token that nobody knows.
fn expired(kubeconfig: &str) -> String {
    let rest = kubeconfig.lines().filter(|line| !line.trim_start().starts_with("client-"));
    rest.chain(["    token: nobody-knows-me"]).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_paused_cluster_gets_nothing_until_it_goes_on() {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("paused").await;
    scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
    scene.stage.change::<Cluster>("c", json!({ "spec": { "paused": true } })).await;
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "1"))]).await;
    scene.put_set("s", "ApplyOnce", &["m"]).await;
    let message = scene.told("s", "False", "Paused").await;
    assert!(message.contains("Cluster `c`"), "{message}");
    assert_eq!(value(&far(workload, &namespace), "x").await, None);
    scene.stage.change::<Cluster>("c", json!({ "spec": { "paused": false } })).await;
    scene.applied("s").await;
}

#[tokio::test]
async fn a_paused_set_brings_nothing_until_it_goes_on() {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("held").await;
    scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "1"))]).await;
    let spec = json!({
        "clusterSelector": { "matchLabels": { "fleet": "test" } }, "resources": [{ "kind": "ConfigMap", "name": "m" }],
    });
    let metadata = json!({ "name": "s", "annotations": { "cluster.x-k8s.io/paused": "" } });
    scene.stage.put::<ClusterResourceSet>(json!({ "metadata": metadata, "spec": spec })).await;
    let found = watch_until("to be paused", &scene.stage.api::<ClusterResourceSet>(), "s", |found| {
        condition(found, "Paused").is_some_and(|told| told.status == "True")
    })
    .await;
    let message = &condition(&found, "Paused").unwrap().message;
    assert_eq!(message, "ClusterResourceSet has the cluster.x-k8s.io/paused annotation");
    assert_eq!(value(&far(workload, &namespace), "x").await, None);
    scene
        .change_set("s", json!({ "metadata": { "annotations": { "cluster.x-k8s.io/paused": null } } }))
        .await;
    scene.applied("s").await;
}

#[tokio::test]
async fn what_was_brought_once_is_brought_again_to_a_cluster_that_took_the_place_of_another() {
    let (scene, one, other) = (Scene::set().await, first().await, second().await);
    let namespace = one.namespace("replaced").await;
    let twin = serde_json::from_value(json!({ "metadata": { "name": namespace } })).unwrap();
    let namespaces: kube::Api<k8s_openapi::api::core::v1::Namespace> = kube::Api::all(other.client());
    namespaces.create(&kube::api::PostParams::default(), &twin).await.unwrap();
    scene.put_cluster("c", &one.control_plane().kubeconfig()).await;
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "1"))]).await;
    scene.put_set("s", "ApplyOnce", &["m"]).await;
    scene.applied("s").await;
    scene.put_kubeconfig("c", &other.control_plane().kubeconfig()).await;
    eventually("the other cluster", async || value(&far(other, &namespace), "x").await.is_some()).await;
    scene.applied("s").await;
}

#[tokio::test]
async fn a_cluster_that_is_made_again_with_the_same_name_gets_everything_again() {
    let (mut scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("again").await;
    let there = far(workload, &namespace);
    scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "1"))]).await;
    scene.put_set("s", "ApplyOnce", &["m"]).await;
    scene.applied("s").await;
    let before = scene.bindings().get("c").await.unwrap().metadata;
    // Nobody is there to see it go.
    scene.stop_manager().await;
    scene.stage.change::<Cluster>("c", json!({ "metadata": { "finalizers": null } })).await;
    scene.delete::<Cluster>("c").await;
    scene.gone::<Cluster>("c").await;
    there.delete("x", &DeleteParams::default()).await.unwrap();
    // Times of creation are kept to the second.
    let made = before.creation_timestamp.unwrap().0;
    eventually("another second", async || k8s_openapi::jiff::Timestamp::now().as_second() > made.as_second())
        .await;
    scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
    scene.start_manager().await;
    eventually("what was brought to the first", async || value(&there, "x").await.is_some()).await;
    let after = eventually("another binding", async || {
        let found = scene.bindings().get_opt("c").await.unwrap();
        found.filter(|found| found.metadata.uid != before.uid)
    })
    .await;
    assert_eq!(after.spec.bindings.len(), 1);
}
