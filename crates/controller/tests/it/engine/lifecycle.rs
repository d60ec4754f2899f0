//! From a template to outputs, and down again.

use serde_json::json;

use super::stage::{EngineStage, output};

const MODULE: &str = r#"
variable "greeting" {}
resource "terraform_data" "one" { input = var.greeting }
output "said" { value = terraform_data.one.output }
output "nested" { value = { list = [1, 2], text = var.greeting } }
output "hidden" {
  value     = "s3cret-${var.greeting}"
  sensitive = true
}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_template_becomes_outputs_follows_changes_and_leaves_nothing_behind() {
    let stage = EngineStage::set().await;
    let name = stage.put("demo", MODULE, json!({ "greeting": "hello" })).await;

    let workspace = stage.ready(&name).await;
    assert_eq!(output(&workspace, "said"), Some(&json!("hello")));
    assert_eq!(output(&workspace, "nested"), Some(&json!({ "list": [1, 2], "text": "hello" })));
    assert_eq!(output(&workspace, "hidden"), None);
    let secret = stage.secret("demo-connection").await.unwrap();
    assert_eq!(secret["said"], "hello");
    assert_eq!(secret["hidden"], "s3cret-hello");
    assert_eq!(secret["nested"], r#"{"list":[1,2],"text":"hello"}"#);

    stage.change_variables("demo", json!({ "greeting": "goodbye" })).await;
    stage.output(&name, "said", json!("goodbye")).await;
    assert_eq!(stage.secret("demo-connection").await.unwrap()["said"], "goodbye");

    stage.delete_apply("demo").await;
    stage.gone(&name).await;
    assert_eq!(stage.secrets().await, Vec::<String>::new());
}
