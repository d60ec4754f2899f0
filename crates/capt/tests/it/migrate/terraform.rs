//! What the real Terraform says of the edited module and state.

use std::fs;
use std::path::Path;
use std::process::Command;

use k8s_openapi::api::core::v1::Secret;
use serde_json::{Value, json};

use super::stage::{Stage, gunzip};

const WITHOUT: &str = r#"
resource "terraform_data" "eks" {
  input = { name = "prod", number = 12345678901234567890 }
}

output "cluster_name" {
  value = terraform_data.eks.output.name
}
output "cluster_endpoint" { value = "https://example.com" }
output "karpenter_iam_role_arn" { value = "arn:aws:iam::1:role/x" }
output "karpenter_queue_name" { value = "queue" }
"#;

const RELEASE: &str = r#"
resource "helm_release" "karpenter" {
  count = 2
  chart = "karpenter"
}
resource "terraform_data" "after" {
  depends_on = [helm_release.karpenter]
}
"#;

fn terraform(directory: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(capt_testkit::terraform::binary())
        .args(arguments)
        .args(["-no-color"])
        .current_dir(directory)
        .env("CHECKPOINT_DISABLE", "1")
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

/// The state that Terraform makes of a module.
fn applied(module: &str) -> Value {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("main.tf"), module).unwrap();
    for arguments in [&["init"][..], &["apply", "-auto-approve"]] {
        let (code, text) = terraform(directory.path(), arguments);
        assert_eq!(code, Some(0), "{text}");
    }
    serde_json::from_slice(&fs::read(directory.path().join("terraform.tfstate")).unwrap()).unwrap()
}

#[tokio::test]
async fn terraform_finds_nothing_to_do_afterwards() {
    let stage = Stage::bare().await;
    stage.put_template("eks", &format!("{WITHOUT}{RELEASE}")).await;
    let mut made = applied(&format!("{WITHOUT}resource \"terraform_data\" \"after\" {{\n}}\n"));
    let release = json!({
        "mode": "managed", "type": "helm_release", "name": "karpenter",
        "provider": "provider[\"registry.opentofu.org/hashicorp/helm\"]",
        "instances": [
            { "index_key": 0, "schema_version": 1, "attributes": { "id": "karpenter" }, "sensitive_attributes": [] },
            { "index_key": 1, "schema_version": 1, "attributes": { "id": "karpenter" }, "sensitive_attributes": [] },
        ],
    });
    made["resources"].as_array_mut().unwrap().push(release);
    stage.put_use(&made).await;
    let manager = stage.play_manager();

    let (code, printed, told) = stage.migrate(&["--yes"]).await;

    assert_eq!(code, Some(0), "{told}");
    let leaving = json!(["helm_release.karpenter[0]", "helm_release.karpenter[1]"]);
    assert_eq!(printed["applies"][0]["leaving"], leaving);
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("main.tf"), stage.module().await).unwrap();
    let secret = stage.api::<Secret>().get(&stage.state_name()).await.unwrap();
    fs::write(directory.path().join("terraform.tfstate"), gunzip(&secret.data.unwrap()["tfstate"].0))
        .unwrap();
    let (code, text) = terraform(directory.path(), &["init"]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = terraform(directory.path(), &["plan", "-detailed-exitcode"]);
    assert_eq!(code, Some(0), "{text}");
    manager.abort();
}
