//! What people ask of Workspaces by hand: plans that are only shown, earlier states, logs of runs.

use capt_api::engine_status::PlanStatus;
use capt_api::names::annotation;
use capt_api::{Workspace, WorkspaceTemplateApply};
use capt_controller::by_hand::{Answer, Seen, StateOf};
use capt_core::workspace::run_log::RunLog;
use capt_terraform::{Action, Operation};
use capt_testkit::eventually;
use serde_json::{Value, json};

use super::stage::{EngineStage, find, output};
use crate::stage::cluster;

pub(super) const MODULE: &str = r#"
variable "greeting" {}
variable "more" {
  type    = list(string)
  default = []
}
resource "terraform_data" "one" { input = var.greeting }
resource "terraform_data" "more" {
  for_each = toset(var.more)
  input    = each.key
}
output "said" { value = terraform_data.one.output }
"#;

pub(super) async fn state_of(stage: &EngineStage, name: &str) -> StateOf {
    let workspace = stage.stage.workspaces().get(name).await.unwrap();
    let apply: WorkspaceTemplateApply = stage.stage.applies().get(&format!("{name}-apply")).await.unwrap();
    StateOf::new(&cluster().await.client(), &workspace, &apply)
}

/// Asks for a plan and waits for the answer.
async fn plan(stage: &EngineStage, name: &str, request: &str) -> Answer {
    stage.annotate(name, annotation::PLAN_REQUESTED_AT, request).await;
    let kept = state_of(stage, name).await;
    eventually("an answer", async || {
        kept.preview().await.unwrap().is_some_and(|answer| answer.request == request)
    })
    .await;
    kept.preview().await.unwrap().unwrap()
}

pub(super) fn changes(answer: &Answer) -> Vec<(String, Action)> {
    let shown = answer.result.as_ref().unwrap();
    let plan = shown.plan.as_ref().unwrap();
    plan.changes.iter().map(|change| (change.address.clone(), change.action)).collect()
}

/// What the Workspace tells, without the times.
pub(super) fn told(workspace: &Workspace) -> Value {
    let status = workspace.status.clone().unwrap();
    json!([status.conditions, status.engine.unwrap().plan])
}

/// A Workspace with a plan that waits for approval.
pub(super) async fn that_waits(stage: &EngineStage) -> (String, PlanStatus) {
    let spec = json!({ "forProvider": { "module": MODULE } });
    let apply =
        json!({ "variables": { "greeting": "hello", "more": "[\"a\",\"b\"]" }, "protectedResources": ["*"] });
    let name = stage.put_spec("demo", spec, apply).await;
    stage.ready(&name).await;
    stage.change_variables("demo", json!({ "greeting": "hello", "more": "[\"b\"]" })).await;
    let pending = stage.pending(&name, "it destroys or replaces").await;
    (name, pending)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_is_asked_for_is_shown_and_nothing_follows_from_it() {
    let mut stage = EngineStage::without_manager().await;
    let engine = stage.start_recorded().await;
    let name = stage.put("demo", MODULE, json!({ "greeting": "hello" })).await;
    stage.ready(&name).await;
    engine.take();

    let answer = plan(&stage, &name, "first").await;
    assert_eq!(changes(&answer), []);
    assert_eq!(engine.take(), [Operation::Plan]);

    // The same request is answered once, also by another manager.
    stage.stop_manager().await;
    let engine = stage.start_recorded().await;
    stage.check(&name, "look").await;
    assert_eq!(engine.take(), [Operation::Plan], "only the look that was asked for now");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_waits_for_approval_goes_on_waiting_while_another_is_shown() {
    let mut stage = EngineStage::without_manager().await;
    let engine = stage.start_recorded().await;
    let (name, pending) = that_waits(&stage).await;
    let before = stage.stage.workspaces().get(&name).await.unwrap();
    engine.take();

    let answer = plan(&stage, &name, "first").await;

    assert_eq!(changes(&answer), [("terraform_data.more[\"a\"]".to_owned(), Action::Delete)]);
    assert_eq!(answer.result.unwrap().hash, pending.hash, "the same plan");
    assert_eq!(engine.take(), [Operation::Plan]);
    let after = stage.stage.workspaces().get(&name).await.unwrap();
    assert_eq!(told(&after), told(&before));
    assert_eq!(state_of(&stage, &name).await.shown_plan().await.unwrap().unwrap().hash, pending.hash);

    stage.annotate(&name, annotation::APPROVE_PLAN, &pending.hash).await;
    let workspace = stage.ready(&name).await;
    assert_eq!(find(&workspace, "ApprovalRequired").unwrap().status, "False");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_no_plan_can_be_made_it_is_said_why() {
    let stage = EngineStage::set().await;
    let name = stage.put("demo", MODULE, json!({ "greeting": "hello" })).await;
    stage.ready(&name).await;
    stage.annotate(&name, annotation::DRIFT_POLICY, "Sometimes").await;

    let answer = plan(&stage, &name, "first").await;
    let why = answer.result.unwrap_err();
    assert!(why.contains("`Sometimes` is not understood"), "{why}");

    stage.annotate(&name, annotation::DRIFT_POLICY, "Report").await;
    stage.stage.put_template("demo", "resource \"terraform_data\" \"one\" { input = nobody.knows }").await;
    stage.condition(&name, "Synced", "False", "nobody").await;
    let why = plan(&stage, &name, "second").await.result.unwrap_err();
    assert!(why.contains("nobody"), "{why}");
}

/// A Workspace that was changed since the copy of its state was made, with the state of before put back.
#[expect(clippy::panic, reason = "a fixture that fails fails its test")]
async fn put_back(stage: &mut EngineStage) -> String {
    stage.start_recorded().await;
    let name = stage.put("demo", MODULE, json!({ "greeting": "hello", "more": "[\"a\"]" })).await;
    stage.ready(&name).await;
    stage.change_variables("demo", json!({ "greeting": "goodbye", "more": null })).await;
    stage.output(&name, "said", json!("goodbye")).await;
    stage.ready(&name).await;
    let kept = state_of(stage, &name).await;
    let snapshots = kept.snapshots().await.unwrap();
    let text = kept.snapshot(&snapshots[0]).await.unwrap().unwrap();
    let Seen::Whole(now) = kept.read().await.unwrap() else { panic!("no state") };
    let serial = capt_core::terraform_state::inspect(now.text()).unwrap().serial;
    let text = capt_core::terraform_state::renumbered(text.expose(), serial + 1).unwrap();
    kept.put_back(&now, text, &snapshots[0]).await.unwrap();
    name
}

#[tokio::test(flavor = "multi_thread")]
async fn after_an_earlier_state_was_put_back_nothing_is_destroyed_before_somebody_approves_it() {
    let mut stage = EngineStage::without_manager().await;
    let name = put_back(&mut stage).await;

    let pending = stage.pending(&name, "its state comes from a copy").await;
    assert!(pending.summary.ends_with("1 to destroy"), "{}", pending.summary);
    // A new manager knows it too.
    stage.stop_manager().await;
    let engine = stage.start_recorded().await;
    let again = stage.pending(&name, "its state comes from a copy").await;
    assert_eq!(again.hash, pending.hash);
    assert!(engine.take().iter().all(|operation| *operation == Operation::Plan));

    stage.annotate(&name, annotation::APPROVE_PLAN, &again.hash).await;
    let workspace = stage.ready(&name).await;
    assert_eq!(output(&workspace, "said"), Some(&json!("goodbye")));
    eventually("the mark to go", async || {
        let secret = stage.state(&name).await.unwrap();
        !secret.metadata.annotations.unwrap_or_default().contains_key(annotation::RESTORED_AT)
    })
    .await;
    stage.check(&name, "afterwards").await;
    stage.ready(&name).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_state_that_is_as_good_as_the_one_before_it_needs_nobody() {
    let mut stage = EngineStage::without_manager().await;
    let engine = stage.start_recorded().await;
    let name = stage.put("demo", MODULE, json!({ "greeting": "hello" })).await;
    stage.ready(&name).await;
    engine.take();
    let kept = state_of(&stage, &name).await;
    let Seen::Whole(now) = kept.read().await.unwrap() else { panic!("no state") };
    let text = capt_core::terraform_state::renumbered(now.text(), 50).unwrap();
    stage.wipe(&format!("tfstate-{name}-capt")).await;
    stage.condition(&name, "Synced", "False", "the state that was there is missing").await;
    kept.make_again(text).await.unwrap();

    eventually("the mark to go", async || {
        let secret = stage.state(&name).await.unwrap();
        !secret.metadata.annotations.unwrap_or_default().contains_key(annotation::RESTORED_AT)
    })
    .await;
    stage.ready(&name).await;
    assert!(engine.take().iter().all(|operation| *operation == Operation::Plan));
}

async fn logs(stage: &EngineStage, name: &str) -> Vec<RunLog> {
    state_of(stage, name).await.run_logs().await.unwrap().into_iter().map(|(_, log)| log).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_logs_of_runs_are_kept_without_secrets_those_that_failed_among_them() {
    let stage = EngineStage::set().await;
    stage.stage.put_secret("login", &[("password", "hush-hush-hush")]).await;
    let login = json!({ "variable": "greeting", "secretKeyRef": { "name": "login", "key": "password" } });
    let module = MODULE.replace("output \"said\" { value = terraform_data.one.output }", "")
        + "resource \"terraform_data\" \"told\" {\n  provisioner \"local-exec\" { command = \"echo it is ${var.greeting}\" }\n}\n";
    let spec = json!({ "forProvider": { "module": module } });
    let name = stage.put_spec("demo", spec, json!({ "variablesFrom": [login] })).await;
    stage.ready(&name).await;

    let kept = logs(&stage, &name).await;
    let words: Vec<String> = kept.iter().map(|log| format!("{:?} {}", log.operation, log.result)).collect();
    assert_eq!(words, ["Plan 2 to add, 0 to change, 0 to replace, 0 to destroy", "Apply applied"]);
    let printed = kept[1].lines.join("\n");
    assert!(printed.contains("terraform_data.told: Creation complete"), "{printed}");
    assert!(printed.contains("it is (sensitive value)") && !printed.contains("hush"), "{printed}");

    stage.stage.put_template("demo", "resource \"terraform_data\" \"one\" { input = nobody.knows }").await;
    stage.condition(&name, "Synced", "False", "nobody").await;
    eventually("the log of what failed", async || {
        logs(&stage, &name).await.iter().any(|log| !log.succeeded && log.lines.join("\n").contains("nobody"))
    })
    .await;
}
