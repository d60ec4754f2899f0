//! The way down: whatever is missing or in the way, what was made is destroyed, and nothing else is.

use std::path::Path;

use capt_api::WorkspaceTemplate;
use capt_testkit::eventually;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::{Api, ResourceExt};
use rstest::rstest;
use serde_json::{Value, json};

use super::modules::{COUNT, lines, slow, touching, unique_lines};
use super::stage::EngineStage;
use crate::stage::cluster;

/// Puts a Workspace that makes the file `real`, with more in its spec.
async fn put(stage: &EngineStage, more: Value) -> String {
    let mut spec = json!({ "forProvider": { "module": touching(&stage.file("real")) } });
    if let (Some(spec), Value::Object(more)) = (spec.as_object_mut(), more) {
        spec.extend(more);
    }
    stage.put_spec("real", spec, json!({})).await
}

async fn delete_namespace(stage: &EngineStage) {
    let namespaces: Api<Namespace> = Api::all(stage.stage.client.clone());
    namespaces.delete(stage.namespace(), &DeleteParams::default()).await.unwrap();
}

async fn namespace_gone(stage: &EngineStage) {
    let namespaces: Api<Namespace> = Api::all(stage.stage.client.clone());
    eventually("the namespace to be gone", async || {
        match namespaces.get_opt(stage.namespace()).await.unwrap() {
            None => Ok(()),
            Some(namespace) => Err(format!("{:?}", namespace.status)),
        }
    })
    .await;
}

/// A manager whose own namespace is another one.
async fn start_elsewhere(stage: &mut EngineStage) {
    let home = cluster().await.namespace("home").await;
    let engine = stage.process_engine().await;
    stage.start_manager_with(engine, |options| options.home_namespace = home).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_that_is_deleted_as_a_whole_takes_along_what_was_made_in_it() {
    let mut stage = EngineStage::without_manager().await;
    start_elsewhere(&mut stage).await;
    let name = put(&stage, json!({})).await;
    stage.ready(&name).await;
    assert!(stage.file("real").exists());
    delete_namespace(&stage).await;
    namespace_gone(&stage).await;
    assert!(!stage.file("real").exists());
    stage.gone(&name).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_that_is_deleted_during_an_apply_takes_along_what_was_made_by_then() {
    let mut stage = EngineStage::without_manager().await;
    start_elsewhere(&mut stage).await;
    put_slow(&stage).await;
    delete_namespace(&stage).await;
    namespace_gone(&stage).await;
    assert_eq!(unique_lines(&stage.file("destroyed")), unique_lines(&stage.file("made")));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_in_the_namespace_of_the_last_workspace() {
    let stage = EngineStage::set().await;
    let name = put(&stage, json!({})).await;
    stage.ready(&name).await;
    let parameters = ListParams::default().labels("app.kubernetes.io/managed-by=capt");
    stage.delete_apply("real").await;
    stage.gone(&name).await;
    assert!(stage.stage.api::<Role>().list(&parameters).await.unwrap().items.is_empty());
    assert!(stage.stage.api::<RoleBinding>().list(&parameters).await.unwrap().items.is_empty());
    assert_eq!(stage.secrets().await, Vec::<String>::new());
}

const GREETING: &str = r#"
variable "greeting" {}
resource "terraform_data" "one" { input = var.greeting }
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_destroy_needs_none_of_its_sources() {
    let stage = EngineStage::set().await;
    stage.stage.put_secret("secret", &[("tfvars", "greeting = \"hello\"")]).await;
    stage.stage.put_config_map("map", &[("value", "x")]).await;
    let key = |name: &str, key: &str| json!({ "namespace": stage.namespace(), "name": name, "key": key });
    let spec = json!({ "forProvider": {
        "module": format!("{GREETING}{}", touching(&stage.file("real"))),
        "varFiles": [{ "source": "SecretKey", "secretKeyRef": key("secret", "tfvars") }],
        "env": [{ "name": "WHATEVER", "configMapKeyRef": key("map", "value") }],
    } });
    let name = stage.put_spec("real", spec, json!({})).await;
    stage.ready(&name).await;
    stage.stage.api::<Secret>().delete("secret", &DeleteParams::default()).await.unwrap();
    stage.stage.api::<ConfigMap>().delete("map", &DeleteParams::default()).await.unwrap();
    stage.condition(&name, "Synced", "False", "").await;
    stage.delete_apply("real").await;
    stage.gone(&name).await;
    assert!(!stage.file("real").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_destroy_falls_back_on_the_module_that_was_applied() {
    let stage = EngineStage::set().await;
    let name = put(&stage, json!({})).await;
    stage.ready(&name).await;
    let broken = "resource \"terraform_data\" \"file\" { input = local.nowhere }";
    let patch = json!({ "spec": { "template": { "spec": { "forProvider": { "module": broken } } } } });
    stage.stage.change::<WorkspaceTemplate>("real", patch).await;
    stage.condition(&name, "Synced", "False", "local").await;
    stage.delete_apply("real").await;
    stage.gone(&name).await;
    assert!(!stage.file("real").exists());
}

#[rstest]
#[case::by_deletion_policy(json!({ "deletionPolicy": "Orphan" }))]
#[case::by_management_policies(json!({ "managementPolicies": ["Observe", "Create", "Update"] }))]
#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_to_be_destroyed_stays_with_its_state(#[case] policy: Value) {
    let stage = EngineStage::set().await;
    let name = put(&stage, policy).await;
    stage.ready(&name).await;
    stage.delete_apply("real").await;
    stage.gone(&name).await;
    assert!(stage.file("real").exists());
    let state = stage.state(&name).await.unwrap();
    assert!(state.finalizers().is_empty(), "{:?}", state.metadata);
    assert!(state.owner_references().is_empty(), "{:?}", state.metadata);
    assert!(state.metadata.deletion_timestamp.is_none());
}

/// Puts a Workspace whose resources are made one after the other, and waits for the first one.
async fn put_slow(stage: &EngineStage) -> String {
    let made = stage.file("made");
    let module = slow(made.parent().unwrap_or(Path::new("/")));
    let spec = json!({ "forProvider": { "module": module, "applyArgs": ["-parallelism=1"] } });
    let name = stage.put_spec("slow", spec, json!({})).await;
    eventually("the first resource", async || !lines(&made).is_empty()).await;
    name
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_interrupts_an_apply_and_destroys_what_it_made() {
    let stage = EngineStage::set().await;
    let name = put_slow(&stage).await;
    stage.delete_apply("slow").await;
    stage.gone(&name).await;
    let made = unique_lines(&stage.file("made"));
    assert!(made.len() < COUNT, "the apply went on to its end");
    assert_eq!(unique_lines(&stage.file("destroyed")), made);
    assert_eq!(stage.secrets().await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_never_made_goes_without_a_process() {
    let mut stage = EngineStage::without_manager().await;
    let engine = stage.start_recorded().await;
    let reference = json!({ "namespace": stage.namespace(), "name": "absent", "key": "tfvars" });
    let spec = json!({ "forProvider": {
        "module": GREETING,
        "varFiles": [{ "source": "SecretKey", "secretKeyRef": reference }],
    } });
    let name = stage.put_spec("demo", spec, json!({})).await;
    stage.condition(&name, "Synced", "False", "absent").await;
    stage.delete_apply("demo").await;
    stage.gone(&name).await;
    assert_eq!(engine.operations(), []);
    assert_eq!(stage.secrets().await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn finalizers_of_others_are_waited_for_before_anything_is_destroyed() {
    const HOLD: &str = "example.com/hold";
    let stage = EngineStage::set().await;
    let name = put(&stage, json!({})).await;
    let mut finalizers = stage.ready(&name).await.finalizers().to_vec();
    finalizers.push(HOLD.to_owned());
    hold(&stage, &name, &finalizers).await;
    stage.delete_apply("real").await;
    stage.condition(&name, "Ready", "False", HOLD).await;
    assert!(stage.file("real").exists());

    finalizers.pop();
    hold(&stage, &name, &finalizers).await;
    stage.gone(&name).await;
    assert!(!stage.file("real").exists());
}

async fn hold(stage: &EngineStage, workspace: &str, finalizers: &[String]) {
    let patch = json!({ "metadata": { "finalizers": finalizers } });
    stage.stage.workspaces().patch(workspace, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_apply_whose_workspace_was_taken_away_is_not_finished_until_somebody_says_so() {
    let mut stage = EngineStage::without_manager().await;
    stage.start_manager().await;
    let name = put(&stage, json!({})).await;
    stage.ready(&name).await;
    stage.stop_manager().await;
    let workspaces = stage.stage.workspaces();
    let strip = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    workspaces.patch(&name, &PatchParams::default(), &strip).await.unwrap();
    workspaces.delete(&name, &DeleteParams::default()).await.unwrap();
    stage.delete_apply("real").await;

    stage.start_manager().await;
    let apply = format!("{}-apply", stage.stage.unique("real"));
    let tells = |apply: &capt_api::WorkspaceTemplateApply| {
        let told = apply.status.iter().flat_map(|status| &status.conditions);
        told.into_iter().any(|told| told.message.contains("retainWorkspaceOnDelete"))
    };
    capt_testkit::watch_until("the state to be told", &stage.stage.applies(), &apply, tells).await;
    assert!(stage.file("real").exists());

    stage.change_apply("real", json!({ "spec": { "retainWorkspaceOnDelete": true } })).await;
    eventually("the apply to be gone", async || {
        stage.stage.applies().get_opt(&apply).await.unwrap().is_none()
    })
    .await;
    assert!(stage.file("real").exists());
}
