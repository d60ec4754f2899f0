//! Locks that somebody else holds.

use capt_api::names::annotation;
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::DeleteParams;
use rstest::rstest;
use serde_json::json;

use super::stage::{EngineStage, find, output};

const MODULE: &str = r#"
variable "greeting" {}
resource "terraform_data" "one" { input = var.greeting }
output "said" { value = terraform_data.one.output }
"#;

const ID: &str = "8d1c7a9e-0000-4000-8000-000000000001";

fn lease(workspace: &str) -> String {
    format!("lock-tfstate-{workspace}-capt")
}

/// Takes the lock as a Terraform on another machine does.
async fn lock(stage: &EngineStage, workspace: &str) {
    let info = json!({
        "ID": ID, "Operation": "OperationTypeApply", "Who": "somebody@elsewhere", "Version": "1.11.4",
        "Created": "2026-01-02T03:04:05.678Z", "Info": "", "Path": "",
    });
    let annotations = json!({ "app.terraform.io/lock-info": info.to_string() });
    stage
        .stage
        .put::<Lease>(json!({
            "metadata": { "name": lease(workspace), "annotations": annotations },
            "spec": { "holderIdentity": ID },
        }))
        .await;
}

/// A Workspace that cannot follow its variables, since its state is locked.
async fn locked(stage: &mut EngineStage) -> String {
    stage.start_recorded().await;
    let name = stage.put("demo", MODULE, json!({ "greeting": "hello" })).await;
    stage.ready(&name).await;
    lock(stage, &name).await;
    stage.change_variables("demo", json!({ "greeting": "goodbye" })).await;
    let workspace = stage.condition(&name, "Locked", "True", "somebody@elsewhere").await;
    let told = find(&workspace, "Locked").unwrap().message.as_deref().unwrap();
    assert!(told.contains("2026-01-02T03:04:05.678Z"), "{told}");
    assert!(told.contains(&format!("{}={ID}", annotation::FORCE_UNLOCK)), "{told}");
    assert_eq!(find(&workspace, "Synced").unwrap().status, "False");
    assert_eq!(find(&workspace, "Ready").unwrap().status, "True");
    name
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_is_told_and_waited_for_until_its_holder_lets_go() {
    let mut stage = EngineStage::without_manager().await;
    let name = locked(&mut stage).await;
    stage.stage.api::<Lease>().delete(&lease(&name), &DeleteParams::default()).await.unwrap();
    stage.annotate(&name, annotation::RECONCILE_REQUESTED_AT, "now").await;
    stage.output(&name, "said", json!("goodbye")).await;
    let workspace = stage.ready(&name).await;
    assert_eq!(find(&workspace, "Locked").unwrap().status, "False");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_is_forced_only_by_its_own_name() {
    let mut stage = EngineStage::without_manager().await;
    let name = locked(&mut stage).await;
    stage.annotate(&name, annotation::FORCE_UNLOCK, "8d1c7a9e-0000-4000-8000-000000000002").await;
    let workspace = stage.check(&name, "now").await;
    assert_eq!(output(&workspace, "said"), Some(&json!("hello")));
    let held = stage.stage.api::<Lease>().get(&lease(&name)).await.unwrap();
    assert_eq!(held.spec.unwrap().holder_identity.as_deref(), Some(ID));

    stage.annotate(&name, annotation::FORCE_UNLOCK, ID).await;
    stage.output(&name, "said", json!("goodbye")).await;
    let workspace = stage.ready(&name).await;
    assert_eq!(find(&workspace, "Locked").unwrap().status, "False");
}

#[rstest]
#[case::before_the_first_apply(false)]
#[case::before_the_destroy(true)]
#[tokio::test(flavor = "multi_thread")]
async fn a_lock_is_told_whatever_it_is_in_the_way_of(#[case] deleting: bool) {
    let mut stage = EngineStage::without_manager().await;
    stage.start_recorded().await;
    let name = stage.stage.unique("demo");
    if !deleting {
        lock(&stage, &name).await;
    }
    stage.put("demo", MODULE, json!({ "greeting": "hello" })).await;
    if deleting {
        stage.ready(&name).await;
        lock(&stage, &name).await;
        stage.delete_apply("demo").await;
    }
    stage.condition(&name, "Locked", "True", "somebody@elsewhere").await;
    stage.annotate(&name, annotation::FORCE_UNLOCK, ID).await;
    if deleting {
        stage.gone(&name).await;
    } else {
        stage.output(&name, "said", json!("hello")).await;
    }
}
