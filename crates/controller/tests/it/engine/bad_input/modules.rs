//! Modules that Terraform refuses, or that fail in its hands.

use rstest::rstest;
use serde_json::{Value, json};

use super::{assert_that_nothing_is_lost, assert_told, good, inline, put, told};
use crate::engine::stage::EngineStage;

const SYNTAX: &str = "locals {\n  fine = 1\n}\nresource \"terraform_data\" \"one\" {\n  input = [1,\n}\n";
const NO_SUCH_RESOURCE: &str = "output \"said\" {\n  value = terraform_data.nobody.output\n}\n";
const MISSING: &str = "variable \"needed\" {}\noutput \"said\" { value = var.needed }\n";
const PROVIDER: &str = r#"
terraform {
  required_providers {
    nowhere = { source = "localhost:1/nobody/nowhere" }
  }
}
resource "nowhere_thing" "one" {}
"#;
const REMOTE: &str = "module \"far\" {\n  source = \"http://127.0.0.1:1/module.tgz\"\n}\n";
const PRECONDITION: &str = r#"
resource "terraform_data" "one" {
  lifecycle {
    precondition {
      condition     = length(path.module) > 1000
      error_message = "The cluster needs a network."
    }
  }
}
"#;
/// Known only when the first one is there.
const POSTCONDITION: &str = r#"
resource "terraform_data" "one" { input = timestamp() }
resource "terraform_data" "two" {
  input = terraform_data.one.id
  lifecycle {
    postcondition {
      condition     = self.output == "never"
      error_message = "The cluster did not become healthy."
    }
  }
}
"#;
const PROVISIONER: &str = r#"
resource "terraform_data" "three" {
  provisioner "local-exec" { command = "echo no such region >&2; exit 7" }
}
"#;

#[rstest]
#[case::syntax(inline(SYNTAX), &["main.tf line 6", "init failed"])]
#[case::no_such_resource(inline(NO_SUCH_RESOURCE), &["main.tf line 2", "terraform_data", "nobody"])]
#[case::missing_variable(inline(MISSING), &["No value for required variable", "\"needed\"", "main.tf line 1"])]
#[case::unknown_provider(inline(PROVIDER), &["init failed", "localhost:1/nobody/nowhere"])]
#[case::unreachable_module(inline(REMOTE), &["init failed", "http://127.0.0.1:1/module.tgz"])]
#[case::unreachable_root(
    json!({ "forProvider": { "source": "Remote", "module": "http://127.0.0.1:1/root.tgz" } }),
    &["http://127.0.0.1:1/root.tgz", "connection refused"]
)]
#[case::not_json(
    json!({ "forProvider": { "source": "Inline", "inlineFormat": "JSON", "module": "{\"output\": " } }),
    &["main.tf.json"]
)]
#[case::before_the_apply(inline(PRECONDITION), &["plan failed", "The cluster needs a network.", "main.tf line 5"])]
#[case::in_the_apply(inline(POSTCONDITION), &["apply failed", "The cluster did not become healthy."])]
#[case::in_a_command(inline(PROVISIONER), &["apply failed", "terraform_data.three", "exit status 7", "no such region"])]
#[tokio::test(flavor = "multi_thread")]
async fn what_terraform_refuses_is_told_in_its_words_until_it_is_mended(
    #[case] bad: Value,
    #[case] texts: &[&str],
) {
    let stage = EngineStage::set().await;
    let name = put(&stage, "demo", bad).await;
    assert_told(&stage, &name, texts).await;

    put(&stage, "demo", good("one")).await;

    stage.output(&name, "said", json!("one")).await;
    stage.ready(&name).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_terraform_refuses_loses_nothing() {
    assert_that_nothing_is_lost(vec![
        (inline(SYNTAX), &["main.tf line 6"]),
        (inline(MISSING), &["No value for required variable"]),
        (inline(PROVIDER), &["localhost:1/nobody/nowhere"]),
        (inline(PRECONDITION), &["The cluster needs a network."]),
        (inline(PROVISIONER), &["no such region"]),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_ones_do_not_stop_a_good_one() {
    let stage = EngineStage::set().await;
    let mut bad = Vec::new();
    for (index, module) in
        [SYNTAX, MISSING, PRECONDITION, PROVISIONER, REMOTE, PROVIDER].into_iter().enumerate()
    {
        bad.push(put(&stage, &format!("bad{index}"), inline(module)).await);
    }

    let name = put(&stage, "demo", good("one")).await;

    stage.output(&name, "said", json!("one")).await;
    stage.ready(&name).await;
    for name in bad {
        told(&stage, &name, "failed").await;
    }
}
