//! Restarts, losses, and hands that work against us.

use capt_api::WorkspaceTemplate;
use capt_api::names::annotation;
use capt_terraform::Operation;
use capt_testkit::eventually;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Secret;
use kube::api::DeleteParams;
use serde_json::json;

use super::modules::{COUNT, lines, slow, touching, unique_lines};
use super::stage::{EngineStage, output};

#[tokio::test(flavor = "multi_thread")]
async fn an_apply_that_a_stopping_manager_interrupts_is_saved_and_finished_by_the_next() {
    let mut stage = EngineStage::without_manager().await;
    stage.start_manager().await;
    let made = stage.file("made");
    let module = slow(made.parent().unwrap());
    let spec = json!({ "forProvider": { "module": module, "applyArgs": ["-parallelism=1"] } });
    let name = stage.put_spec("slow", spec, json!({})).await;
    eventually("the first resource", async || !lines(&made).is_empty()).await;
    stage.stop_manager().await;
    let before = unique_lines(&made);
    assert!(before.len() < COUNT, "the apply went on to its end");
    assert!(stage.state(&name).await.unwrap().data.unwrap().contains_key("tfstate"));
    let lease = stage.stage.api::<Lease>().get(&format!("lock-tfstate-{name}-capt")).await.unwrap();
    assert_eq!(lease.spec.and_then(|spec| spec.holder_identity), None);

    stage.start_manager().await;
    stage.output(&name, "count", json!(COUNT)).await;
    assert_eq!(unique_lines(&made).len(), COUNT);
    assert_eq!(lines(&stage.file("destroyed")), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_state_is_told_and_nothing_is_made_twice_unless_the_user_accepts_it() {
    let mut stage = EngineStage::without_manager().await;
    let engine = stage.start_recorded().await;
    let made = stage.file("made");
    let module = slow(made.parent().unwrap());
    let name = stage.put("slow", &module, json!({})).await;
    stage.ready(&name).await;
    engine.take();
    stage.wipe(&format!("tfstate-{name}-capt")).await;
    stage.condition(&name, "Synced", "False", "the state that was there is missing").await;
    stage.change_apply("slow", json!({ "metadata": { "labels": { "example.com/touched": "yes" } } })).await;
    stage.annotate(&name, annotation::RECONCILE_REQUESTED_AT, "now").await;
    stage.annotate(&name, annotation::ACCEPT_MISSING_STATE, "no").await;

    stage.annotate(&name, annotation::ACCEPT_MISSING_STATE, "true").await;
    stage.ready(&name).await;
    assert_eq!(lines(&made).len(), 2 * COUNT);
    // Whatever the hurry had started would be there too.
    assert!(matches!(engine.take()[..], [Operation::Plan, Operation::Apply { .. }]));
    let accepted = async || {
        let workspace = stage.stage.workspaces().get(&name).await.unwrap();
        !workspace.metadata.annotations.unwrap().contains_key(annotation::ACCEPT_MISSING_STATE)
    };
    eventually("the acceptance to be used up", accepted).await;
}

const OUTPUTS: &str = r#"
resource "terraform_data" "one" { input = "hello" }
output "said" { value = terraform_data.one.output }
output "more" { value = "for now" }
"#;

const FEWER: &str = r#"
resource "terraform_data" "one" { input = "hello" }
output "said" { value = terraform_data.one.output }
"#;

/// Waits until the connection Secret holds exactly these keys, and `said` as it should be.
async fn published(stage: &EngineStage, keys: &[&str]) {
    eventually("the outputs in their Secret", async || match stage.secret("demo-connection").await {
        Some(data) if data.keys().eq(keys) && data["said"] == "hello" => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_secret_that_somebody_deletes_or_edits_is_restored() {
    let stage = EngineStage::set().await;
    let name = stage.put("demo", OUTPUTS, json!({})).await;
    stage.ready(&name).await;
    published(&stage, &["more", "said"]).await;

    stage.stage.api::<Secret>().delete("demo-connection", &DeleteParams::default()).await.unwrap();
    published(&stage, &["more", "said"]).await;
    let edit = json!({ "stringData": { "said": "lies", "extra": "mine" } });
    stage.stage.change::<Secret>("demo-connection", edit).await;
    published(&stage, &["more", "said"]).await;

    let patch = json!({ "spec": { "template": { "spec": { "forProvider": { "module": FEWER } } } } });
    stage.stage.change::<WorkspaceTemplate>("demo", patch).await;
    published(&stage, &["said"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_of_somebody_else_is_left_alone_and_used_once_it_is_out_of_the_way() {
    let stage = EngineStage::set().await;
    stage.stage.put_secret("demo-connection", &[("said", "mine")]).await;
    let name = stage.put("demo", OUTPUTS, json!({})).await;
    stage.condition(&name, "Synced", "False", "is needed for the outputs").await;
    assert_eq!(stage.secret("demo-connection").await.unwrap()["said"], "mine");
    stage.stage.api::<Secret>().delete("demo-connection", &DeleteParams::default()).await.unwrap();
    published(&stage, &["more", "said"]).await;
    stage.ready(&name).await;
}

const GREETING: &str = r#"
variable "greeting" {}
resource "terraform_data" "one" { input = var.greeting }
output "said" { value = terraform_data.one.output }
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_workspace_is_left_alone_until_it_goes_on() {
    let mut stage = EngineStage::without_manager().await;
    let engine = stage.start_recorded().await;
    let name = stage.put("demo", GREETING, json!({ "greeting": "hello" })).await;
    stage.ready(&name).await;
    engine.take();
    stage.annotate(&name, annotation::CROSSPLANE_PAUSED, "true").await;
    stage.condition(&name, "Synced", "False", "paused").await;
    stage.change_variables("demo", json!({ "greeting": "goodbye" })).await;
    stage.annotate(&name, annotation::RECONCILE_REQUESTED_AT, "now").await;
    stage
        .stage
        .workspace(&name, "the change to be carried over", |workspace| {
            workspace.metadata.generation > Some(1)
        })
        .await;

    stage.annotate(&name, annotation::CROSSPLANE_PAUSED, "false").await;
    stage.output(&name, "said", json!("goodbye")).await;
    assert!(matches!(engine.take()[..], [Operation::Plan, Operation::Apply { .. }]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_whose_apply_or_cluster_is_paused_is_frozen() {
    let mut stage = EngineStage::without_manager().await;
    let engine = stage.start_recorded().await;
    stage
        .stage
        .put::<capt_api::Cluster>(json!({ "metadata": { "name": "demo" }, "spec": { "paused": false } }))
        .await;
    let name = stage.put("demo", GREETING, json!({ "greeting": "hello" })).await;
    let labels = json!({ capt_api::names::label::CLUSTER_NAME: "demo" });
    stage.change_apply("demo", json!({ "metadata": { "labels": labels } })).await;
    stage.ready(&name).await;
    engine.take();

    stage.stage.change::<capt_api::Cluster>("demo", json!({ "spec": { "paused": true } })).await;
    stage.condition(&name, "Synced", "False", "is paused").await;
    stage.annotate(&name, annotation::RECONCILE_REQUESTED_AT, "1").await;
    stage.change_apply("demo", json!({ "metadata": { "annotations": { annotation::PAUSED: "" } } })).await;
    stage.stage.change::<capt_api::Cluster>("demo", json!({ "spec": { "paused": false } })).await;
    stage.annotate(&name, annotation::RECONCILE_REQUESTED_AT, "2").await;
    let workspace = stage.condition(&name, "Synced", "False", "is paused").await;
    assert_eq!(output(&workspace, "said"), Some(&json!("hello")));

    stage.change_apply("demo", json!({ "metadata": { "annotations": { annotation::PAUSED: null } } })).await;
    stage.ready(&name).await;
    assert_eq!(engine.take(), [Operation::Plan]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_whose_apply_was_forced_away_is_frozen_and_let_go_without_a_destroy() {
    let mut stage = EngineStage::without_manager().await;
    stage.start_manager().await;
    let name = stage.put("real", &touching(&stage.file("real")), json!({})).await;
    stage.ready(&name).await;
    stage.stop_manager().await;
    stage.delete_apply("real").await;
    stage.change_apply("real", json!({ "metadata": { "finalizers": null } })).await;

    let engine = stage.start_recorded().await;
    stage.condition(&name, "Synced", "False", "is gone").await;
    stage.stage.workspaces().delete(&name, &DeleteParams::default()).await.unwrap();
    stage.gone(&name).await;
    assert_eq!(engine.operations(), []);
    assert!(stage.file("real").exists());
}
