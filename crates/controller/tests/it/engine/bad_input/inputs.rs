//! What is refused before Terraform runs.

use serde_json::{Value, json};

use super::{assert_that_nothing_is_lost, assert_told, good, put, with};
use crate::engine::stage::EngineStage;

fn reference(kind: &str, key: &str) -> Value {
    json!({ kind: { "namespace": "${NAMESPACE}", "name": "absent", "key": key } })
}

fn env(mut entry: Value) -> Value {
    if entry.get("name").is_none() {
        entry["name"] = json!("TOKEN");
    }
    with("env", json!([entry]))
}

fn file(source: &str, mut entry: Value) -> Value {
    entry["source"] = json!(source);
    with("varFiles", json!([entry]))
}

fn spec(field: &str, value: Value) -> Value {
    let mut spec = good("one");
    spec[field] = value;
    spec
}

/// Each with texts that tell it from the others; the last one does so by itself.
fn all() -> Vec<(Value, &'static [&'static str])> {
    vec![
        (
            spec("providerConfigRef", json!({ "name": "absent" })),
            &["create it", "ProviderConfig `absent` does not exist"],
        ),
        (
            env(reference("secretKeyRef", "k")),
            &["/absent` does not exist: create it", "spec.forProvider.env[0].secretKeyRef"],
        ),
        (
            env(reference("configMapKeyRef", "k")),
            &["/absent` does not exist", "spec.forProvider.env[0].configMapKeyRef"],
        ),
        (
            file("SecretKey", reference("secretKeyRef", "k")),
            &["/absent` does not exist", "spec.forProvider.varFiles[0].secretKeyRef"],
        ),
        (
            file("ConfigMapKey", reference("configMapKeyRef", "k")),
            &["/absent` does not exist", "spec.forProvider.varFiles[0].configMapKeyRef"],
        ),
        (
            env(json!({ "name": "TF_DATA_DIR", "value": "/elsewhere" })),
            &["CAPT sets it itself", "the environment variable `TF_DATA_DIR` cannot be set"],
        ),
        (
            env(json!({ "name": "TF_CLI_ARGS_plan", "value": "-destroy" })),
            &["the environment variable `TF_CLI_ARGS_plan` cannot be set"],
        ),
        (with("planArgs", json!(["-refresh=false", "-json"])), &["the argument `-json` cannot be given"]),
        (with("applyArgs", json!(["--input=true"])), &["the argument `-input` cannot be given"]),
        (with("planArgs", json!(["-no-such-flag"])), &["no-such-flag"]),
        (with("entrypoint", json!("../other")), &["the entrypoint `../other` leaves the module"]),
        (with("entrypoint", json!("no")), &["the entrypoint `no` is not a directory of the module"]),
        (with("vars", json!([{ "key": "nobody", "value": "x" }])), &["nobody", "undeclared variable"]),
        (
            spec("managementPolicies", json!(["Create", "Delete"])),
            &["add Observe", "spec.managementPolicies permit actions without Observe"],
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_go_in_is_told_by_its_field() {
    let stage = EngineStage::set().await;
    let mut names = Vec::new();
    for (index, (bad, _)) in all().into_iter().enumerate() {
        names.push(put(&stage, &format!("bad{index}"), bad).await);
    }
    for (name, (_, texts)) in names.iter().zip(all()) {
        assert_told(&stage, name, texts).await;
    }

    put(&stage, "bad0", good("one")).await;

    stage.output(&names[0], "said", json!("one")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_cannot_go_in_loses_nothing() {
    assert_that_nothing_is_lost(all()).await;
}
