//! Runs of Terraform as a user meets them, in a home of `capt up`: plans, approvals, logs, states.

use std::path::Path;

use capt_api::engine_status::RunOperation;
use capt_api::{Workspace, WorkspaceTemplate, WorkspaceTemplateApply};
use capt_testkit::home::Home;
use capt_testkit::watch_until;
use kube::Client;
use kube::api::{Api, Patch, PatchParams};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::examples::stop;
use crate::migrate::stage::{ended, verb};
use crate::up::Place;

const MODULE: &str = r#"
variable "size" {}
resource "terraform_data" "disk" { triggers_replace = var.size }
output "size" { value = terraform_data.disk.triggers_replace }
"#;

async fn put<K>(client: &Client, name: &str, spec: Value)
where
    K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + DeserializeOwned,
{
    let object = json!({
        "apiVersion": K::api_version(&()), "kind": K::kind(&()), "metadata": { "name": name }, "spec": spec,
    });
    let api: Api<K> = Api::namespaced(client.clone(), "default");
    api.patch(name, &PatchParams::apply("test").force(), &Patch::Apply(object)).await.unwrap();
}

async fn put_apply(client: &Client, size: &str) {
    let spec = json!({
        "templateRef": { "name": "disk" }, "variables": { "size": size }, "protectedResources": ["terraform_data.disk"],
    });
    put::<WorkspaceTemplateApply>(client, "disk-apply", spec).await;
}

fn kubeconfig(home: &Home) -> &Path {
    &home.announcement().kubeconfig
}

async fn capt(home: &Home, arguments: &[&str]) -> (Option<i32>, Value, String) {
    ended(verb(kubeconfig(home), "json", arguments).spawn().unwrap()).await
}

/// What people see on standard output.
async fn seen(home: &Home, arguments: &[&str]) -> String {
    let child = verb(kubeconfig(home), "human", arguments).spawn().unwrap();
    let output = tokio::task::spawn_blocking(|| child.wait_with_output()).await.unwrap().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The module of a thing that takes its time.
const SLOW: &str = r#"
resource "terraform_data" "slow" {
  provisioner "local-exec" { command = "echo begun; sleep 4; echo slept" }
}
"#;

/// Both ways to follow a run: from its files, and from what its Workspace tells.
async fn assert_that_a_run_can_be_followed(home: &Home, client: &Client, elsewhere: &Path) {
    put_template(client, "slow", SLOW).await;
    put::<WorkspaceTemplateApply>(client, "slow-apply", json!({ "templateRef": { "name": "slow" } })).await;
    let is_applying = |workspace: &Workspace| {
        let engine = workspace.status.as_ref().and_then(|status| status.engine.as_ref());
        let run = engine.and_then(|engine| engine.run.as_ref());
        run.is_some_and(|run| run.operation == RunOperation::Apply)
    };
    watch_until("an apply", &Api::<Workspace>::all(client.clone()), "slow", is_applying).await;
    let copy = elsewhere.join("kubeconfig");
    std::fs::copy(kubeconfig(home), &copy).unwrap();
    let follow = ["logs", "workspace", "slow", "--follow"];
    let here = verb(kubeconfig(home), "human", &follow).spawn().unwrap();
    let there = verb(&copy, "human", &follow).spawn().unwrap();
    let ended =
        tokio::task::spawn_blocking(|| (here.wait_with_output(), there.wait_with_output())).await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (here, there) = (ended.0.unwrap(), ended.1.unwrap());
    let (lines, told) = (text(here.stdout), text(here.stderr));
    assert!(lines.contains("(local-exec): slept") && lines.contains("Creation complete"), "{lines}{told}");
    assert!(!lines.contains("# Workspace") && told.contains("run 2: apply"), "{lines}{told}");
    let (lines, told) = (text(there.stdout), text(there.stderr));
    assert!(
        lines.starts_with("# Workspace `slow`, run 2: apply") && lines.contains("slept"),
        "{lines}{told}"
    );
    assert!(told.contains("Workspace `slow`: applying"), "{told}");
}

async fn put_template(client: &Client, name: &str, module: &str) {
    let spec = json!({ "forProvider": { "source": "Inline", "module": module } });
    put::<WorkspaceTemplate>(client, name, json!({ "template": { "spec": spec } })).await;
}

async fn until(client: &Client, what: &str, is: impl Fn(&Workspace) -> bool + Send + 'static) {
    watch_until(what, &Api::<Workspace>::all(client.clone()), "disk", is).await;
}

fn holds(workspace: &Workspace, type_: &str) -> bool {
    let mut conditions = workspace.status.iter().flat_map(|status| &status.conditions);
    conditions.any(|entry| entry.type_ == type_ && entry.status == "True")
}

fn is_settled(workspace: &Workspace) -> bool {
    let idle = workspace.status.iter().all(|status| status.engine.as_ref().is_none_or(|it| it.run.is_none()));
    holds(workspace, "Ready") && holds(workspace, "Synced") && idle
}

#[tokio::test]
async fn plans_are_seen_and_approved_runs_are_read_and_a_state_is_put_back() {
    let place = Place::new();
    let mut home = place.up();
    let client = home.client().await.unwrap();
    put_template(&client, "disk", MODULE).await;
    put_apply(&client, "10").await;
    until(&client, "the disk", is_settled).await;

    // Nothing would change, and what ran is kept.
    let plan = ["plan", "workspace", "disk", "--detailed-exitcode"];
    let (code, printed, told) = capt(&home, &plan).await;
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(
        (&printed["workspaces"][0]["source"], &printed["workspaces"][0]["add"]),
        (&json!("Fresh"), &json!(0))
    );
    let (_, listed, _) = capt(&home, &["logs", "apply", "disk-apply", "--list"]).await;
    let runs: Vec<&str> =
        listed["runs"].as_array().unwrap().iter().map(|run| run["operation"].as_str().unwrap()).collect();
    assert_eq!(runs, ["Plan", "Apply", "Preview"]);
    let log = seen(&home, &["logs", "workspace", "disk", "--previous"]).await;
    assert!(log.starts_with("# Workspace `disk`, run 2: apply, "), "{log}");
    assert!(log.contains("because nothing was made yet: applied, after"), "{log}");
    assert!(log.contains("terraform_data.disk: Creation complete after"), "{log}");
    let log = seen(&home, &["logs", "workspace", "disk", "-f"]).await;
    assert!(log.contains("run 3: plan to see"), "{log}");

    // What is protected waits, is shown, and is approved.
    put_apply(&client, "20").await;
    until(&client, "a plan that waits", |workspace| holds(workspace, "ApprovalRequired")).await;
    let (code, printed, _) = capt(&home, &plan).await;
    assert_eq!((code, &printed["workspaces"][0]["source"]), (Some(3), &json!("Waiting")));
    let shown = seen(&home, &["plan", "workspace", "disk"]).await;
    assert!(shown.contains("-/+ terraform_data.disk"), "{shown}");
    assert!(shown.contains("triggers_replace: \"10\" → \"20\""), "{shown}");
    let fresh = seen(&home, &["plan", "workspace", "disk", "--fresh"]).await;
    assert!(fresh.contains("Plan: 1 to add, 0 to change, 1 to destroy"), "{fresh}");
    let (code, _, told) = capt(&home, &["approve", "workspace", "disk", "--yes", "--wait"]).await;
    assert_eq!(code, Some(0), "{told}");
    until(&client, "the larger disk", is_settled).await;

    // The state of before is put back: what would follow waits again, though the same was approved before.
    let (_, listed, _) = capt(&home, &["state", "list", "workspace", "disk"]).await;
    let serial = listed["workspaces"][0]["snapshots"][0]["serial"].to_string();
    let (code, _, told) =
        capt(&home, &["state", "restore", "workspace", "disk", "--snapshot", &serial, "--yes"]).await;
    assert_eq!(code, Some(0), "{told}");
    until(&client, "a plan that waits again", |workspace| holds(workspace, "ApprovalRequired")).await;
    let shown = seen(&home, &["plan", "workspace", "disk"]).await;
    assert!(shown.contains("its state comes from a copy (`capt state restore`, `capt restore`)"), "{shown}");
    let (code, _, told) = capt(&home, &["approve", "workspace", "disk", "--yes", "--wait"]).await;
    assert_eq!(code, Some(0), "{told}");
    let (code, _, told) = capt(&home, &plan).await;
    assert_eq!(code, Some(0), "{told}");

    let elsewhere = tempfile::tempdir().unwrap();
    assert_that_a_run_can_be_followed(&home, &client, elsewhere.path()).await;

    stop(&mut home, &place);
}
