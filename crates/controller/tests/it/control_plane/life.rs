//! What happens to a control plane after it is there.

use capt_api::capt_control_plane::Phase;
use capt_api::{CAPTCluster, CAPTControlPlane, Cluster, WorkspaceTemplateApply};
use capt_controller::options::Options;
use capt_testkit::{eventually, watch_until};
use kube::ResourceExt;
use kube::api::DeleteParams;
use serde_json::json;

use super::scene::{Scene, condition};
use crate::stage::{ready, var};

fn is_ready(found: &CAPTControlPlane) -> bool {
    found.status.as_ref().is_some_and(|status| status.ready)
}

#[tokio::test]
async fn secrets_follow_their_source_and_are_made_again_when_deleted() {
    let scene = Scene::set().await;
    scene.provision().await;
    scene.until("to be ready", is_ready).await;
    let names = [format!("{}-kubeconfig", scene.name), format!("{}-control-plane-kubeconfig", scene.name)];
    // The same cluster under another name of its context.
    let mut outputs = scene.outputs();
    outputs[0].1.push_str("# changed\n");
    scene.connect(&outputs).await;
    for name in &names {
        eventually("the Secret to follow", async || {
            scene.secret(name, "value").await == Some(outputs[0].1.clone())
        })
        .await;
        scene.secrets().delete(name, &DeleteParams::default()).await.unwrap();
        eventually("the Secret to be made again", async || {
            scene.secret(name, "value").await == Some(outputs[0].1.clone())
        })
        .await;
    }
    let ca = format!("{}-ca", scene.name);
    let good = scene.secret(&ca, "tls.crt").await;
    scene
        .stage
        .change::<k8s_openapi::api::core::v1::Secret>(&ca, json!({ "stringData": { "tls.crt": "spoilt" } }))
        .await;
    eventually("a change of somebody else to be undone", async || scene.secret(&ca, "tls.crt").await == good)
        .await;
}

#[tokio::test]
async fn a_new_version_reaches_the_workspace_and_is_told_until_it_runs() {
    let scene = Scene::set().await;
    scene.provision().await;
    scene.until("to be ready", is_ready).await;
    scene.condition("RollingOut", "False", "NotRollingOut").await;
    scene.stage.change::<CAPTControlPlane>(&scene.name, json!({ "spec": { "version": "1.35" } })).await;
    let workspace = scene.workspace_name();
    scene
        .stage
        .workspace(&workspace, "the new version", |workspace| {
            var(workspace, "kubernetes_version") == Some("1.35")
        })
        .await;
    let found = scene.condition("RollingOut", "True", "RollingOut").await;
    assert_eq!(found.status.unwrap().phase, Some(Phase::Updating));
    scene.stage.change::<CAPTControlPlane>(&scene.name, json!({ "spec": { "version": "1.34" } })).await;
    let found = scene.condition("RollingOut", "False", "NotRollingOut").await;
    assert_eq!(found.status.unwrap().phase, Some(Phase::Ready));
}

#[tokio::test]
async fn a_workspace_that_turns_bad_later_is_noticed_and_nothing_is_taken_away() {
    let scene = Scene::set().await;
    scene.provision().await;
    scene.until("to be ready", is_ready).await;
    let mut status = ready();
    status["conditions"][0]["status"] = json!("False");
    status["conditions"][0]["reason"] = json!("Unavailable");
    scene.stage.report(&scene.workspace_name(), status).await;
    let found = scene.until("not to be ready", |found| !is_ready(found)).await;
    assert!(found.status.as_ref().unwrap().initialized);
    assert_eq!(condition(&found, "Available").unwrap().status, "True");
    assert!(found.spec.control_plane_endpoint.is_some());
    assert!(scene.secret(&format!("{}-kubeconfig", scene.name), "value").await.is_some());
}

#[tokio::test]
async fn the_way_down_ends_with_the_apply_and_everything_may_be_deleted_at_once() {
    let scene = Scene::set().await;
    scene.provision().await;
    scene.until("to be ready", is_ready).await;
    scene.control_planes().delete(&scene.name, &DeleteParams::default()).await.unwrap();
    scene.stage.api::<Cluster>().delete(&scene.name, &DeleteParams::default()).await.unwrap();
    eventually("the control plane to be gone", async || {
        scene.control_planes().get_opt(&scene.name).await.unwrap().is_none()
    })
    .await;
    assert!(scene.stage.workspaces().get_opt(&scene.workspace_name()).await.unwrap().is_none());
    assert!(
        scene.stage.applies().get_opt(&format!("{}-apply", scene.workspace_name())).await.unwrap().is_none()
    );
    eventually("the Cluster to be gone", async || {
        scene.stage.api::<Cluster>().get_opt(&scene.name).await.unwrap().is_none()
    })
    .await;
}

#[tokio::test]
async fn a_paused_control_plane_is_left_alone_even_when_deleted() {
    let scene = Scene::set().await;
    scene.provision().await;
    scene.until("to be ready", is_ready).await;
    scene.stage.change::<Cluster>(&scene.name, json!({ "spec": { "paused": true } })).await;
    scene.condition("Paused", "True", "Paused").await;
    scene.control_planes().delete(&scene.name, &DeleteParams::default()).await.unwrap();
    let name = format!("{}-control-plane-kubeconfig", scene.name);
    scene.secrets().delete(&name, &DeleteParams::default()).await.unwrap();
    scene.stage.change::<Cluster>(&scene.name, json!({ "spec": { "paused": false } })).await;
    eventually("the control plane to be gone", async || {
        scene.control_planes().get_opt(&scene.name).await.unwrap().is_none()
    })
    .await;
}

#[tokio::test]
async fn secrets_are_owned_anew_after_a_restore() {
    let mut scene = Scene::set().await;
    scene.provision().await;
    scene.until("to be ready", is_ready).await;
    scene.stop_manager().await;
    let name = format!("{}-kubeconfig", scene.name);
    let stale = json!([{ "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane", "name": scene.name, "uid": "00000000-0000-0000-0000-000000000000", "controller": true }]);
    // Garbage collection would take it for an orphan, as after a restore: it is owned anew before, or made again after.
    scene
        .stage
        .change::<k8s_openapi::api::core::v1::Secret>(
            &name,
            json!({ "metadata": { "ownerReferences": stale } }),
        )
        .await;
    scene.start_manager(Options::default()).await;
    let uid = scene.control_planes().get(&scene.name).await.unwrap().uid();
    eventually("the Secret to be owned anew", async || {
        let secret = scene.secrets().get_opt(&name).await.unwrap();
        secret.is_some_and(|secret| {
            secret.owner_references().iter().all(|owner| Some(&owner.uid) == uid.as_ref())
                && !secret.owner_references().is_empty()
        })
    })
    .await;
}

#[tokio::test]
async fn the_network_comes_first_and_its_outputs_are_passed_on() {
    let mut scene = Scene::without_manager().await;
    let module = "variable \"cluster_name\" {}\nvariable \"vpc_id\" {}\nvariable \"private_subnets\" { type = list(string) }\n";
    scene.stage.put_template("control-plane", module).await;
    scene.stage.put_template("vpc", &crate::stage::module(&["vpc_name"])).await;
    scene.start_manager(Options::default()).await;
    let reference = |group: &str, kind: &str| json!({ "apiGroup": group, "kind": kind, "name": scene.name });
    let spec = json!({
        "infrastructureRef": reference("infrastructure.cluster.x-k8s.io", "CAPTCluster"),
        "controlPlaneRef": reference("controlplane.cluster.x-k8s.io", "CAPTControlPlane"),
    });
    scene.stage.put::<Cluster>(json!({ "metadata": { "name": scene.name }, "spec": spec })).await;
    let network = json!({ "region": "eu-west-1", "vpcTemplateRef": { "name": "vpc" } });
    scene.stage.put::<CAPTCluster>(json!({ "metadata": { "name": scene.name }, "spec": network })).await;
    scene.put_control_plane(json!({})).await;
    scene.condition("Ready", "False", "WaitingForNetwork").await;
    let vpc = format!("{}-vpc", scene.name);
    scene.stage.workspace(&vpc, "the network's Workspace", |_| true).await;
    assert!(scene.stage.workspaces().get_opt(&scene.workspace_name()).await.unwrap().is_none());
    let mut status = ready();
    status["atProvider"] =
        json!({ "outputs": { "vpc_id": "vpc-1", "private_subnets": ["a", "b"], "other": 1 } });
    scene.stage.report(&vpc, status).await;
    let workspace = scene.workspace().await;
    assert_eq!(var(&workspace, "vpc_id"), Some("vpc-1"));
    let varmap = workspace.spec.for_provider.varmap.clone().unwrap();
    assert_eq!(json!(varmap)["private_subnets"], json!(["a", "b"]));
    scene.provision().await;
    scene.until("to be ready", is_ready).await;

    // The way down: the network goes last, although everything is deleted at once.
    let parameters = DeleteParams::default();
    scene.stage.api::<CAPTCluster>().delete(&scene.name, &parameters).await.unwrap();
    scene.control_planes().delete(&scene.name, &parameters).await.unwrap();
    scene.stage.api::<Cluster>().delete(&scene.name, &parameters).await.unwrap();
    eventually("all of it to be gone", async || {
        scene.stage.api::<Cluster>().get_opt(&scene.name).await.unwrap().is_none()
            && scene.stage.api::<CAPTCluster>().get_opt(&scene.name).await.unwrap().is_none()
            && scene.stage.workspaces().get_opt(&vpc).await.unwrap().is_none()
    })
    .await;
}

#[tokio::test]
async fn an_apply_that_belongs_to_somebody_else_is_left_alone() {
    let scene = Scene::without_manager().await;
    let mut scene = scene;
    let name = format!("{}-eks-controlplane-apply", scene.name);
    scene.stage.put_apply(&name, json!({ "templateRef": { "name": "control-plane" } })).await;
    scene.start_manager(Options::default()).await;
    scene.put(json!({})).await;
    let found = scene.condition("Ready", "False", "ApplyNotOwned").await;
    assert!(condition(&found, "Ready").unwrap().message.contains(&name));
    let apply = watch_until("the apply", &scene.stage.api::<WorkspaceTemplateApply>(), &name, |_| true).await;
    assert!(apply.owner_references().is_empty());
    // The user says that it is meant.
    let named = json!({ "spec": { "workspaceTemplateApplyName": name } });
    scene.stage.change::<CAPTControlPlane>(&scene.name, named).await;
    watch_until("the apply to be taken over", &scene.stage.api::<WorkspaceTemplateApply>(), &name, |apply| {
        apply.owner_references().iter().any(|owner| owner.kind == "CAPTControlPlane")
    })
    .await;
}
