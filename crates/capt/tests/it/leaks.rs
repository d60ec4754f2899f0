//! Sensitive values of every kind go in; none of them comes out but where outputs belong.

mod traces;

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use capt_api::names::annotation;
use capt_api::{ProviderConfig, Workspace, WorkspaceTemplate, WorkspaceTemplateApply};
use capt_testkit::home::Home;
use capt_testkit::watch_until;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, Resource};
use rustix::process::Signal;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::up::STOPPED_WITHIN;
use traces::{CommandLines, assert_clean, assert_private, everything_but_secrets, metrics};

const HCL: &str = "hcl-hunter1100";
const JSON: &str = "json-p\"ss'w$rd${x} %{y}\\ größe 密码 <&>";
const CHANGED: &str = "changed-hunter2200";
const PEM: &str = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\nMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu\n-----END PRIVATE KEY-----\n";
const ENVIRONMENT: &str = "environment-hunter3300";
const CREDENTIALS: &str = "credentials-hunter4400";
/// Known only when it is there: the module writes it in lower case.
const COMPUTED: &str = "COMPUTED-HUNTER5500";
const REFUSED: &str = "refused-hunter6600";
const SHOUTED: &str = "shouted-hunter7700";
const BROKEN: &str = "broken-hunter8800";
const ALL: [&str; 10] =
    [HCL, JSON, CHANGED, PEM, ENVIRONMENT, CREDENTIALS, COMPUTED, REFUSED, SHOUTED, BROKEN];

/// Shows all that it is given, wherever it can.
const THROUGH: &str = r#"
variable "hcl" { sensitive = true }
variable "json" {}
variable "pem" {}
variable "environment" { sensitive = true }
resource "terraform_data" "one" {
  input            = { json = var.json, pem = var.pem, hcl = var.hcl }
  triggers_replace = [var.json]
  provisioner "local-exec" {
    command     = "env; echo \"$A\"; printf '%s' \"$B\"; echo \"$A\" | base64; echo \"$B\" | base64; cat credentials.ini >&2"
    environment = { A = var.json, B = var.pem }
  }
}
output "hcl" {
  value     = var.hcl
  sensitive = true
}
output "json" {
  value     = var.json
  sensitive = true
}
output "pem" {
  value     = [var.pem]
  sensitive = true
}
output "environment" {
  value     = var.environment
  sensitive = true
}
output "credentials" {
  value     = file("${path.module}/credentials.ini")
  sensitive = true
}
output "computed" {
  value     = { deep = upper("computed-hunter5500") }
  sensitive = true
}
"#;
const REFUSING: &str = r#"
variable "why" {}
resource "terraform_data" "one" {
  lifecycle {
    precondition {
      condition     = var.why == ""
      error_message = "It is refused because of ${var.why}."
    }
  }
}
"#;
const SHOUTING: &str = r#"
variable "why" {}
resource "terraform_data" "one" {
  provisioner "local-exec" {
    command     = "echo \"it is $W\" >&2; exit 3"
    environment = { W = var.why }
  }
}
"#;
const BREAKING: &str = "variable \"why\" {}\noutput \"why\" { value = 1 }\n";

/// A home that logs everything and serves its metrics.
struct Listening {
    root: tempfile::TempDir,
    home: Home,
    port: u16,
}

impl Listening {
    fn start() -> Self {
        let root = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let script = root.path().join("capt");
        let capt = env!("CARGO_BIN_EXE_capt");
        let text = format!(
            "#!/bin/sh\nexec '{capt}' --log-level trace \"$@\" --diagnostics-address 127.0.0.1:{port}\n"
        );
        fs::write(&script, text).unwrap();
        fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
        let home = Home::start(&script, &root.path().join("home"), &root.path().join("messages")).unwrap();
        Self { root, home, port }
    }
}

async fn put<K>(api: Api<K>, name: &str, fields: Value)
where
    K: Resource<DynamicType = ()> + Clone + std::fmt::Debug + Serialize + DeserializeOwned,
{
    let mut object = json!({
        "apiVersion": K::api_version(&()), "kind": K::kind(&()), "metadata": { "name": name },
    });
    object.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    api.create(&PostParams::default(), &serde_json::from_value(object).unwrap()).await.unwrap();
}

/// A Workspace with this module and these files of the Secret `values`.
async fn run(client: &Client, name: &str, module: &str, files: &[(&str, &str)]) {
    let reference = |key: &str| json!({ "namespace": "default", "name": "values", "key": key });
    let file = |(format, key): &(&str, &str)| json!({ "source": "SecretKey", "format": format, "secretKeyRef": reference(key) });
    let spec = json!({
        "providerConfigRef": { "name": "values" },
        "forProvider": {
            "source": "Inline",
            "module": module,
            "enableTerraformCLILogging": true,
            "varFiles": files.iter().map(file).collect::<Vec<_>>(),
            "env": [{ "name": "TF_VAR_environment", "secretKeyRef": reference("environment") }],
        },
    });
    let templates: Api<WorkspaceTemplate> = Api::default_namespaced(client.clone());
    put(templates, name, json!({ "spec": { "template": { "spec": spec } } })).await;
    let connection = json!({ "name": format!("{name}-connection") });
    let apply = json!({ "templateRef": { "name": name }, "writeConnectionSecretToRef": connection });
    let applies: Api<WorkspaceTemplateApply> = Api::default_namespaced(client.clone());
    put(applies, &format!("{name}-apply"), json!({ "spec": apply })).await;
}

async fn give_values(client: &Client) {
    let values = json!({
        "hcl": format!("hcl = \"{HCL}\"\npem = <<EOT\n{PEM}EOT\n"),
        "json": json!({ "json": JSON }).to_string(),
        "environment": ENVIRONMENT,
        "credentials": format!("[default]\naws_secret_access_key = {CREDENTIALS}\n"),
        "refused": json!({ "why": REFUSED }).to_string(),
        "shouted": format!("why = \"{SHOUTED}\"\n"),
        "broken": format!("why = \"{BROKEN}\n"),
    });
    put(Api::<Secret>::default_namespaced(client.clone()), "values", json!({ "stringData": values })).await;
    let reference = json!({ "namespace": "default", "name": "values", "key": "credentials" });
    let credentials = json!({ "filename": "credentials.ini", "source": "Secret", "secretRef": reference });
    let fields = json!({ "spec": { "credentials": [credentials] } });
    put(Api::<ProviderConfig>::all(client.clone()), "values", fields).await;
}

async fn wait_for(client: &Client, name: &str, type_: &str, status: &str, text: &str) {
    let workspaces: Api<Workspace> = Api::all(client.clone());
    watch_until(&format!("{type_}={status} of {name}"), &workspaces, name, |workspace| {
        let conditions = workspace.status.iter().flat_map(|status| &status.conditions);
        conditions.into_iter().any(|condition| {
            let message = condition.message.as_deref().unwrap_or_default();
            condition.type_ == type_ && condition.status == status && message.contains(text)
        })
    })
    .await;
}

/// A new value would replace what is there, which has to be approved: the plan is shown.
async fn show_a_plan(client: &Client) {
    let parameters = PatchParams::default();
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let patch = json!({ "metadata": { "annotations": { annotation::PROTECT: "*" } } });
    workspaces.patch("through", &parameters, &Patch::Merge(patch)).await.unwrap();
    let secrets: Api<Secret> = Api::default_namespaced(client.clone());
    let patch = json!({ "stringData": { "json": json!({ "json": CHANGED }).to_string() } });
    secrets.patch("values", &parameters, &Patch::Merge(patch)).await.unwrap();
    wait_for(client, "through", "ApprovalRequired", "True", "").await;
}

async fn outputs(client: &Client) -> BTreeMap<String, String> {
    let secrets: Api<Secret> = Api::default_namespaced(client.clone());
    let data = secrets.get("through-connection").await.unwrap().data.unwrap();
    data.into_iter().map(|(key, value)| (key, String::from_utf8(value.0).unwrap())).collect()
}

fn assert_that_all_arrived(outputs: &BTreeMap<String, String>) {
    assert_eq!(outputs["hcl"], HCL);
    assert_eq!(outputs["json"], JSON);
    assert_eq!(serde_json::from_str::<Value>(&outputs["pem"]).unwrap(), json!([PEM]));
    assert_eq!(outputs["environment"], ENVIRONMENT);
    assert!(outputs["credentials"].contains(CREDENTIALS), "{outputs:?}");
    assert_eq!(outputs["computed"], format!(r#"{{"deep":"{COMPUTED}"}}"#));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_comes_out_anywhere() {
    let mut listening = Listening::start();
    let client = listening.home.client().await.unwrap();
    let command_lines = CommandLines::watch();
    give_values(&client).await;

    run(&client, "through", THROUGH, &[("HCL", "hcl"), ("JSON", "json")]).await;
    run(&client, "refusing", REFUSING, &[("JSON", "refused")]).await;
    run(&client, "shouting", SHOUTING, &[("HCL", "shouted")]).await;
    run(&client, "breaking", BREAKING, &[("HCL", "broken")]).await;
    wait_for(&client, "through", "Ready", "True", "").await;
    wait_for(&client, "refusing", "Synced", "False", "It is refused because of (sensitive value).").await;
    wait_for(&client, "shouting", "Synced", "False", "it is (sensitive value)").await;
    wait_for(&client, "breaking", "Synced", "False", "line 1").await;
    let outputs = outputs(&client).await;
    show_a_plan(&client).await;

    assert_that_all_arrived(&outputs);
    let objects = everything_but_secrets(&client).await;
    assert!(
        objects.contains("capt-plan-through") && objects.contains("It is refused because of"),
        "{objects}"
    );
    assert_clean("an object", &objects, &ALL);
    let metrics = metrics(listening.port);
    assert!(metrics.contains("capt_"), "{metrics}");
    assert_clean("a metric", &metrics, &ALL);
    let engine = listening.home.announcement().directory.join("terraform/workspaces");
    assert_private(&engine);
    listening.home.signal(Signal::TERM).unwrap();
    listening.home.wait(STOPPED_WITHIN).unwrap();
    assert_private(&engine);
    let lines = command_lines.stop();
    assert!(lines.contains("-detailed-exitcode"), "{lines}");
    assert_clean("a command line", &lines, &ALL);
    let log = log(listening.root.path());
    assert!(log.contains("it is (sensitive value)") && log.contains("aws_secret_access_key"), "{log}");
    assert_clean("the log", &log, &ALL);
}

fn log(root: &Path) -> String {
    String::from_utf8_lossy(&fs::read(root.join("messages")).unwrap()).into_owned()
}
