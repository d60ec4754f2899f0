//! Whose apply it is.

use capt_api::CAPTCluster;
use capt_testkit::{eventually, watch_until};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams, PropagationPolicy};
use serde_json::{Value, json};

use super::stage::{Scene, message};

#[tokio::test]
async fn an_apply_of_others_is_left_alone_and_told() {
    let scene = Scene::set().await;
    scene.stage.put_apply(&scene.vpc, json!({ "templateRef": { "name": "vpc" } })).await;
    let foreign = scene.stage.condition(&scene.vpc, "Applied", "True", "UpToDate").await;
    scene.put(json!({})).await;
    let network = scene.condition("Ready", "False", "ApplyNotOwned").await;
    let told = message(&network, "Ready");
    assert!(told.contains(&scene.vpc) && told.contains("spec.workspaceTemplateApplyName"), "{told}");
    assert!(network.finalizers().is_empty());
    let apply = scene.stage.applies().get(&scene.vpc).await.unwrap();
    assert_eq!(apply.metadata.generation, foreign.metadata.generation);
    assert!(apply.owner_references().is_empty());

    // The way out that the message names.
    scene.change(json!({ "spec": { "workspaceTemplateApplyName": scene.vpc } })).await;
    let taken = scene.apply("the apply to be taken over", |apply| !apply.owner_references().is_empty()).await;
    assert_eq!(taken.uid(), foreign.uid());
    scene.provision().await;
}

#[tokio::test]
async fn the_apply_of_another_network_is_never_taken_over() {
    let scene = Scene::set().await;
    scene.put(json!({})).await;
    scene.provision().await;
    let spec = json!({ "region": "r", "vpcTemplateRef": { "name": "vpc" }, "workspaceTemplateApplyName": scene.vpc });
    let labels = json!({ capt_api::names::label::CLUSTER_NAME: "second" });
    scene
        .stage
        .put::<CAPTCluster>(json!({ "metadata": { "name": "second", "labels": labels }, "spec": spec }))
        .await;
    watch_until("the conflict to be told", &scene.networks(), "second", |network: &CAPTCluster| {
        message(network, "Ready").contains("belongs to CAPTCluster net")
    })
    .await;
    scene.networks().delete("second", &DeleteParams::default()).await.unwrap();
    eventually("the second network to be gone", async || {
        scene.networks().get_opt("second").await.unwrap().is_none()
    })
    .await;
    assert!(scene.stage.applies().get(&scene.vpc).await.unwrap().metadata.deletion_timestamp.is_none());
}

#[tokio::test]
async fn a_name_that_no_object_can_have_leads_nowhere() {
    let scene = Scene::set().await;
    scene.put(json!({ "workspaceTemplateApplyName": "../../../../api/v1/namespaces/default" })).await;
    let network = scene.condition("Ready", "False", "SpecInvalid").await;
    assert!(message(&network, "Ready").contains("spec.workspaceTemplateApplyName"));
    scene.change(json!({ "spec": { "workspaceTemplateApplyName": null } })).await;
    scene.provision().await;
}

/// The earlier implementation named the apply after the network, did not note the name, and treated failures as final.
#[tokio::test]
async fn the_apply_of_the_earlier_implementation_is_taken_up() {
    let mut scene = Scene::without_manager().await;
    let network = scene.put(json!({})).await;
    let owner = json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "CAPTCluster", "name": "net",
        "uid": network.uid(), "controller": true, "blockOwnerDeletion": true,
    });
    let spec = json!({ "templateRef": { "name": "vpc" }, "variables": { "environment": "production" } });
    scene
        .stage
        .put::<capt_api::WorkspaceTemplateApply>(
            json!({ "metadata": { "name": "net-vpc", "ownerReferences": [owner] }, "spec": spec }),
        )
        .await;
    let old = json!({ "status": {
        "ready": false, "failureReason": "VPCFailed", "failureMessage": "conflict", "vpcWorkspaceName": "net-vpc",
        "workspaceTemplateStatus": { "ready": false, "lastFailureMessage": "conflict" },
    } });
    scene.networks().patch_status("net", &PatchParams::default(), &Patch::Merge(old)).await.unwrap();
    scene.stage.start_manager().await;
    let network = scene.condition("Ready", "False", "NetworkNotReady").await;
    assert_eq!(network.spec.workspace_template_apply_name.as_deref(), Some("net-vpc"));
    let apply = watch_until("the apply to follow", &scene.stage.applies(), "net-vpc", |apply| {
        apply.spec.variables.contains_key("vpc_name")
    })
    .await;
    assert_eq!(apply.spec.variables.get("environment").map(String::as_str), Some("production"));
    assert!(scene.stage.applies().get_opt(&scene.vpc).await.unwrap().is_none(), "no second apply");
    watch_until("the final failure to be cleared", &scene.networks(), "net", |network: &CAPTCluster| {
        let status = network.status.clone().unwrap_or_default();
        status.failure_reason.is_none() && status.failure_message.is_none()
    })
    .await;
    let workspace = "net-vpc";
    scene.stage.workspace(workspace, "the Workspace to be made", |_| true).await;
    scene.stage.report(workspace, crate::stage::ready()).await;
    let network = scene.condition("Ready", "True", "NetworkReady").await;
    eventually("the failure of the apply to be cleared", async || {
        let status = scene.networks().get("net").await.unwrap().status.unwrap();
        status.workspace_template_status.is_some_and(|applied| applied.last_failure_message.is_none())
    })
    .await;
    assert!(network.status.unwrap().ready);
}

fn restored(network: &CAPTCluster) -> CAPTCluster {
    let mut restored = network.clone();
    restored.metadata.uid = None;
    restored.metadata.resource_version = None;
    restored.metadata.managed_fields = None;
    restored.status = None;
    restored
}

/// As a restore from a backup leaves it: the same network with another uid, no status, and an apply without an owner.
#[tokio::test]
async fn a_restored_network_takes_its_apply_back() {
    let mut scene = Scene::set().await;
    scene.put(json!({})).await;
    let network = scene.provision().await;
    let apply = scene.stage.applies().get(&scene.vpc).await.unwrap();
    scene.stage.stop_manager().await;
    let orphan =
        DeleteParams { propagation_policy: Some(PropagationPolicy::Orphan), ..DeleteParams::default() };
    scene.networks().delete("net", &orphan).await.unwrap();
    scene.apply("the apply to have no owner", |apply| apply.owner_references().is_empty()).await;
    scene.change(json!({ "metadata": { "finalizers": null } })).await;
    scene.gone().await;
    let network = scene.networks().create(&PostParams::default(), &restored(&network)).await.unwrap();
    scene.stage.start_manager().await;
    let again = scene
        .apply("the apply to be taken back", |apply| {
            apply.owner_references().iter().any(|owner| Some(&owner.uid) == network.metadata.uid.as_ref())
        })
        .await;
    assert_eq!((again.uid(), again.metadata.generation), (apply.uid(), apply.metadata.generation));
    let network = scene.condition("Ready", "True", "NetworkReady").await;
    assert_eq!(network.status.unwrap().vpc_id.as_deref(), Some("vpc-1"));
}

/// The apply still names the network as it was, in a version that is no longer served, so that garbage collection cannot tell
/// whether that is gone.
#[tokio::test]
async fn an_apply_that_names_the_network_of_before_is_owned_anew() {
    let mut scene = Scene::set().await;
    let network = scene.put(json!({})).await;
    scene.provision().await;
    scene.stage.stop_manager().await;
    scene.stage.put_config_map("keeper", &[]).await;
    let keeper = scene.stage.api::<ConfigMap>().get("keeper").await.unwrap();
    let kept: Value =
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": "keeper", "uid": keeper.uid() });
    let past = json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1alpha1", "kind": "CAPTCluster", "name": "net",
        "uid": "00000000-0000-0000-0000-000000000000", "controller": true,
    });
    let patch = json!({ "metadata": { "ownerReferences": [past, kept] } });
    scene.stage.applies().patch(&scene.vpc, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    scene.stage.start_manager().await;
    let apply = scene
        .apply("the apply to be owned anew", |apply| {
            apply.owner_references().iter().any(|owner| Some(&owner.uid) == network.metadata.uid.as_ref())
        })
        .await;
    let controllers = apply.owner_references().iter().filter(|owner| owner.controller == Some(true)).count();
    assert_eq!(controllers, 1, "{:?}", apply.owner_references());
    assert!(apply.owner_references().iter().any(|owner| owner.name == "keeper"));
    assert!(apply.metadata.deletion_timestamp.is_none());
}
