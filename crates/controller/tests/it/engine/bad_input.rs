//! What is wrong is told where the user looks. Nothing else stops, nothing good is lost, and what is mended heals.

mod annotations;
mod api_server;
mod binary;
mod inputs;
mod modules;
mod outputs;
mod references;
mod state;

use std::collections::BTreeMap;

use capt_api::names::annotation;
use capt_api::{Workspace, WorkspaceTemplate};
use kube::ResourceExt;
use serde_json::{Value, json};

use super::stage::{EngineStage, find, output};

/// A Workspace with an inline module.
fn inline(module: &str) -> Value {
    json!({ "forProvider": { "source": "Inline", "module": module } })
}

/// One with which all is well.
fn good(text: &str) -> Value {
    inline(&format!(
        "resource \"terraform_data\" \"one\" {{ input = \"{text}\" }}\noutput \"said\" {{ value = terraform_data.one.output }}\n"
    ))
}

/// A good one with this in `forProvider`.
fn with(field: &str, value: Value) -> Value {
    let mut spec = good("one");
    spec["forProvider"][field] = value;
    spec
}

/// Puts a template with this spec, whether CAPT can read its module or not, and an apply of it.
async fn put(stage: &EngineStage, name: &str, spec: Value) -> String {
    let annotations = json!({ annotation::SKIP_MODULE_CHECK: "true" });
    let template = json!({
        "metadata": { "name": name, "annotations": annotations },
        "spec": { "template": { "spec": spec } },
    });
    stage.stage.put::<WorkspaceTemplate>(template).await;
    let workspace = stage.stage.unique(name);
    let apply = json!({
        "templateRef": { "name": name },
        "writeConnectionSecretToRef": { "name": format!("{name}-connection") },
    });
    stage.stage.put_apply(&format!("{workspace}-apply"), apply).await;
    workspace
}

/// Waits until something is told to be wrong, and answers with all that is told of it.
async fn told(stage: &EngineStage, workspace: &str, text: &str) -> String {
    let seen = stage.condition(workspace, "Synced", "False", text).await;
    message(&seen, "Synced").to_owned()
}

fn message<'workspace>(workspace: &'workspace Workspace, type_: &str) -> &'workspace str {
    find(workspace, type_).and_then(|found| found.message.as_deref()).unwrap_or_default()
}

/// Asks for another try at once.
async fn request(stage: &EngineStage, workspace: &str, number: u32) {
    stage.annotate(workspace, annotation::RECONCILE_REQUESTED_AT, &number.to_string()).await;
}

/// What a user has of a Workspace that was ready.
#[derive(Debug, PartialEq)]
struct Good {
    outputs: BTreeMap<String, Value>,
    secret: Option<BTreeMap<String, String>>,
}

async fn good_of(stage: &EngineStage, workspace: &Workspace) -> Good {
    let connection = workspace.name_any().rsplit('-').next().unwrap().to_owned() + "-connection";
    let seen = workspace.status.clone().unwrap().at_provider.unwrap();
    Good { outputs: seen.outputs, secret: stage.secret(&connection).await }
}

async fn assert_kept(stage: &EngineStage, name: &str, before: &Good) {
    let now = stage.stage.workspaces().get(name).await.unwrap();
    assert_eq!(find(&now, "Ready").unwrap().status, "True");
    assert_eq!(good_of(stage, &now).await, *before);
}

/// It is told by all these texts, and nothing is there.
async fn assert_told(stage: &EngineStage, name: &str, texts: &[&str]) {
    let message = told(stage, name, texts[0]).await;
    for text in texts {
        assert!(message.contains(text), "`{text}` in: {message}");
    }
    let workspace = stage.stage.workspaces().get(name).await.unwrap();
    assert_eq!(find(&workspace, "Ready").unwrap().status, "False");
    assert_eq!(output(&workspace, "said"), None);
}

/// Ready, then bad in each of these ways, then mended.
async fn assert_that_nothing_is_lost(all: Vec<(Value, &[&str])>) {
    let stage = EngineStage::set().await;
    let name = put(&stage, "demo", good("one")).await;
    let ready = stage.ready(&name).await;
    let before = good_of(&stage, &ready).await;
    assert_eq!(before.secret.as_ref().unwrap()["said"], "one");
    for (bad, texts) in all {
        put(&stage, "demo", bad).await;
        told(&stage, &name, texts[texts.len() - 1]).await;
        assert_kept(&stage, &name, &before).await;
    }
    put(&stage, "demo", good("two")).await;
    stage.output(&name, "said", json!("two")).await;
    stage.ready(&name).await;
    assert_eq!(stage.secret("demo-connection").await.unwrap()["said"], "two");
}
