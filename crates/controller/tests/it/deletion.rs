//! The way down: order, retention, pause and moves.

use capt_api::names::{annotation as keys, finalizer, label};
use capt_api::{Cluster, Workspace, WorkspaceTemplateApply};
use capt_testkit::{eventually, watch_until};
use kube::ResourceExt;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use serde_json::json;

use crate::engine::stage::EngineStage;
use crate::stage::{Stage, annotation, message, module, ready};

const HOLD: &str = "example.com/hold";

/// Keeps a Workspace from going away, as Terraform's destroy does.
async fn hold(stage: &Stage, workspace: &str) {
    let patch = json!({ "metadata": { "finalizers": [HOLD] } });
    stage.workspaces().patch(workspace, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
}

async fn let_go(stage: &Stage, workspace: &str) {
    let patch = json!({ "metadata": { "finalizers": [] } });
    stage.workspaces().patch(workspace, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
}

async fn gone(stage: &Stage, apply: &str) {
    eventually("the apply to be gone", async || stage.applies().get_opt(apply).await.unwrap().is_none())
        .await;
}

async fn applied(stage: &Stage, name: &str, spec: serde_json::Value) {
    stage.put_apply(name, spec).await;
    stage.condition(name, "Applied", "True", "UpToDate").await;
}

#[tokio::test]
async fn an_apply_goes_only_after_its_workspace() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&[])).await;
    let name = stage.unique("x");
    applied(&stage, &name, json!({ "templateRef": { "name": "t" } })).await;
    hold(&stage, &name).await;
    stage.applies().delete(&name, &DeleteParams::default()).await.unwrap();
    let apply = stage.condition(&name, "Ready", "False", "Deleting").await;
    assert!(message(&apply, "Ready").contains(&name));
    assert!(stage.workspaces().get(&name).await.unwrap().metadata.deletion_timestamp.is_some());
    let_go(&stage, &name).await;
    gone(&stage, &name).await;
}

#[tokio::test]
async fn a_workspace_that_feeds_another_is_destroyed_after_it() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&["subnets"])).await;
    let (vpc, plane) = (stage.unique("vpc"), stage.unique("plane"));
    applied(&stage, &format!("{vpc}-apply"), json!({ "templateRef": { "name": "t" } })).await;
    stage.report(&vpc, json!({ "conditions": ready()["conditions"], "atProvider": { "outputs": { "subnets": ["a", "b"] } } })).await;
    applied(
        &stage,
        &plane,
        json!({ "templateRef": { "name": "t" }, "variablesFrom": [
            { "variable": "subnets", "workspaceOutputRef": { "name": vpc, "output": "subnets" } },
        ] }),
    )
    .await;
    hold(&stage, &plane).await;

    // Everything at once, the network first.
    stage.applies().delete(&format!("{vpc}-apply"), &DeleteParams::default()).await.unwrap();
    let waiting = stage.condition(&format!("{vpc}-apply"), "Ready", "False", "WaitingForDependents").await;
    assert!(message(&waiting, "Ready").contains(&plane), "{}", message(&waiting, "Ready"));
    stage.applies().delete(&plane, &DeleteParams::default()).await.unwrap();
    watch_until("the dependent to be destroyed", &stage.workspaces(), &plane, |workspace: &Workspace| {
        workspace.metadata.deletion_timestamp.is_some()
    })
    .await;
    assert!(stage.workspaces().get(&vpc).await.unwrap().metadata.deletion_timestamp.is_none());
    let_go(&stage, &plane).await;
    gone(&stage, &plane).await;
    gone(&stage, &format!("{vpc}-apply")).await;
    assert!(stage.workspaces().get_opt(&vpc).await.unwrap().is_none());
}

#[tokio::test]
async fn a_retained_workspace_stays_and_is_nobodys() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&[])).await;
    let name = stage.unique("x");
    applied(&stage, &name, json!({ "templateRef": { "name": "t" }, "retainWorkspaceOnDelete": true })).await;
    let owner = json!({ "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "CAPTCluster", "name": "x", "uid": "1" });
    let patch = json!({ "metadata": { "ownerReferences": [owner] } });
    stage.workspaces().patch(&name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    stage.applies().delete(&name, &DeleteParams::default()).await.unwrap();
    gone(&stage, &name).await;
    let workspace = stage.workspaces().get(&name).await.unwrap();
    assert!(workspace.metadata.deletion_timestamp.is_none());
    assert!(workspace.owner_references().is_empty());
    assert!(!workspace.labels().contains_key(label::APPLY_UID));
    assert_eq!(annotation(&workspace, keys::APPLY), None);
}

#[tokio::test]
async fn a_paused_apply_is_not_destroyed() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&[])).await;
    let name = stage.unique("x");
    applied(&stage, &name, json!({ "templateRef": { "name": "t" } })).await;
    stage
        .change::<WorkspaceTemplateApply>(
            &name,
            json!({ "metadata": { "annotations": { keys::PAUSED: "" } } }),
        )
        .await;
    stage.condition(&name, "Paused", "True", "Paused").await;
    stage.applies().delete(&name, &DeleteParams::default()).await.unwrap();
    // Another apply that goes all the way tells that the manager has had its chance.
    let other = stage.unique("y");
    applied(&stage, &other, json!({ "templateRef": { "name": "t" } })).await;
    assert!(stage.workspaces().get(&name).await.unwrap().metadata.deletion_timestamp.is_none());
    stage
        .change::<WorkspaceTemplateApply>(
            &name,
            json!({ "metadata": { "annotations": { keys::PAUSED: null } } }),
        )
        .await;
    gone(&stage, &name).await;
    assert!(stage.workspaces().get_opt(&name).await.unwrap().is_none());
}

#[tokio::test]
async fn a_paused_cluster_pauses_its_applies() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&["a"])).await;
    stage.put::<Cluster>(json!({ "metadata": { "name": "demo" }, "spec": { "paused": true } })).await;
    let name = stage.unique("x");
    let labels = json!({ label::CLUSTER_NAME: "demo" });
    let spec = json!({ "templateRef": { "name": "t" }, "variables": { "a": "${CLUSTER_NAME}" } });
    stage
        .put::<WorkspaceTemplateApply>(
            json!({ "metadata": { "name": name, "labels": labels }, "spec": spec }),
        )
        .await;
    let apply = stage.condition(&name, "Paused", "True", "Paused").await;
    assert_eq!(message(&apply, "Paused"), "Cluster spec.paused is set to true");
    assert!(stage.workspaces().get_opt(&name).await.unwrap().is_none());
    stage.change::<Cluster>("demo", json!({ "spec": { "paused": false } })).await;
    let apply = stage.condition(&name, "Applied", "True", "UpToDate").await;
    assert_eq!(crate::stage::find_condition(&apply, "Paused").unwrap().status, "False");
}

#[tokio::test]
async fn a_moved_apply_lets_go_and_leaves_its_workspace_frozen() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&[])).await;
    let name = stage.unique("x");
    applied(&stage, &name, json!({ "templateRef": { "name": "t" } })).await;
    // As clusterctl does it: all annotations are replaced, then the object is deleted.
    let replace =
        json!([{ "op": "replace", "path": "/metadata/annotations", "value": { keys::DELETE_FOR_MOVE: "" } }]);
    let patch = Patch::<()>::Json(serde_json::from_value(replace).unwrap());
    stage.applies().patch(&name, &PatchParams::default(), &patch).await.unwrap();
    stage.applies().delete(&name, &DeleteParams::default()).await.unwrap();
    gone(&stage, &name).await;
    let workspace = stage.workspaces().get(&name).await.unwrap();
    assert!(workspace.metadata.deletion_timestamp.is_none());
    assert_eq!(annotation(&workspace, keys::CROSSPLANE_PAUSED), Some("true"));

    // Moved back, it takes the Workspace up again.
    stage.put_apply(&name, json!({ "templateRef": { "name": "t" } })).await;
    stage.condition(&name, "Applied", "True", "UpToDate").await;
    let again = stage.workspaces().get(&name).await.unwrap();
    assert_eq!(again.uid(), workspace.uid());
    assert_eq!(annotation(&again, keys::CROSSPLANE_PAUSED), None);
    assert_eq!(annotation(&again, keys::FROZEN), None);
}

#[tokio::test]
async fn what_is_kept_of_a_moved_workspace_goes_by_its_first_name_whatever_it_is_called_here() {
    let EngineStage { stage, .. } = &EngineStage::set().await;
    stage.put_template("t", r#"output "name" { value = "${WORKSPACE_NAME}" }"#).await;
    let name = stage.unique("x");
    // Another namespace has the name here.
    let theirs: Workspace = serde_json::from_value(json!({
        "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace",
        "metadata": { "name": name, "annotations": { keys::APPLY: format!("elsewhere/{name}-apply") } },
        "spec": { "forProvider": { "source": "Inline", "module": "locals {}" } },
    }))
    .unwrap();
    stage.workspaces().create(&PostParams::default(), &theirs).await.unwrap();
    let kept = format!("{}/tfstate-{name}-capt", stage.namespace);
    let annotations = json!({ keys::WORKSPACE_NAME: name, keys::STATE: kept });
    let apply = format!("{name}-apply");
    stage
        .put::<WorkspaceTemplateApply>(json!({
            "metadata": { "name": apply, "annotations": annotations },
            "spec": { "templateRef": { "name": "t" } },
        }))
        .await;
    let apply = stage.condition(&apply, "Applied", "True", "UpToDate").await;
    let here = apply.annotations()[keys::WORKSPACE_NAME].clone();
    assert_ne!(here, name);
    assert_eq!(apply.annotations()[keys::KEPT_AS], name);
    let workspace = stage.workspaces().get(&here).await.unwrap();
    assert_eq!(annotation(&workspace, keys::KEPT_AS), Some(name.as_str()));
    // Nothing that goes into Terraform is another than before.
    assert!(workspace.spec.for_provider.module.contains(&format!("\"{name}\"")), "{:?}", workspace.spec);
}

#[tokio::test]
async fn applies_that_use_each_other_do_not_wait_for_each_other_on_the_way_down() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&[])).await;
    let (one, two) = (stage.unique("one"), stage.unique("two"));
    for name in [&one, &two] {
        applied(&stage, name, json!({ "templateRef": { "name": "t" } })).await;
    }
    for (name, other) in [(&one, &two), (&two, &one)] {
        let wait = json!({ "spec": { "waitForWorkspaces": [{ "name": other }] } });
        stage.change::<WorkspaceTemplateApply>(name, wait).await;
    }
    for name in [&one, &two] {
        stage.applies().delete(name, &DeleteParams::default()).await.unwrap();
    }
    gone(&stage, &one).await;
    gone(&stage, &two).await;
}

#[tokio::test]
async fn an_apply_that_others_manage_is_left_alone() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&[])).await;
    let (left, seen) = (stage.unique("left"), stage.unique("seen"));
    let annotations = json!({ keys::MANAGED_BY: "somebody" });
    let spec = json!({ "templateRef": { "name": "t" } });
    stage
        .put::<WorkspaceTemplateApply>(
            json!({ "metadata": { "name": left, "annotations": annotations }, "spec": spec }),
        )
        .await;
    applied(&stage, &seen, spec).await;
    let apply = stage.applies().get(&left).await.unwrap();
    assert!(apply.status.is_none());
    assert!(apply.finalizers().is_empty());
}

#[tokio::test]
async fn the_finalizer_of_the_earlier_implementation_is_taken_away_too() {
    let mut stage = Stage::without_manager().await;
    let name = stage.unique("x");
    let metadata = json!({ "name": name, "finalizers": [finalizer::LEGACY] });
    stage
        .put::<WorkspaceTemplateApply>(
            json!({ "metadata": metadata, "spec": { "templateRef": { "name": "t" } } }),
        )
        .await;
    stage.applies().delete(&name, &DeleteParams::default()).await.unwrap();
    stage.start_manager().await;
    gone(&stage, &name).await;
}
