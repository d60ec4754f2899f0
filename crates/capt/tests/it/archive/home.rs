//! The home of the demo: kept, purged, and put back with its local cluster.

use std::fs;
use std::path::Path;
use std::time::Duration;

use capt_api::names::{Reason, condition};
use capt_api::{Cluster, Workspace};
use capt_testkit::home::Home;
use capt_testkit::watch_until;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::api::events::v1::Event;
use kube::api::{Api, DynamicObject, ListParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config, ResourceExt as _};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::stage::{command, seal, unsealed};
use crate::examples::{NAMESPACE, apply, example};
use crate::printed;
use crate::up::{CAPT, Place, STOPPED_WITHIN};

const RESTORED_WITHIN: Duration = Duration::from_secs(300);

/// The objects of `examples/demo`, which know where this home is.
fn demo(home: &Path) -> Vec<DynamicObject> {
    let mut objects = example("demo/template.yaml");
    for template in objects.iter_mut().filter(|object| object.name_any() == "demo-control-plane") {
        let module = &mut template.data["spec"]["template"]["spec"]["forProvider"];
        module["vars"] = json!([{ "key": "home", "value": home }, { "key": "capt_binary", "value": CAPT }]);
    }
    objects.extend(example("demo/cluster.yaml"));
    objects
}

fn is_available(cluster: &Cluster) -> bool {
    let conditions = cluster.status.iter().flat_map(|status| &status.conditions);
    conditions.into_iter().any(|found| found.type_ == condition::AVAILABLE && found.status == "True")
}

async fn kubeconfig(client: &Client) -> String {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), NAMESPACE);
    let secret = secrets.get("demo-kubeconfig").await.unwrap();
    String::from_utf8(secret.data.unwrap()["value"].0.clone()).unwrap()
}

/// Objects in the cluster that the demo makes.
async fn config_maps(client: &Client) -> Api<ConfigMap> {
    let kubeconfig = Kubeconfig::from_yaml(&kubeconfig(client).await).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Api::namespaced(Client::try_from(config).unwrap(), "default")
}

/// The states, as they were written last.
async fn states(client: &Client) -> Vec<(String, Vec<u8>)> {
    let secrets: Api<Secret> = Api::all(client.clone());
    let found = secrets.list(&ListParams::default().labels("tfstate=true")).await.unwrap();
    let state = |secret: Secret| (secret.name_any(), secret.data.unwrap()["tfstate"].0.clone());
    found.into_iter().map(state).collect()
}

fn stop(home: &mut Home) {
    home.signal(Signal::TERM).unwrap();
    assert_eq!(home.wait(STOPPED_WITHIN).unwrap().code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_home_that_was_purged_comes_back_with_its_cluster_and_no_plan_has_anything_to_do() {
    let place = Place::new();
    let file = tempfile::tempdir().unwrap();
    let file = file.path().join("home.age");
    let mut home = place.up();
    let client = home.client().await.unwrap();
    apply(&client, &demo(&place.directory())).await;
    let clusters: Api<Cluster> = Api::namespaced(client.clone(), NAMESPACE);
    watch_until("the cluster is available", &clusters, "demo", is_available).await;
    let mine = json!({ "metadata": { "name": "mine" }, "data": { "kept": "yes" } });
    let mine = serde_json::from_value(mine).unwrap();
    let made = config_maps(&client).await.create(&PostParams::default(), &mine).await.unwrap();
    let (handed_out, before) = (kubeconfig(&client).await, states(&client).await);
    assert_eq!(before.len(), 2);

    let management = place.directory().join("kubeconfig");
    let kept =
        printed(command(&management).args(["backup", "-A", "--wait"]).arg(&file).timeout(RESTORED_WITHIN));
    let kept: Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept["workloads"], json!(["demo"]));
    config_maps(&client).await.get("mine").await.unwrap();
    stop(&mut home);
    fs::remove_dir_all(place.directory()).unwrap();

    let mut home = place.up();
    let client = home.client().await.unwrap();
    let mut restore = command(&management);
    let restored = printed(restore.args(["restore", "--wait"]).arg(&file).timeout(RESTORED_WITHIN));
    let restored: Value = serde_json::from_str(&restored).unwrap();
    assert_eq!(restored["outcome"], "restored");

    assert_eq!(kubeconfig(&client).await, handed_out, "the same cluster, which answers at the same place");
    let found = config_maps(&client).await.get("mine").await.unwrap();
    assert_eq!(found.uid(), made.uid(), "what was in the cluster is still there");
    assert_eq!(states(&client).await, before, "Terraform has changed nothing");
    assert_that_nothing_was_applied(&client).await;

    let again = printed(command(&management).arg("restore").arg(&file).timeout(RESTORED_WITHIN));
    let again: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(again["outcome"], "nothingToDo");
    let well = command(&management).arg("doctor").output().unwrap();
    let well: Value = serde_json::from_slice(&well.stdout).unwrap();
    let bad = |finding: &&Value| finding["level"] == "bad";
    assert_eq!(well["findings"].as_array().unwrap().iter().find(bad), None);
    stop(&mut home);
}

/// Runs of Terraform that change something tell so by Events and in the status.
async fn assert_that_nothing_was_applied(client: &Client) {
    let workspaces: Api<Workspace> = Api::all(client.clone());
    for workspace in workspaces.list(&ListParams::default()).await.unwrap() {
        let engine = workspace.status.as_ref().and_then(|status| status.engine.as_ref()).unwrap();
        assert_eq!((&engine.plan, &engine.last_applied_time), (&None, &None), "{}", workspace.name_any());
    }
    let events: Api<Event> = Api::all(client.clone());
    for event in events.list(&ListParams::default()).await.unwrap() {
        let reason = event.reason.unwrap_or_default();
        let changing = [Reason::Applying, Reason::Applied, Reason::Destroying, Reason::Destroyed];
        assert!(!changing.iter().any(|changing| changing.as_str() == reason), "{reason}: {:?}", event.note);
    }
}

/// A module that notes a text.
const NOTE: &str = "resource \"terraform_data\" \"note\" {\n  input = \"first\"\n}\n";

fn is_ready(workspace: &Workspace) -> bool {
    let conditions = workspace.status.iter().flat_map(|status| &status.conditions);
    conditions.into_iter().any(|found| found.type_ == condition::READY && found.status == "True")
}

/// A Workspace that an apply makes, and one that is nobody's.
async fn put_notes(client: &Client) {
    let module = json!({ "forProvider": { "source": "Inline", "module": NOTE } });
    let objects = [
        json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplate",
            "metadata": { "name": "note", "namespace": NAMESPACE }, "spec": { "template": { "spec": module } },
        }),
        json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
            "metadata": { "name": "note-apply", "namespace": NAMESPACE }, "spec": { "templateRef": { "name": "note" } },
        }),
    ];
    let objects = objects.map(|object| serde_json::from_value(object).unwrap());
    apply(client, &objects).await;
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let alone = json!({
        "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace", "metadata": { "name": "alone" }, "spec": module,
    });
    workspaces.create(&PostParams::default(), &serde_json::from_value(alone).unwrap()).await.unwrap();
    for name in ["note", "alone"] {
        watch_until("the Workspace is Ready", &workspaces, name, is_ready).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restore_a_plan_that_is_not_empty_waits_and_is_named() {
    let place = Place::new();
    let files = tempfile::tempdir().unwrap();
    let (file, other) = (files.path().join("home.age"), files.path().join("other.age"));
    let management = place.directory().join("kubeconfig");
    let mut home = place.up();
    let client = home.client().await.unwrap();
    put_notes(&client).await;
    let before = states(&client).await;
    assert_eq!(before.len(), 2);
    printed(command(&management).args(["backup", "-A", "--wait"]).arg(&file).timeout(RESTORED_WITHIN));
    stop(&mut home);
    fs::remove_dir_all(place.directory()).unwrap();
    // Since the backup, somebody has changed the template.
    let text = unsealed(&file);
    let template = text.lines().find(|line| line.contains("\"kind\":\"WorkspaceTemplate\"")).unwrap();
    seal(&other, text.replace(template, &template.replace("first", "second")).as_bytes());

    let mut home = place.up();
    let client = home.client().await.unwrap();
    let output = command(&management).args(["restore", "--wait"]).arg(&other).output().unwrap();

    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("not every plan is empty, and nothing was changed: Workspace `note`"), "{said}");
    assert!(said.contains("its state comes from a copy"), "{said}");
    let workspaces: Api<Workspace> = Api::all(client.clone());
    watch_until("the Workspace that is nobody's is Ready", &workspaces, "alone", is_ready).await;
    assert_eq!(states(&client).await, before, "Terraform has changed nothing");
    stop(&mut home);
}
