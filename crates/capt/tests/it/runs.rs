//! Runs of Terraform as a user meets them, in a home of `capt up`: plans, approvals, logs, states.

use std::path::Path;

use capt_api::engine_status::RunOperation;
use capt_api::{
    CAPTCluster, CAPTControlPlane, Cluster, Workspace, WorkspaceTemplate, WorkspaceTemplateApply,
};
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

/// What is on disk is planned as it would be, and stays on disk.
async fn assert_that_manifests_are_planned(home: &Home, directory: &Path) {
    let file = directory.join("apply.yaml");
    let manifest = |size: &str| {
        let text = format!(
            "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: WorkspaceTemplateApply\nmetadata: {{ name: disk-apply }}\nspec:\n  templateRef: {{ name: disk }}\n  variables: {{ size: \"{size}\" }}\n  protectedResources: [terraform_data.disk]\n"
        );
        std::fs::write(&file, text).unwrap();
    };
    let plan = ["plan", "-f", file.to_str().unwrap(), "--detailed-exitcode"];
    manifest("10");
    let (code, printed, told) = capt(home, &plan).await;
    assert_eq!((code, &printed["workspaces"][0]["change"]), (Some(0), &json!("None")), "{told}");

    manifest("2000");
    let (code, printed, told) = capt(home, &plan).await;
    let found = &printed["workspaces"][0];
    assert_eq!((code, &found["change"]), (Some(3), &json!("Update")), "{told}");
    assert_eq!((&found["plan"]["add"], &found["plan"]["destroy"]), (&json!(1), &json!(1)), "{found}");
    let shown = seen(home, &plan).await;
    assert!(shown.lines().any(|line| line.starts_with('+') && line.contains("2000")), "{shown}");
    assert!(shown.contains("-/+ terraform_data.disk"), "{shown}");
    assert!(shown.contains("triggers_replace: \"10\" → \"2000\""), "{shown}");
    assert!(shown.contains("In those that change: 1 to add, 0 to change, 1 to destroy."), "{shown}");

    // A new one is told by its variables; nothing is asked of Terraform.
    let new = std::fs::read_to_string(&file).unwrap().replace("disk-apply", "second-apply");
    std::fs::write(&file, new).unwrap();
    let shown = seen(home, &plan).await;
    assert!(
        shown.contains(
            "Workspace `second` of WorkspaceTemplateApply `default/second-apply` is made\n  size = \"2000\"\n"
        ),
        "{shown}"
    );
}

/// A network, and a control plane that waits for it and then fails since nothing in it is a control plane.
const NETWORK: &str = "resource \"terraform_data\" \"slow\" {\n  provisioner \"local-exec\" { command = \"sleep 2\" }\n}\noutput \"vpc_id\" { value = \"vpc-1\" }\n";

const PLANE: &str = "output \"kubeconfig\" {\n  value     = \"none\"\n  sensitive = true\n}\n";

async fn assert_that_a_cluster_is_followed_through_its_pauses(
    home: &Home,
    client: &Client,
    elsewhere: &Path,
) {
    put_template(client, "network", NETWORK).await;
    put_template(client, "plane", PLANE).await;
    let network = json!({ "region": "local", "vpcTemplateRef": { "name": "network" } });
    put::<CAPTCluster>(client, "paused", network).await;
    let plane = json!({ "version": "v1.34.0", "workspaceTemplateRef": { "name": "plane" } });
    put::<CAPTControlPlane>(client, "paused", plane).await;
    let reference = |group: &str, kind: &str| json!({ "apiGroup": group, "kind": kind, "name": "paused" });
    let cluster = json!({
        "infrastructureRef": reference("infrastructure.cluster.x-k8s.io", "CAPTCluster"),
        "controlPlaneRef": reference("controlplane.cluster.x-k8s.io", "CAPTControlPlane"),
    });
    put::<Cluster>(client, "paused", cluster).await;
    // Where the files of a run are not at hand, all of it is shown at its end.
    let copy = elsewhere.join("kubeconfig");
    std::fs::copy(kubeconfig(home), &copy).unwrap();
    let child = verb(&copy, "human", &["logs", "cluster", "paused", "-n", "default", "-f"]).spawn().unwrap();
    let output = tokio::task::spawn_blocking(|| child.wait_with_output()).await.unwrap().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{told}");
    assert!(shown.contains("# Workspace `paused-vpc`"), "{shown}{told}");
    assert!(shown.contains("# Workspace `paused-eks-controlplane`"), "it ended in the pause: {shown}{told}");
    assert!(told.contains("nothing more comes before somebody looks at CAPTControlPlane/paused"), "{told}");
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
    let elsewhere = tempfile::tempdir().unwrap();
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

    assert_that_manifests_are_planned(&home, elsewhere.path()).await;

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

    assert_that_a_cluster_is_followed_through_its_pauses(&home, &client, elsewhere.path()).await;
    assert_that_a_run_can_be_followed(&home, &client, elsewhere.path()).await;

    stop(&mut home, &place);
}
