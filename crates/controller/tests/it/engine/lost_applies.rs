//! The apply of a network that is lost, with its state or after a destroy.

use capt_api::names::{annotation, label};
use capt_api::{CAPTCluster, WorkspaceTemplateApply};
use capt_terraform::Operation;
use capt_testkit::{eventually, watch_until};
use kube::ResourceExt;
use kube::api::DeleteParams;
use serde_json::{Value, json};

use super::modules::touching;
use super::moves::Luggage;
use super::stage::EngineStage;

/// A network that makes a file, and the name of its apply and its Workspace.
pub(super) async fn put_network(stage: &EngineStage) -> String {
    stage.stage.put_template("vpc", &touching(&stage.file("real"))).await;
    let cluster = stage.stage.unique("demo");
    let metadata = json!({ "name": "net", "labels": { label::CLUSTER_NAME: cluster } });
    let spec = json!({ "region": "r", "vpcTemplateRef": { "name": "vpc" } });
    stage.stage.put::<CAPTCluster>(json!({ "metadata": metadata, "spec": spec })).await;
    format!("{cluster}-vpc")
}

pub(super) async fn annotate(stage: &EngineStage, annotations: Value) {
    stage.stage.change::<CAPTCluster>("net", json!({ "metadata": { "annotations": annotations } })).await;
}

/// Waits until the network remembers where the state is, or whose it is, or that there is none.
pub(super) async fn remembers(stage: &EngineStage, expected: Option<&str>) {
    let what = format!("the network to remember {expected:?}");
    watch_until(&what, &stage.stage.api::<CAPTCluster>(), "net", |network: &CAPTCluster| {
        let uid = network.uid().unwrap_or_default();
        let expected = expected.map(|state| format!("{uid}/{state}"));
        network.annotations().get(annotation::OWNED_STATE) == expected.as_ref()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_apply_that_is_lost_with_its_state_is_made_again_and_misses_it() {
    let mut stage = EngineStage::without_manager().await;
    let engine = stage.start_recorded().await;
    let name = put_network(&stage).await;
    stage.ready(&name).await;
    let kept = format!("{}/tfstate-{name}-capt", stage.namespace());
    remembers(&stage, Some(&kept)).await;
    engine.take();

    // clusterctl ends after it has deleted the apply and what it owns, and before it deletes the network.
    annotate(&stage, json!({ annotation::PAUSED: "" })).await;
    Luggage::of_apply(&stage, &name).await.leave(&stage).await;
    stage.gone(&name).await;
    annotate(&stage, json!({ annotation::PAUSED: null })).await;

    stage.condition(&name, "Synced", "False", "the state that was there is missing").await;
    let apply = stage.stage.applies().get(&name).await.unwrap();
    assert_eq!(apply.annotations()[annotation::STATE], kept);
    assert_eq!(engine.take(), []);

    // What the network wants later does not take the note away.
    let change = json!({ "spec": { "vpcConfig": { "name": "another" } } });
    stage.stage.change::<CAPTCluster>("net", change).await;
    let applies = stage.stage.applies();
    let apply = watch_until("the apply to be changed", &applies, &name, |apply: &WorkspaceTemplateApply| {
        apply.spec.variables.get("name").is_some_and(|name| name == "another")
    })
    .await;
    assert_eq!(apply.annotations()[annotation::STATE], kept);
    assert_eq!(engine.take(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_apply_that_is_deleted_is_destroyed_and_made_anew() {
    let mut stage = EngineStage::without_manager().await;
    let engine = stage.start_recorded().await;
    let name = put_network(&stage).await;
    let first = stage.ready(&name).await;
    let kept = format!("{}/tfstate-{name}-capt", stage.namespace());
    remembers(&stage, Some(&kept)).await;
    engine.take();

    stage.stage.applies().delete(&name, &DeleteParams::default()).await.unwrap();
    eventually("another Workspace", async || {
        let found = stage.stage.workspaces().get_metadata_opt(&name).await.unwrap();
        found.is_some_and(|found| found.metadata.uid != first.metadata.uid)
    })
    .await;
    stage.ready(&name).await;
    remembers(&stage, Some(&kept)).await;
    let calls = engine.take();
    let applied = calls.iter().filter(|call| matches!(call, Operation::Apply { .. })).count();
    assert!(calls.contains(&Operation::PlanDestroy) && applied == 2, "{calls:?}");
    assert!(stage.file("real").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_remembered_of_another_network_does_not_count_for_its_copy() {
    let mut stage = EngineStage::without_manager().await;
    stage.stage.put_template("vpc", &touching(&stage.file("real"))).await;
    let cluster = stage.stage.unique("demo");
    let metadata = json!({
        "name": "net",
        "labels": { label::CLUSTER_NAME: cluster },
        "annotations": { annotation::OWNED_STATE: "another/somewhere/tfstate-x-capt" },
    });
    let spec = json!({ "region": "r", "vpcTemplateRef": { "name": "vpc" } });
    stage.stage.put::<CAPTCluster>(json!({ "metadata": metadata, "spec": spec })).await;
    stage.start_manager().await;
    let name = format!("{cluster}-vpc");
    stage.ready(&name).await;
    remembers(&stage, Some(&format!("{}/tfstate-{name}-capt", stage.namespace()))).await;
}
