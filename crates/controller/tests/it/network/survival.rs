//! The manager may be killed between any two lines.

use capt_api::names::{finalizer, label};
use capt_api::{CAPTCluster, Workspace};
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use serde_json::json;

use super::stage::Scene;

#[tokio::test]
async fn a_network_that_was_claimed_and_no_more_is_made() {
    let mut scene = Scene::without_manager().await;
    let metadata = json!({
        "name": "net", "labels": { label::CLUSTER_NAME: scene.cluster }, "finalizers": [finalizer::NETWORK],
    });
    let spec = json!({ "region": "r", "vpcTemplateRef": { "name": "vpc" }, "workspaceTemplateApplyName": scene.vpc });
    scene.stage.put::<CAPTCluster>(json!({ "metadata": metadata, "spec": spec })).await;
    scene.stage.start_manager().await;
    scene.provision().await;
}

#[tokio::test]
async fn a_status_that_was_never_written_is_written() {
    let mut scene = Scene::set().await;
    scene.put(json!({})).await;
    scene.provision().await;
    scene.stage.stop_manager().await;
    let apply = scene.stage.applies().get(&scene.vpc).await.unwrap();
    let lost = json!([{ "op": "remove", "path": "/status" }]);
    let patch = Patch::<()>::Json(serde_json::from_value(lost).unwrap());
    scene.networks().patch_status("net", &PatchParams::default(), &patch).await.unwrap();
    scene.stage.start_manager().await;
    let network = scene.condition("Ready", "True", "NetworkReady").await;
    assert!(network.status.unwrap().initialization.unwrap().provisioned);
    let again = scene.stage.applies().get(&scene.vpc).await.unwrap();
    assert_eq!(again.resource_version(), apply.resource_version());
}

#[tokio::test]
async fn nothing_is_written_while_nothing_changes() {
    let mut scene = Scene::set().await;
    scene.put(json!({})).await;
    scene.provision().await;
    scene.stage.condition(&scene.vpc, "Ready", "True", "WorkspaceReady").await;
    let network = scene.networks().get("net").await.unwrap();
    scene.stage.stop_manager().await;
    scene.stage.start_manager().await;
    // Another network tells that the manager has been through its first round.
    let spec = json!({ "region": "r", "existingVpcId": "vpc-9" });
    scene.stage.put::<CAPTCluster>(json!({ "metadata": { "name": "other" }, "spec": spec })).await;
    capt_testkit::eventually("the other network to be told ready", async || {
        scene.networks().get("other").await.unwrap().status.is_some_and(|status| status.ready)
    })
    .await;
    assert_eq!(scene.networks().get("net").await.unwrap().resource_version(), network.resource_version());
}

/// A new manager at every stage of the way up and down.
#[tokio::test]
async fn a_manager_that_is_replaced_at_every_stage_leaves_nothing_undone() {
    let mut scene = Scene::without_manager().await;
    scene.put(json!({})).await;
    scene.put_control_plane("plane").await;
    scene.stage.start_manager().await;
    scene.stage.stop_manager().await;
    scene.stage.start_manager().await;
    scene.condition("Ready", "False", "NetworkNotReady").await;
    scene.stage.stop_manager().await;
    scene.stage.start_manager().await;
    scene.stage.workspace(&scene.vpc, "the Workspace to be made", |_| true).await;
    scene.stage.stop_manager().await;
    scene.finish(json!({ "vpc_id": "vpc-1" })).await;
    scene.stage.start_manager().await;
    let network = scene.condition("Ready", "True", "NetworkReady").await;
    assert_eq!(network.status.unwrap().vpc_id.as_deref(), Some("vpc-1"));
    let all = scene.stage.applies().list(&ListParams::default()).await.unwrap();
    assert_eq!(all.items.len(), 1);
    scene.hold_workspace(&["example.com/hold"]).await;

    scene.stage.stop_manager().await;
    scene.delete().await;
    scene.stage.start_manager().await;
    scene.condition("Ready", "False", "WaitingForControlPlane").await;
    scene.stage.stop_manager().await;
    scene
        .stage
        .change::<capt_api::CAPTControlPlane>("plane", json!({ "metadata": { "finalizers": null } }))
        .await;
    scene.stage.api::<capt_api::CAPTControlPlane>().delete("plane", &DeleteParams::default()).await.unwrap();
    scene.stage.start_manager().await;
    scene
        .stage
        .workspace(&scene.vpc, "the Workspace to be destroyed", |workspace: &Workspace| {
            workspace.metadata.deletion_timestamp.is_some()
        })
        .await;
    scene.stage.stop_manager().await;
    scene.hold_workspace(&[]).await;
    scene.stage.start_manager().await;
    scene.gone().await;
    assert!(scene.stage.applies().get_opt(&scene.vpc).await.unwrap().is_none());
}
