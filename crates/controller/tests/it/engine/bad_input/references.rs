//! What a Workspace refers to comes late, or wrong: when it comes right, the Workspace follows by itself.

use serde_json::json;

use super::{assert_kept, good_of, inline, put, told};
use crate::engine::stage::{EngineStage, output};

const MODULE: &str = r#"
variable "from_secret" { sensitive = true }
variable "from_map" {}
resource "terraform_data" "one" { input = var.from_map }
output "said" { value = terraform_data.one.output }
output "token" {
  value     = var.from_secret
  sensitive = true
}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn what_was_missing_is_taken_when_it_comes() {
    let stage = EngineStage::set().await;
    let reference = |name: &str, key: &str| json!({ "namespace": "${NAMESPACE}", "name": name, "key": key });
    let mut spec = inline(MODULE);
    spec["forProvider"]["env"] =
        json!([{ "name": "TF_VAR_from_secret", "secretKeyRef": reference("token", "value") }]);
    spec["forProvider"]["varFiles"] =
        json!([{ "source": "ConfigMapKey", "configMapKeyRef": reference("settings", "file") }]);
    let name = put(&stage, "demo", spec).await;

    told(&stage, &name, "/settings` does not exist").await;
    stage.stage.put_config_map("settings", &[("other", "")]).await;
    told(&stage, &name, "/settings` has no key `file`").await;
    stage.stage.put_config_map("settings", &[("file", "from_map = \"one")]).await;
    told(&stage, &name, "/token` does not exist").await;
    stage.stage.put_secret("token", &[("other", "")]).await;
    told(&stage, &name, "/token` has no key `value`").await;
    stage.stage.put_secret("token", &[("value", "t0ken")]).await;
    told(&stage, &name, "line 1").await;
    stage.stage.put_config_map("settings", &[("file", "from_map = \"one\"")]).await;
    let ready = stage.ready(&name).await;
    assert_eq!(output(&ready, "said"), Some(&json!("one")));
    assert_eq!(stage.secret("demo-connection").await.unwrap()["token"], "t0ken");

    let before = good_of(&stage, &ready).await;
    stage.stage.put_config_map("settings", &[("file", "from_map = ")]).await;
    told(&stage, &name, "line 1").await;
    assert_kept(&stage, &name, &before).await;
    stage.stage.put_config_map("settings", &[("file", "from_map = \"two\"")]).await;
    stage.output(&name, "said", json!("two")).await;
}
