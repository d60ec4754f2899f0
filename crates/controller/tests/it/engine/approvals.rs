//! Plans that are not applied before somebody approves them.

use capt_api::Workspace;
use capt_api::names::annotation;
use capt_terraform::{Operation, PlanHash};
use capt_testkit::eventually;
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::json;

use super::stage::{EngineStage, find, output};
use crate::stage::var;

const DISK: &str = r#"
variable "size" {}
variable "password" { sensitive = true }
resource "terraform_data" "disk" {
  triggers_replace = var.size
  input            = var.password
}
output "size" { value = terraform_data.disk.triggers_replace }
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_replaces_what_is_protected_is_applied_when_just_this_plan_is_approved() {
    let mut stage = EngineStage::without_manager().await;
    let engine = stage.start_recorded().await;
    stage.stage.put_secret("login", &[("password", "hush-hush")]).await;
    let spec = json!({ "forProvider": { "module": DISK } });
    let login = json!({ "variable": "password", "secretKeyRef": { "name": "login", "key": "password" } });
    let apply = json!({
        "variables": { "size": "10" },
        "variablesFrom": [login],
        "protectedResources": ["terraform_data.disk"],
    });
    let name = stage.put_spec("disk", spec, apply).await;
    stage.ready(&name).await;
    engine.take();
    stage.change_variables("disk", json!({ "size": "20" })).await;

    let plan = stage.pending(&name, "it destroys or replaces terraform_data.disk").await;
    let (namespace, map) = plan.config_map.as_deref().unwrap().split_once('/').unwrap();
    assert_eq!(namespace, stage.namespace());
    let shown = stage.stage.api::<ConfigMap>().get(map).await.unwrap().data.unwrap();
    assert_eq!(shown["hash"], plan.hash);
    assert!(shown["plan"].contains("replace terraform_data.disk"), "{}", shown["plan"]);
    assert!(shown["plan"].contains("triggers_replace: \"10\" -> \"20\""), "{}", shown["plan"]);
    assert!(!shown["plan"].contains("hush"), "{}", shown["plan"]);

    stage.annotate(&name, annotation::APPROVE_PLAN, &"0123456789abcdef".repeat(4)).await;
    let workspace = stage.check(&name, "again").await;
    assert_eq!(find(&workspace, "ApprovalRequired").unwrap().status, "True");
    assert_eq!(output(&workspace, "size"), Some(&json!("10")));
    assert_eq!(engine.take(), [Operation::Plan, Operation::Plan]);

    stage.annotate(&name, annotation::APPROVE_PLAN, &plan.hash[..16]).await;
    stage.output(&name, "size", json!("20")).await;
    let workspace = stage.ready(&name).await;
    assert_eq!(find(&workspace, "ApprovalRequired").unwrap().status, "False");
    assert_eq!(engine.take(), [Operation::Apply { plan: PlanHash::from_text(plan.hash) }]);
    let maps = stage.stage.api::<ConfigMap>();
    eventually("the plan to go", async || maps.get_opt(map).await.unwrap().is_none()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_needs_no_approval_however_much_is_protected() {
    let stage = EngineStage::set().await;
    let spec = json!({ "forProvider": { "module": DISK } });
    let apply = json!({ "variables": { "size": "10", "password": "hush" }, "protectedResources": ["*"] });
    let name = stage.put_spec("disk", spec, apply).await;
    stage.ready(&name).await;
    stage.delete_apply("disk").await;
    stage.gone(&name).await;
}

const GREETING: &str = r#"
variable "greeting" {}
resource "terraform_data" "one" { input = var.greeting }
output "said" { value = terraform_data.one.output }
"#;

/// A Workspace whose state is there and of which nothing is on record: somebody else made it.
async fn foreign(stage: &mut EngineStage) -> String {
    stage.start_manager().await;
    let name = stage.put("demo", GREETING, json!({ "greeting": "hello" })).await;
    stage.ready(&name).await;
    stage.stop_manager().await;
    stage.wipe(&format!("capt-record-{name}")).await;
    name
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_else_made_is_taken_over_at_once_when_nothing_would_change() {
    let mut stage = EngineStage::without_manager().await;
    let name = foreign(&mut stage).await;
    let engine = stage.start_recorded().await;
    eventually("a record", async || stage.secret(&format!("capt-record-{name}")).await.is_some()).await;
    stage.ready(&name).await;
    assert_eq!(engine.take(), [Operation::Plan, Operation::Outputs]);

    stage.change_variables("demo", json!({ "greeting": "goodbye" })).await;
    stage.output(&name, "said", json!("goodbye")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_else_made_is_changed_only_when_the_plan_is_approved() {
    let mut stage = EngineStage::without_manager().await;
    let name = foreign(&mut stage).await;
    stage.stage.start_manager().await;
    stage.change_variables("demo", json!({ "greeting": "goodbye" })).await;
    let carried = |workspace: &Workspace| var(workspace, "greeting") == Some("goodbye");
    stage.stage.workspace(&name, "the change to be carried over", carried).await;
    stage.stage.stop_manager().await;
    let engine = stage.start_recorded().await;
    let plan = stage.pending(&name, "somebody else made what it would change").await;
    assert_eq!(output(&stage.stage.workspaces().get(&name).await.unwrap(), "said"), Some(&json!("hello")));
    assert_eq!(engine.operations(), [Operation::Plan]);

    stage.annotate(&name, annotation::APPROVE_PLAN, &plan.hash).await;
    stage.output(&name, "said", json!("goodbye")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_else_made_is_destroyed_only_when_the_plan_is_approved() {
    let mut stage = EngineStage::without_manager().await;
    let name = foreign(&mut stage).await;
    stage.delete_apply("demo").await;
    stage.start_manager().await;
    let plan = stage.pending(&name, "somebody else made what it would destroy").await;
    assert!(stage.state(&name).await.is_some());

    stage.annotate(&name, annotation::APPROVE_PLAN, &plan.hash).await;
    stage.gone(&name).await;
    assert!(stage.state(&name).await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_underneath_an_apply_that_asks_for_approval_waits_for_it() {
    let stage = EngineStage::set().await;
    stage.stage.put_config_map("values", &[("tfvars", "greeting = \"hello\"")]).await;
    let reference = json!({ "namespace": stage.namespace(), "name": "values", "key": "tfvars" });
    let spec = json!({ "forProvider": {
        "module": GREETING,
        "varFiles": [{ "source": "ConfigMapKey", "configMapKeyRef": reference }],
    } });
    let name = stage.put_spec("demo", spec, json!({ "updatePolicy": "Approve" })).await;
    stage.output(&name, "said", json!("hello")).await;
    stage.stage.put_config_map("values", &[("tfvars", "greeting = \"goodbye\"")]).await;

    let plan = stage.pending(&name, "what goes into the module has changed").await;
    let patch = json!({ "metadata": { "annotations": { annotation::APPROVE_PLAN: &plan.hash[..16] } } });
    stage.change_apply("demo", patch).await;
    stage.output(&name, "said", json!("goodbye")).await;
}
