//! What storing a state costs the API server: written by the tool's own `kubernetes` backend, and by CAPT, beside all else that CAPT
//! writes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use capt_api::{Workspace, WorkspaceTemplate, WorkspaceTemplateApply};
use capt_testkit::way::{Way, Written};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, ListParams, PostParams};
use serde_json::{Value, json};
use tokio::process::Command;

use super::stage::{NAMESPACE, Stage};
use crate::capt::CaptProcess;
use crate::diagnostics::Counted;
use crate::progress::tell;

const DEADLINE: Duration = Duration::from_secs(600);
const PAUSE: Duration = Duration::from_millis(100);

/// A module, and what it is called.
struct Case {
    name: &'static str,
    module: String,
}

fn cases() -> [Case; 2] {
    let many = r#"
resource "terraform_data" "each" {
  count = 200
  input = "object ${count.index}"
  provisioner "local-exec" { command = "sleep 0.5" }
}"#;
    // Half of it is the input, and half the same as output; hexadecimal digits are packed into half their size.
    let large = r#"
resource "terraform_data" "each" {
  count = 50
  input = join("", [for number in range(800) : sha256("${count.index}-${number}")])
}"#;
    [Case { name: "200_resources", module: many.to_owned() }, Case { name: "5_mb", module: large.to_owned() }]
}

/// Applies each module both ways.
pub(super) async fn measure(capt: &Path, stage: &Stage) -> anyhow::Result<Value> {
    let mut report = json!({});
    for case in cases() {
        tell(&format!("state: {} by the tool's own backend", case.name));
        let own = own_backend(stage, &case).await;
        tell(&format!("state: {} by capt", case.name));
        let kept = kept(capt, stage, &case).await?;
        report[case.name] = match own {
            Ok(own) => json!({ "tools_own_backend": own, "capt": kept }),
            // OpenTofu cannot store a state that is too large for one Secret.
            Err(error) => json!({ "tools_own_backend": format!("{error:#}"), "capt": kept }),
        };
    }
    Ok(report)
}

/// The tool stores its state itself.
async fn own_backend(stage: &Stage, case: &Case) -> anyhow::Result<Value> {
    let way = Way::endless(stage.cluster.client()).await.context("opening a way to the API server")?;
    let directory = tempfile::tempdir().context("making a directory to work in")?;
    let backend = format!(
        "terraform {{\n  backend \"kubernetes\" {{\n    secret_suffix = \"own-{}\"\n    namespace = \"{NAMESPACE}\"\n    config_path = \"{}\"\n  }}\n}}\n{}",
        case.name.replace('_', "-"),
        way.kubeconfig().display(),
        case.module
    );
    fs::write(directory.path().join("main.tf"), backend).context("writing a module")?;
    let run = async |arguments: &[&str]| {
        let mut command = Command::new(&stage.binary);
        command.args(arguments).current_dir(directory.path()).stdin(Stdio::null());
        command.env("CHECKPOINT_DISABLE", "1");
        let output = command.output().await.context("starting the tool")?;
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(
            output.status.success(),
            "{} ended with {}: {}",
            arguments[0],
            output.status,
            first_line(&told)
        );
        anyhow::Ok(())
    };
    run(&["init", "-input=false", "-no-color"]).await?;
    way.take_written();
    let started = Instant::now();
    run(&["apply", "-input=false", "-no-color", "-auto-approve"]).await?;
    let seconds = started.elapsed().as_secs_f64();
    Ok(json!({ "seconds": seconds, "written": sorted(&way.take_written()) }))
}

/// The same by `capt manager`.
async fn kept(capt: &Path, stage: &Stage, case: &Case) -> anyhow::Result<Value> {
    let way = Way::endless(stage.cluster.client()).await.context("opening a way to the API server")?;
    let directory = tempfile::tempdir().context("making a directory to work in")?;
    let arguments = [
        "--terraform-directory".into(),
        directory.path().join("work").into(),
        "--terraform-binary".into(),
        stage.binary.clone().into(),
    ];
    let process =
        CaptProcess::start(capt, way.kubeconfig(), directory.path(), Counted::Workspaces, &arguments).await?;
    let started = Instant::now();
    let workspace = put(stage, case).await?;
    let workspaces: Api<Workspace> = Api::all(stage.cluster.client());
    while !workspaces.get_opt(&workspace).await?.is_some_and(|found| is_ready(&found)) {
        ensure!(started.elapsed() < DEADLINE, "capt manager said:\n{}", process.messages());
        tokio::time::sleep(PAUSE).await;
    }
    let seconds = started.elapsed().as_secs_f64();
    let written = sorted(&way.take_written());
    process.stop()?;
    let secrets: Api<Secret> = Api::namespaced(stage.cluster.client(), NAMESPACE);
    let all = secrets.list(&ListParams::default()).await.context("listing Secrets")?;
    let prefix = format!("tfstate-{workspace}-capt");
    let stored: usize = all
        .items
        .iter()
        .filter(|secret| secret.metadata.name.as_ref().is_some_and(|name| name.starts_with(&prefix)))
        .flat_map(|secret| secret.data.iter().flat_map(BTreeMap::values))
        .map(|value| value.0.len())
        .sum();
    Ok(json!({ "seconds": seconds, "written": written, "packed_state_bytes": stored }))
}

async fn put(stage: &Stage, case: &Case) -> anyhow::Result<String> {
    let client = stage.cluster.client();
    let name = format!("state-{}", case.name.replace('_', "-"));
    let template: WorkspaceTemplate = serde_json::from_value(json!({
        "metadata": { "name": name },
        "spec": { "template": { "spec": { "forProvider": { "source": "Inline", "module": case.module } } } },
    }))?;
    let templates: Api<WorkspaceTemplate> = Api::namespaced(client.clone(), NAMESPACE);
    templates.create(&PostParams::default(), &template).await.context("making the template")?;
    let apply: WorkspaceTemplateApply = serde_json::from_value(json!({
        "metadata": { "name": format!("{name}-apply") }, "spec": { "templateRef": { "name": name } },
    }))?;
    let applies: Api<WorkspaceTemplateApply> = Api::namespaced(client, NAMESPACE);
    applies.create(&PostParams::default(), &apply).await.context("making an apply")?;
    Ok(name)
}

fn is_ready(workspace: &Workspace) -> bool {
    let conditions = workspace.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
    let holds = |type_: &str| conditions.iter().any(|entry| entry.type_ == type_ && entry.status == "True");
    holds("Ready") && holds("Synced")
}

/// What was written, by what it is.
fn sorted(written: &BTreeMap<String, Written>) -> Value {
    let mut kinds: BTreeMap<&str, Written> = BTreeMap::new();
    for (path, of_path) in written {
        let kind = match path {
            path if path.contains("/tfstate-") || path.ends_with("/secrets") => "state",
            path if path.contains("/capt-staged-") => "state_staged",
            path if path.contains("/capt-record-") => "record",
            path if path.contains("/leases") => "lock",
            _ => "else",
        };
        let sum = kinds.entry(kind).or_default();
        sum.requests += of_path.requests;
        sum.bytes += of_path.bytes;
    }
    kinds
        .iter()
        .map(|(kind, sum)| ((*kind).to_owned(), json!({ "requests": sum.requests, "bytes": sum.bytes })))
        .collect()
}

fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| line.contains("rror")).unwrap_or_default()
}
