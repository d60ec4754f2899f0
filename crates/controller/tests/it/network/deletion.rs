//! The way down: control plane, apply, network; retention, pause and moves.

use capt_api::names::{annotation, finalizer};
use capt_api::{CAPTCluster, CAPTControlPlane, Cluster, WorkspaceTemplateApply};
use capt_testkit::eventually;
use kube::ResourceExt;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;

use super::stage::{Scene, message};

const HOLD: &str = "example.com/hold";

#[tokio::test]
async fn a_network_waits_for_its_control_plane_and_then_for_its_apply() {
    let scene = Scene::set().await;
    scene.put(json!({})).await;
    scene.put_control_plane("plane").await;
    scene.provision().await;
    scene.hold_workspace(&[HOLD]).await;

    scene.delete().await;
    let network = scene.condition("Ready", "False", "WaitingForControlPlane").await;
    let told = message(&network, "Ready");
    assert!(told.contains("`plane`") && told.contains("not being deleted yet"), "{told}");
    assert!(!network.status.unwrap().ready);
    let planes = scene.stage.api::<CAPTControlPlane>();
    planes.delete("plane", &DeleteParams::default()).await.unwrap();
    eventually("the message to follow", async || {
        !message(&scene.networks().get("net").await.unwrap(), "Ready").contains("not being deleted yet")
    })
    .await;
    let apply = scene.stage.applies().get(&scene.vpc).await.unwrap();
    assert!(apply.metadata.deletion_timestamp.is_none());

    // Nothing but the going of the control plane brings the network up.
    scene.stage.change::<CAPTControlPlane>("plane", json!({ "metadata": { "finalizers": null } })).await;
    scene.condition("Ready", "False", "Deleting").await;
    scene.apply("the apply to be deleted", |apply| apply.metadata.deletion_timestamp.is_some()).await;
    assert_eq!(scene.networks().get("net").await.unwrap().finalizers(), [finalizer::NETWORK]);
    scene.hold_workspace(&[]).await;
    scene.gone().await;
    assert!(scene.stage.applies().get_opt(&scene.vpc).await.unwrap().is_none());
    assert!(scene.stage.workspaces().get_opt(&scene.vpc).await.unwrap().is_none());
}

#[tokio::test]
async fn a_control_plane_that_only_the_cluster_refers_to_is_waited_for_too() {
    let scene = Scene::set().await;
    let reference =
        json!({ "apiGroup": "controlplane.cluster.x-k8s.io", "kind": "CAPTControlPlane", "name": "plane" });
    let spec = json!({ "controlPlaneRef": reference });
    scene.stage.put::<Cluster>(json!({ "metadata": { "name": scene.cluster }, "spec": spec })).await;
    scene.put(json!({})).await;
    scene.put_control_plane("plane").await;
    scene.stage.change::<CAPTControlPlane>("plane", json!({ "metadata": { "labels": null } })).await;
    scene.provision().await;
    scene.delete().await;
    scene.condition("Ready", "False", "WaitingForControlPlane").await;
    scene.stage.change::<CAPTControlPlane>("plane", json!({ "metadata": { "finalizers": null } })).await;
    scene.stage.api::<CAPTControlPlane>().delete("plane", &DeleteParams::default()).await.unwrap();
    scene.gone().await;
}

#[tokio::test]
async fn a_retained_network_stays() {
    let scene = Scene::set().await;
    scene.put(json!({ "retainVpcOnDelete": true })).await;
    scene.provision().await;
    scene.delete().await;
    scene.gone().await;
    assert!(scene.stage.applies().get_opt(&scene.vpc).await.unwrap().is_none());
    let workspace = scene.stage.workspaces().get(&scene.vpc).await.unwrap();
    assert!(workspace.metadata.deletion_timestamp.is_none());
}

/// The wish and the deletion come while nobody looks, together with another that must not slip in.
#[tokio::test]
async fn a_network_that_is_to_stay_after_all_stays() {
    let mut scene = Scene::set().await;
    scene.put(json!({})).await;
    scene.provision().await;
    scene.stage.stop_manager().await;
    let late = json!({ "retainVpcOnDelete": true, "vpcTemplateRef": { "name": "missing" } });
    scene.change(json!({ "spec": late })).await;
    scene.delete().await;
    scene.stage.start_manager().await;
    scene.gone().await;
    let workspace = scene.stage.workspaces().get(&scene.vpc).await.unwrap();
    assert!(workspace.metadata.deletion_timestamp.is_none());
}

#[tokio::test]
async fn a_paused_network_is_not_taken_down() {
    let scene = Scene::set().await;
    scene.put(json!({})).await;
    scene.provision().await;
    scene.change(json!({ "metadata": { "annotations": { annotation::PAUSED: "" } } })).await;
    scene.condition("Paused", "True", "Paused").await;
    scene.delete().await;
    // Another network that goes all the way tells that the manager has had its chance.
    let spec = json!({ "region": "r", "existingVpcId": "vpc-9" });
    scene.stage.put::<CAPTCluster>(json!({ "metadata": { "name": "other" }, "spec": spec })).await;
    eventually("the other network to be told ready", async || {
        scene.networks().get("other").await.unwrap().status.is_some_and(|status| status.ready)
    })
    .await;
    let apply = scene.stage.applies().get(&scene.vpc).await.unwrap();
    assert!(apply.metadata.deletion_timestamp.is_none());
    scene.change(json!({ "metadata": { "annotations": { annotation::PAUSED: null } } })).await;
    scene.gone().await;
    assert!(scene.stage.workspaces().get_opt(&scene.vpc).await.unwrap().is_none());
}

#[tokio::test]
async fn a_paused_cluster_pauses_its_network() {
    let scene = Scene::set().await;
    scene
        .stage
        .put::<Cluster>(json!({ "metadata": { "name": scene.cluster }, "spec": { "paused": true } }))
        .await;
    scene.put(json!({})).await;
    let network = scene.condition("Paused", "True", "Paused").await;
    assert_eq!(message(&network, "Paused"), "Cluster spec.paused is set to true");
    assert!(network.finalizers().is_empty());
    assert!(scene.stage.applies().get_opt(&scene.vpc).await.unwrap().is_none());
    scene.stage.change::<Cluster>(&scene.cluster, json!({ "spec": { "paused": false } })).await;
    scene.provision().await;
    scene.condition("Paused", "False", "NotPaused").await;
}

#[tokio::test]
async fn a_moved_network_is_let_go_and_destroys_nothing() {
    let scene = Scene::set().await;
    scene.stage.put::<Cluster>(json!({ "metadata": { "name": scene.cluster }, "spec": {} })).await;
    scene.put(json!({})).await;
    scene.provision().await;
    scene.stage.change::<Cluster>(&scene.cluster, json!({ "spec": { "paused": true } })).await;
    scene.condition("Paused", "True", "Paused").await;
    scene.stage.condition(&scene.vpc, "Paused", "True", "Paused").await;
    // As clusterctl does it: all annotations are replaced, then the object is deleted.
    let replace = json!([{ "op": "add", "path": "/metadata/annotations", "value": { annotation::DELETE_FOR_MOVE: "" } }]);
    let patch = Patch::<()>::Json(serde_json::from_value(replace).unwrap());
    scene.networks().patch("net", &PatchParams::default(), &patch).await.unwrap();
    scene.delete().await;
    scene.gone().await;
    assert!(scene.stage.workspaces().get(&scene.vpc).await.unwrap().metadata.deletion_timestamp.is_none());
    assert!(scene.stage.applies().get_opt(&scene.vpc).await.unwrap().is_some());
}

#[tokio::test]
async fn a_network_that_others_manage_is_left_alone() {
    let scene = Scene::set().await;
    let metadata = json!({ "name": "left", "annotations": { annotation::MANAGED_BY: "somebody" } });
    let spec = json!({ "region": "r", "existingVpcId": "vpc-9" });
    scene.stage.put::<CAPTCluster>(json!({ "metadata": metadata, "spec": spec })).await;
    scene.put_exactly(spec).await;
    scene.condition("Ready", "True", "NetworkReady").await;
    assert!(scene.networks().get("left").await.unwrap().status.is_none());
}

#[tokio::test]
async fn the_finalizer_of_the_earlier_implementation_is_taken_away_too() {
    let mut scene = Scene::without_manager().await;
    let metadata = json!({ "name": "net", "finalizers": [finalizer::LEGACY, HOLD] });
    let spec = json!({ "region": "r", "vpcTemplateRef": { "name": "vpc" } });
    scene.stage.put::<CAPTCluster>(json!({ "metadata": metadata, "spec": spec })).await;
    scene.delete().await;
    scene.stage.start_manager().await;
    eventually("the network to be let go", async || {
        scene.networks().get("net").await.unwrap().finalizers() == [HOLD]
    })
    .await;
    scene.change(json!({ "metadata": { "finalizers": null } })).await;
    scene.gone().await;
}

#[tokio::test]
async fn an_apply_of_others_is_not_deleted_with_the_network() {
    let scene = Scene::set().await;
    scene.stage.put_apply(&scene.vpc, json!({ "templateRef": { "name": "vpc" } })).await;
    scene.put(json!({})).await;
    scene.condition("Ready", "False", "ApplyNotOwned").await;
    scene.delete().await;
    scene.gone().await;
    let apply: WorkspaceTemplateApply = scene.stage.applies().get(&scene.vpc).await.unwrap();
    assert!(apply.metadata.deletion_timestamp.is_none());
}
