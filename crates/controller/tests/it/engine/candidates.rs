//! Plans of content that nobody has applied yet.

use capt_api::crossplane::ForProvider;
use capt_api::names::annotation;
use capt_controller::by_hand::Answer;
use capt_terraform::{Action, Operation};
use capt_testkit::eventually;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use serde_json::json;

use super::by_hand::{MODULE, changes, state_of, that_waits, told};
use super::recording::Recording;
use super::stage::EngineStage;

/// Content like that of a Workspace, changed.
async fn content(stage: &EngineStage, name: &str, change: impl FnOnce(&mut ForProvider)) -> ForProvider {
    let mut content = stage.stage.workspaces().get(name).await.unwrap().spec.for_provider;
    change(&mut content);
    content
}

fn greeting(value: &str) -> impl FnOnce(&mut ForProvider) {
    let value = value.to_owned();
    move |content| {
        for variable in content.vars.iter_mut().filter(|variable| variable.key == "greeting") {
            variable.value.clone_from(&value);
        }
    }
}

/// Asks for a plan by both annotations at once.
async fn ask(stage: &EngineStage, name: &str, request: &str, mark: &str) {
    let annotations = json!({ annotation::PLAN_REQUESTED_AT: request, annotation::PLAN_CANDIDATE: mark });
    let patch = Patch::Merge(json!({ "metadata": { "annotations": annotations } }));
    stage.stage.workspaces().patch(name, &PatchParams::default(), &patch).await.unwrap();
}

async fn answer(stage: &EngineStage, name: &str, request: &str) -> Answer {
    let kept = state_of(stage, name).await;
    tokio::time::timeout(capt_testkit::DEADLINE, kept.await_preview(request)).await.unwrap().unwrap()
}

/// Puts content down, asks for its plan and waits for the answer.
async fn plan(
    stage: &EngineStage,
    name: &str,
    request: &str,
    change: impl FnOnce(&mut ForProvider),
) -> Answer {
    let content = content(stage, name, change).await;
    let mark = state_of(stage, name).await.put_candidate(request, &content, None).await.unwrap();
    ask(stage, name, request, &mark).await;
    answer(stage, name, request).await
}

async fn is_left(stage: &EngineStage) -> bool {
    stage.secrets().await.iter().any(|name| name.starts_with("capt-candidate-"))
}

async fn set() -> (EngineStage, std::sync::Arc<Recording>, String) {
    let mut stage = EngineStage::without_manager().await;
    let engine = stage.start_recorded().await;
    let name = stage.put("demo", MODULE, json!({ "greeting": "hello" })).await;
    stage.ready(&name).await;
    engine.take();
    (stage, engine, name)
}

#[tokio::test(flavor = "multi_thread")]
async fn other_content_is_planned_against_the_state_and_nothing_changes() {
    let (stage, engine, name) = set().await;
    let (before, held) =
        (stage.stage.workspaces().get(&name).await.unwrap(), stage.state(&name).await.unwrap());

    let answer = plan(&stage, &name, "first", greeting("goodbye")).await;

    assert_eq!(changes(&answer), [("terraform_data.one".to_owned(), Action::Update)]);
    let text = answer.result.unwrap().text;
    assert!(
        text.contains("\"hello\" -> \"goodbye\""),
        "a variable that is written down is no secret: {text}"
    );
    assert_eq!(engine.take(), [Operation::Plan]);
    assert!(!is_left(&stage).await);
    let after = stage.stage.workspaces().get(&name).await.unwrap();
    assert_eq!((told(&after), &after.spec), (told(&before), &before.spec));
    assert_eq!(stage.state(&name).await.unwrap().resource_version(), held.resource_version());

    // The content is of that request alone.
    stage.annotate(&name, annotation::PLAN_REQUESTED_AT, "second").await;
    assert_eq!(changes(&self::answer(&stage, &name, "second").await), []);
    // What was applied before is still what was applied: a look finds nothing to do.
    engine.take();
    stage.check(&name, "look").await;
    assert_eq!(engine.take(), [Operation::Plan]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_waits_is_applied_as_it_was_whatever_was_planned_since() {
    let mut stage = EngineStage::without_manager().await;
    let engine = stage.start_recorded().await;
    let (name, pending) = that_waits(&stage).await;
    let answer = plan(&stage, &name, "first", greeting("goodbye")).await;
    assert_ne!(answer.result.unwrap().hash, pending.hash);
    engine.take();

    stage.annotate(&name, annotation::APPROVE_PLAN, &pending.hash).await;
    stage.condition(&name, "ApprovalRequired", "False", "").await;

    stage.ready(&name).await;
    assert!(matches!(engine.take().as_slice(), [Operation::Apply { .. }, ..]), "no plan was needed again");
}

#[tokio::test(flavor = "multi_thread")]
async fn content_that_is_gone_or_another_is_refused() {
    let (stage, engine, name) = set().await;
    let kept = state_of(&stage, &name).await;
    let content = content(&stage, &name, greeting("goodbye")).await;

    let mark = kept.put_candidate("gone", &content, None).await.unwrap();
    kept.remove_candidate().await.unwrap();
    ask(&stage, &name, "gone", &mark).await;
    let refused = answer(&stage, &name, "gone").await.result.unwrap_err();
    assert!(refused.contains("is gone or was written anew: ask again"), "{refused}");

    let mark = kept.put_candidate("changed", &content, None).await.unwrap();
    let secret = format!("capt-candidate-{name}");
    let theirs = json!({ "stringData": { "forProvider.json": "{\"source\":\"Inline\",\"module\":\"\"}" } });
    stage.stage.change::<Secret>(&secret, theirs).await;
    ask(&stage, &name, "changed", &mark).await;
    let refused = answer(&stage, &name, "changed").await.result.unwrap_err();
    assert!(refused.contains("is gone or was written anew: ask again"), "{refused}");

    assert_eq!(engine.take(), []);
    assert!(!is_left(&stage).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_elsewhere_is_not_begun_for_a_plan() {
    let (stage, _, name) = set().await;
    let backend = "terraform {\n  backend \"http\" {\n    address = \"http://127.0.0.1:1/state\"\n  }\n}\n";

    let answer = plan(&stage, &name, "first", |content| content.module = format!("{backend}{MODULE}")).await;

    let refused = answer.result.unwrap_err();
    assert!(refused.contains("the module keeps its state by the backend `http`"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_outlives_its_manager_and_values_of_secrets_are_not_shown() {
    let (mut stage, _, name) = set().await;
    stage.stop_manager().await;
    let kept = state_of(&stage, &name).await;
    let content = content(&stage, &name, |content| {
        content.vars.retain(|variable| variable.key != "greeting");
        let file =
            json!({ "source": "SecretKey", "format": "JSON", "secretKeyRef": kept.candidate_values() });
        content.var_files.push(serde_json::from_value(file).unwrap());
    })
    .await;
    let values = json!({ "greeting": "hunter22" }).to_string();
    let mark = kept.put_candidate("first", &content, Some(&values)).await.unwrap();
    ask(&stage, &name, "first", &mark).await;

    stage.start_manager().await;

    let answer = answer(&stage, &name, "first").await;
    assert_eq!(changes(&answer), [("terraform_data.one".to_owned(), Action::Update)]);
    let shown = format!("{answer:?}");
    assert!(shown.contains("(sensitive value)") && !shown.contains("hunter22"), "{shown}");
    eventually("nothing to be left", async || !is_left(&stage).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn content_that_cannot_be_handed_over_is_told_by_its_size() {
    let (stage, _, name) = set().await;
    let content = content(&stage, &name, |content| content.module = "#".repeat(1 << 20)).await;

    let failure = state_of(&stage, &name).await.put_candidate("first", &content, None).await.unwrap_err();

    assert!(failure.to_string().contains("more than the 1024000 that can be handed over"), "{failure}");
}
