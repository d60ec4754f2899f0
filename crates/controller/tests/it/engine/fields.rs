//! What a Workspace may say about its module, and what comes of it.

use std::fs;
use std::process::Command;

use capt_api::names::{annotation, label};
use capt_api::{ProviderConfig, Workspace};
use capt_controller::options::Options;
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use super::stage::{EngineStage, output};
use crate::stage::{Manager, Stage, cluster};

fn key(namespace: &str, name: &str, key: &str) -> Value {
    json!({ "namespace": namespace, "name": name, "key": key })
}

const LETTERS: &str = r#"
variable "a" {}
variable "b" {}
variable "c" {}
resource "terraform_data" "one" { input = [var.a, var.b, var.c] }
output "letters" { value = terraform_data.one.output }
"#;

#[tokio::test(flavor = "multi_thread")]
async fn environment_variables_come_from_values_config_maps_and_secrets() {
    let stage = EngineStage::set().await;
    stage.stage.put_config_map("map", &[("b", "from the map")]).await;
    stage.stage.put_secret("secret", &[("c", "from the secret")]).await;
    let spec = json!({ "forProvider": {
        "module": LETTERS,
        "enableTerraformCLILogging": true,
        "env": [
            // A reference counts only where no value is given.
            { "name": "TF_VAR_a", "value": "given", "secretKeyRef": key(stage.namespace(), "absent", "a") },
            { "name": "TF_VAR_b", "configMapKeyRef": key(stage.namespace(), "map", "b") },
            { "name": "TF_VAR_c", "secretKeyRef": key(stage.namespace(), "secret", "c") },
        ],
    } });
    let name = stage.put_spec("demo", spec, json!({})).await;
    stage.output(&name, "letters", json!(["given", "from the map", "from the secret"])).await;

    stage.stage.put_secret("secret", &[("c", "another")]).await;
    stage.output(&name, "letters", json!(["given", "from the map", "another"])).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_map_of_variables_wins_over_files_and_files_win_over_single_variables() {
    let stage = EngineStage::set().await;
    stage.stage.put_config_map("first", &[("x", "a = \"first\"\nb = \"first\"\nc = \"first\"")]).await;
    stage.stage.put_secret("second", &[("x", r#"{ "b": "second", "c": "second" }"#)]).await;
    let var = |key: &str| json!({ "key": key, "value": "single" });
    let spec = json!({ "forProvider": {
        "module": format!("{LETTERS}variable \"d\" {{}}\noutput \"d\" {{ value = var.d }}\n"),
        "vars": [var("a"), var("b"), var("c"), var("d")],
        "varFiles": [
            { "source": "ConfigMapKey", "configMapKeyRef": key(stage.namespace(), "first", "x") },
            { "source": "SecretKey", "format": "JSON", "secretKeyRef": key(stage.namespace(), "second", "x") },
        ],
        "varmap": { "c": "map" },
    } });
    let name = stage.put_spec("demo", spec, json!({})).await;
    let workspace = stage.ready(&name).await;
    assert_eq!(output(&workspace, "letters"), Some(&json!(["first", "second", "map"])));
    assert_eq!(output(&workspace, "d"), Some(&json!("single")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_module_may_be_written_in_json() {
    let stage = EngineStage::set().await;
    let module = json!({ "output": { "x": { "value": 12_345_678_901_234_567_u64 } } }).to_string();
    let spec = json!({ "forProvider": { "module": module, "inlineFormat": "JSON" } });
    let name = stage.put_spec("demo", spec, json!({})).await;
    stage.output(&name, "x", json!(12_345_678_901_234_567_u64)).await;
    assert_eq!(stage.secret("demo-connection").await.unwrap()["x"], "12345678901234567");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_module_comes_from_a_directory_of_a_git_repository() {
    let stage = EngineStage::set().await;
    let repository = tempfile::tempdir().unwrap();
    let network = repository.path().join("modules/network");
    let write = |value: &str| {
        fs::create_dir_all(&network).unwrap();
        fs::write(network.join("main.tf"), format!("output \"x\" {{ value = \"{value}\" }}\n")).unwrap();
    };
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        let ended = Command::new("git")
            .args(identity)
            .args(arguments)
            .current_dir(repository.path())
            .output()
            .unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    };
    write("one");
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "one"]);
    let address = format!("git::file://{}", repository.path().display());
    let spec = json!({ "forProvider": {
        "source": "Remote", "module": address, "entrypoint": "modules/network",
    } });
    let name = stage.put_spec("demo", spec, json!({})).await;
    let workspace = stage.output(&name, "x", json!("one")).await;
    assert_eq!(
        workspace.status.unwrap().at_provider.unwrap().remote_source.as_deref(),
        Some(address.as_str())
    );

    write("two");
    git(&["commit", "-qam", "two"]);
    stage.check(&name, "1").await;
    stage.output(&name, "x", json!("two")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_config_adds_credentials_and_configuration() {
    let stage = EngineStage::set().await;
    stage.stage.put_secret("credentials", &[("token", "s3cret-token")]).await;
    let config = stage.stage.unique("config");
    let module = "output \"token\" {\n  value = file(\"${path.module}/token.txt\")\n  sensitive = true\n}\n";
    let spec = json!({ "forProvider": { "module": module }, "providerConfigRef": { "name": config } });
    let name = stage.put_spec("demo", spec, json!({})).await;
    stage.condition(&name, "Synced", "False", &format!("ProviderConfig `{config}` does not exist")).await;

    let configs: Api<ProviderConfig> = Api::all(stage.stage.client.clone());
    let reference = key(stage.namespace(), "credentials", "token");
    let config: ProviderConfig = serde_json::from_value(json!({
        "apiVersion": "tf.upbound.io/v1beta1", "kind": "ProviderConfig", "metadata": { "name": config },
        "spec": {
            "configuration": "output \"configured\" { value = true }\n",
            "credentials": [{ "filename": "token.txt", "source": "Secret", "secretRef": reference }],
        },
    }))
    .unwrap();
    configs.create(&PostParams::default(), &config).await.unwrap();
    let workspace = stage.ready(&name).await;
    assert_eq!(output(&workspace, "configured"), Some(&json!(true)));
    assert_eq!(stage.secret("demo-connection").await.unwrap()["token"], "s3cret-token");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_external_name_is_the_name_of_the_terraform_workspace() {
    let mut stage = EngineStage::without_manager().await;
    stage.stage.start_manager().await;
    let name = stage.put("demo", "output \"x\" { value = terraform.workspace }\n", json!({})).await;
    stage.stage.workspace(&name, "the Workspace", |_| true).await;
    stage.stage.stop_manager().await;
    stage.annotate(&name, annotation::EXTERNAL_NAME, "given-name").await;
    stage.start_manager().await;
    stage.output(&name, "x", json!("given-name")).await;
    assert!(stage.state("given-name").await.is_some());
    assert!(stage.state(&name).await.is_none());

    stage.delete_apply("demo").await;
    stage.gone(&name).await;
    assert!(stage.state("given-name").await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_of_another_namespace_is_used_as_long_as_it_is_granted() {
    let stage = EngineStage::set().await;
    let theirs = Stage::without_manager().await;
    theirs.put_secret("values", &[("tfvars", "a = 1\nb = 2\nc = 3")]).await;
    let spec = json!({ "forProvider": {
        "module": LETTERS,
        "varFiles": [{ "source": "SecretKey", "secretKeyRef": key(&theirs.namespace, "values", "tfvars") }],
    } });
    let name = stage.put_spec("demo", spec, json!({})).await;
    let apply = format!("{name}-apply");
    stage.stage.condition(&apply, "Ready", "False", "ReferenceNotGranted").await;

    // This manager watches its own namespace only, and sees a grant when it looks again.
    let grant = |to: Option<&str>| json!({ "metadata": { "annotations": { annotation::GRANTED_TO: to } } });
    theirs.change::<Secret>("values", grant(Some(stage.namespace()))).await;
    stage.change_apply("demo", json!({ "metadata": { "annotations": { "look": "again" } } })).await;
    stage.ready(&name).await;
    theirs.change::<Secret>("values", grant(None)).await;
    stage.annotate(&name, "look", "again").await;
    stage.condition(&name, "Synced", "False", annotation::GRANTED_TO).await;

    stage.delete_apply("demo").await;
    stage.gone(&name).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_that_nobody_derived_keeps_its_state_in_the_manager_s_namespace() {
    let stage = EngineStage::without_manager().await;
    let engine = stage.process_engine().await;
    let options = stage.options(engine, |_| {}).await;
    let mark = stage.namespace().to_owned();
    // Everything else belongs to other tests.
    let options = Options { namespace: None, watch_filter: Some(mark.clone()), ..options };
    let manager = Manager::start(cluster().await, options).await;
    let name = stage.stage.unique("alone");
    let workspaces = stage.stage.workspaces();
    let object = json!({
        "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace",
        "metadata": { "name": name, "labels": { label::WATCH_FILTER: mark } },
        "spec": {
            "forProvider": { "source": "Inline", "module": "output \"x\" { value = 1 }\n" },
            "writeConnectionSecretToRef": { "namespace": stage.namespace(), "name": "alone-connection" },
        },
    });
    let parameters = PatchParams::apply("somebody");
    let _: Workspace = workspaces.patch(&name, &parameters, &Patch::Apply(object)).await.unwrap();
    stage.output(&name, "x", json!(1)).await;
    assert_eq!(stage.secret("alone-connection").await.unwrap()["x"], "1");
    assert!(stage.state(&name).await.is_some());

    workspaces.delete(&name, &DeleteParams::default()).await.unwrap();
    stage.gone(&name).await;
    assert_eq!(stage.secrets().await, Vec::<String>::new());
    manager.stop().await;
}
