//! Outputs of every type and size.

use capt_api::Workspace;
use capt_testkit::DEADLINE;
use kube::runtime::wait::await_condition;
use serde_json::{Value, json};

use super::{assert_kept, good, good_of, inline, message, put};
use crate::engine::stage::{EngineStage, find, output};

const MODULE: &str = r#"
resource "terraform_data" "one" { input = null }
output "integer" { value = 7 }
output "huge" { value = 12345678901234567890 }
output "fraction" { value = 0.1 }
output "precise" { value = 0.1234567890123456789 }
output "yes" { value = true }
output "nothing" { value = null }
output "empty" { value = "" }
output "list" { value = [1, "two", null, true, []] }
output "deep" { value = { a = { b = [{ c = { d = [[{ e = 12345678901234567890 }]] } }] } } }
output "unicode" { value = "größe 密码 😀" }
output "controls" { value = "a\tb\u0001\u001f\"\\" }
output "lines" { value = "a\r\nb\n" }
output "base64" { value = "aGVsbG8=" }
output "bytes" { value = base64encode("größe") }
output "json" { value = "{\"a\": [1, 2]}" }
output "quoted" { value = "\"quoted\"" }
output "number" { value = "007" }
output "boolean" { value = "true" }
output "none" { value = "null" }
output "a-b_c1" { value = "x" }
output "größe" { value = "not a key of a Secret" }
output "hidden" {
  value     = { number = 12345678901234567890, text = "<&>" }
  sensitive = true
}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn every_type_arrives_as_it_is() {
    let stage = EngineStage::set().await;
    let name = put(&stage, "demo", inline(MODULE)).await;

    let ready = stage.ready(&name).await;

    let secret = stage.secret("demo-connection").await.unwrap();
    let huge = json!("12345678901234567890");
    let expected: [(&str, Option<&str>, Option<Value>); 23] = [
        ("integer", Some("7"), Some(json!(7))),
        ("huge", Some("12345678901234567890"), Some(huge.clone())),
        ("fraction", Some("0.1"), Some(json!(0.1))),
        ("precise", Some("0.1234567890123456789"), Some(json!("0.1234567890123456789"))),
        ("yes", Some("true"), Some(json!(true))),
        ("nothing", None, None),
        ("empty", Some(""), Some(json!(""))),
        ("list", Some(r#"[1,"two",null,true,[]]"#), Some(json!([1, "two", null, true, []]))),
        (
            "deep",
            Some(r#"{"a":{"b":[{"c":{"d":[[{"e":12345678901234567890}]]}}]}}"#),
            Some(json!({ "a": { "b": [{ "c": { "d": [[{ "e": huge }]] } }] } })),
        ),
        ("unicode", Some("größe 密码 😀"), Some(json!("größe 密码 😀"))),
        ("controls", Some("a\tb\u{1}\u{1f}\"\\"), Some(json!("a\tb\u{1}\u{1f}\"\\"))),
        ("lines", Some("a\r\nb\n"), Some(json!("a\r\nb\n"))),
        ("base64", Some("aGVsbG8="), Some(json!("aGVsbG8="))),
        ("bytes", Some("Z3LDtsOfZQ=="), Some(json!("Z3LDtsOfZQ=="))),
        ("json", Some(r#"{"a": [1, 2]}"#), Some(json!(r#"{"a": [1, 2]}"#))),
        ("quoted", Some("\"quoted\""), Some(json!("\"quoted\""))),
        ("number", Some("007"), Some(json!("007"))),
        ("boolean", Some("true"), Some(json!("true"))),
        ("none", Some("null"), Some(json!("null"))),
        ("a-b_c1", Some("x"), Some(json!("x"))),
        ("größe", None, Some(json!("not a key of a Secret"))),
        ("hidden", Some(r#"{"number":12345678901234567890,"text":"\u003c\u0026\u003e"}"#), None),
        ("said", None, None),
    ];
    for (key, in_secret, in_status) in expected {
        assert_eq!(secret.get(key).map(String::as_str), in_secret, "{key} in the Secret");
        assert_eq!(output(&ready, key), in_status.as_ref(), "{key} in the status");
    }
}

/// Megabytes take their time in a build that is not optimised.
async fn patiently(stage: &EngineStage, name: &str, holds: impl Fn(&Workspace) -> bool) -> Workspace {
    let holds = move |workspace: Option<&Workspace>| workspace.is_some_and(&holds);
    let found = await_condition(stage.stage.workspaces(), name, holds);
    tokio::time::timeout(3 * DEADLINE, found).await.unwrap().unwrap().unwrap()
}

/// So many bytes, which compress well, so that the state itself is small.
fn large(bytes: usize) -> Value {
    // Terraform counts to 1024 at most.
    let rows = bytes / 16 / 1024;
    inline(&format!(
        "resource \"terraform_data\" \"one\" {{}}\noutput \"said\" {{ value = \"large\" }}\noutput \"large\" {{ value = join(\"\", [for i in range({rows}) : join(\"\", [for j in range(1024) : \"0123456789abcdef\"])]) }}\n"
    ))
}

#[tokio::test(flavor = "multi_thread")]
async fn outputs_that_no_secret_can_hold_are_told_with_their_size() {
    let stage = EngineStage::set().await;
    let name = put(&stage, "demo", good("one")).await;
    let ready = stage.ready(&name).await;
    let before = good_of(&stage, &ready).await;

    put(&stage, "demo", large(2 << 20)).await;
    let expected = "/demo-connection` holds 1048576 at most";
    let seen = patiently(&stage, &name, |workspace| message(workspace, "Synced").contains(expected)).await;
    assert!(message(&seen, "Synced").contains("2097157 bytes together"), "{seen:?}");
    assert_kept(&stage, &name, &before).await;

    put(&stage, "demo", good("two")).await;
    stage.output(&name, "said", json!("two")).await;
    stage.ready(&name).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn outputs_that_just_fit_a_secret_arrive_in_the_status_too() {
    let stage = EngineStage::set().await;
    let name = put(&stage, "demo", large((1 << 20) - (1 << 14))).await;

    let ready = patiently(&stage, &name, |workspace| output(workspace, "large").is_some()).await;

    let text = output(&ready, "large").unwrap().as_str().unwrap();
    assert_eq!(text.len(), (1 << 20) - (1 << 14));
    assert_eq!(stage.secret("demo-connection").await.unwrap()["large"], text);
}

/// Nothing refuses them on the way to the status.
#[tokio::test(flavor = "multi_thread")]
async fn outputs_that_no_status_can_hold_are_told() {
    let stage = EngineStage::set().await;
    stage
        .stage
        .put::<capt_api::WorkspaceTemplate>(json!({
            "metadata": { "name": "demo" }, "spec": { "template": { "spec": large(2 << 20) } },
        }))
        .await;
    let name = stage.stage.unique("demo");
    stage.stage.put_apply(&format!("{name}-apply"), json!({ "templateRef": { "name": "demo" } })).await;

    let expected = "a Workspace holds 1400000 at most: take large outputs out of the module";
    let seen = patiently(&stage, &name, |workspace| message(workspace, "Synced").contains(expected)).await;
    assert_eq!(find(&seen, "Ready").unwrap().status, "False");

    put(&stage, "demo", good("one")).await;
    stage.output(&name, "said", json!("one")).await;
    stage.ready(&name).await;
}
