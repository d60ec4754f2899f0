//! What differs from what was applied, although nobody changed what goes in.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use capt_api::names::annotation;
use capt_terraform::Operation;
use capt_testkit::watch_until;
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::json;

use super::modules::following;
use super::recording::Recording;
use super::stage::{EngineStage, find, output};

/// A Workspace that is what the file `real` says, with this policy.
async fn put(stage: &EngineStage, policy: Option<&str>) -> String {
    fs::write(stage.file("real"), "as made").unwrap();
    let spec = json!({ "forProvider": { "module": following(&stage.file("real")) } });
    // Nothing but the time brings up a Workspace that writes its outputs nowhere.
    let apply = json!({ "driftPolicy": policy, "writeConnectionSecretToRef": null });
    let name = stage.put_spec("real", spec, apply).await;
    stage.ready(&name).await;
    name
}

#[tokio::test(flavor = "multi_thread")]
async fn a_requested_check_comes_at_once_and_corrects_drift() {
    let mut stage = EngineStage::without_manager().await;
    let engine = stage.start_recorded().await;
    let name = put(&stage, None).await;
    engine.take();
    stage.check(&name, "2026-01-01T00:00:00Z").await;
    assert_eq!(engine.take(), [Operation::Plan]);

    fs::write(stage.file("real"), "drifted").unwrap();
    stage.check(&name, "2026-01-02T00:00:00Z").await;
    watch_until("the drift to be corrected", &stage.stage.workspaces(), &name, |workspace| {
        output(workspace, "real") == Some(&json!("drifted"))
    })
    .await;
    assert!(matches!(engine.take()[..], [Operation::Plan, Operation::Apply { .. }]));
}

#[tokio::test(flavor = "multi_thread")]
async fn drift_that_is_only_to_be_reported_is_shown_and_left_alone() {
    let stage = EngineStage::set().await;
    let name = put(&stage, Some("Report")).await;
    fs::write(stage.file("real"), "drifted").unwrap();
    stage.check(&name, "1").await;
    let workspace = stage.condition(&name, "Drifted", "True", "0 to add, 1 to change").await;
    assert_eq!(output(&workspace, "real"), Some(&json!("as made")));
    assert_eq!(find(&workspace, "Ready").unwrap().status, "True");
    let plan = workspace.status.unwrap().engine.unwrap().plan.unwrap();
    let map = plan.config_map.unwrap();
    let shown = stage.stage.api::<ConfigMap>().get(map.split_once('/').unwrap().1).await.unwrap();
    assert!(shown.data.unwrap()["plan"].contains("update terraform_data.real"));

    fs::write(stage.file("real"), "as made").unwrap();
    stage.check(&name, "2").await;
    let workspace = stage.condition(&name, "Drifted", "False", "").await;
    assert!(workspace.status.unwrap().engine.unwrap().plan.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn drift_that_is_to_be_ignored_is_neither_looked_for_nor_corrected() {
    let stage = EngineStage::set().await;
    let name = put(&stage, Some("Ignore")).await;
    fs::write(stage.file("real"), "drifted").unwrap();
    let workspace = stage.check(&name, "1").await;
    assert_eq!(output(&workspace, "real"), Some(&json!("as made")));
    assert_eq!(workspace.status.unwrap().engine.unwrap().next_check_time, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn reality_is_compared_by_itself_now_and_then() {
    let mut stage = EngineStage::without_manager().await;
    let engine = Arc::new(Recording::new(stage.process_engine().await));
    stage.start_manager_with(engine, |options| options.drift_interval = Duration::from_secs(2)).await;
    let name = put(&stage, None).await;
    for reality in ["drifted once", "drifted"] {
        fs::write(stage.file("real"), reality).unwrap();
        stage.output(&name, "real", json!(reality)).await;
    }

    // The Workspace itself may say otherwise.
    stage.annotate(&name, annotation::DRIFT_POLICY, "Report").await;
    fs::write(stage.file("real"), "drifted again").unwrap();
    let workspace = stage.condition(&name, "Drifted", "True", "1 to change").await;
    assert_eq!(output(&workspace, "real"), Some(&json!("drifted")));

    // What is told goes on being compared.
    fs::write(stage.file("real"), "drifted").unwrap();
    stage.condition(&name, "Drifted", "False", "").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_runs_when_nothing_changed_whoever_touches_the_workspace_or_restarts_the_manager() {
    let mut stage = EngineStage::without_manager().await;
    stage.start_manager().await;
    let name = put(&stage, None).await;
    stage.stop_manager().await;

    // In another directory, as in a new pod.
    let earlier = std::mem::replace(&mut stage.directory, tempfile::tempdir().unwrap());
    let engine = stage.start_recorded().await;
    let touch = json!({ "metadata": { "labels": { "example.com/touched": "yes" } } });
    let parameters = kube::api::PatchParams::default();
    stage.stage.workspaces().patch(&name, &parameters, &kube::api::Patch::Merge(touch)).await.unwrap();
    stage.change_apply("real", json!({ "metadata": { "labels": { "example.com/touched": "yes" } } })).await;
    // Whatever the restart or the touch had started would be there before this.
    stage.check(&name, "1").await;
    assert_eq!(engine.operations(), [Operation::Plan]);
    drop(earlier);
}
