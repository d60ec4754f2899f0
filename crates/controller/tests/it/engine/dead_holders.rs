//! Locks whose holder was a manager that died: the next one releases them when that is proved, and waits when it is not.

use capt_core::workspace::runner::{PodOfRunner, Runner};
use k8s_openapi::ByteString;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Node, Pod, Secret};
use kube::ResourceExt;
use kube::api::{Api, Patch, PatchParams, PostParams};
use rstest::rstest;
use serde_json::{Value, json};

use super::stage::{EngineStage, find, host};

const MODULE: &str = r#"
variable "greeting" {}
resource "terraform_data" "one" { input = var.greeting }
output "said" { value = terraform_data.one.output }
"#;

const ID: &str = "8d1c7a9e-0000-4000-8000-000000000002";
/// When the container of the manager that died had started.
const BEGAN: &str = "2026-01-02T03:00:00.5Z";

/// A Workspace whose manager died in the middle of an apply, as `runner`, and which has something to apply.
async fn left_locked(stage: &mut EngineStage, runner: Value) -> String {
    stage.start_manager().await;
    let name = stage.put("demo", MODULE, json!({ "greeting": "hello" })).await;
    stage.ready(&name).await;
    stage.stop_manager().await;

    let secrets: Api<Secret> = stage.stage.api();
    let record = format!("capt-record-{name}");
    let mut secret = secrets.get(&record).await.unwrap();
    let data = secret.data.as_mut().unwrap();
    let mut memory: Value = serde_json::from_slice(&data["memory"].0).unwrap();
    memory["begun"] = json!({
        "fingerprint": memory["applied"]["fingerprint"], "plan": "0", "at": memory["applied"]["at"],
        "host": host(), "pod_namespace": stage.namespace(), "runner": runner,
    });
    data.insert("memory".to_owned(), ByteString(memory.to_string().into_bytes()));
    secrets.replace(&record, &PostParams::default(), &secret).await.unwrap();

    let info = json!({
        "ID": ID, "Operation": "OperationTypeApply", "Who": format!("root@{}", host()), "Version": "1.11.4",
        "Created": "2026-01-02T03:04:06Z", "Info": "", "Path": "",
    });
    let lease = format!("lock-tfstate-{name}-capt");
    let held = json!({
        "metadata": { "annotations": { "app.terraform.io/lock-info": info.to_string() } },
        "spec": { "holderIdentity": ID },
    });
    stage.stage.change::<Lease>(&lease, held).await;
    stage.change_variables("demo", json!({ "greeting": "goodbye" })).await;
    name
}

/// The manager that died, in a Pod that is there, with what the kubelet says of its container.
async fn in_pod(stage: &EngineStage, node: Option<&str>, status: Value) -> Value {
    let pods: Api<Pod> = stage.stage.api();
    let pod = serde_json::from_value(json!({
        "metadata": { "name": "capt-0" },
        "spec": { "nodeName": node, "containers": [{ "name": "manager", "image": "capt" }] },
    }))
    .unwrap();
    let pod = pods.create(&PostParams::default(), &pod).await.unwrap();
    let status = json!({ "status": { "containerStatuses": [status] } });
    pods.patch_status("capt-0", &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
    runner(&PodOfRunner {
        namespace: stage.namespace().to_owned(),
        name: "capt-0".to_owned(),
        uid: pod.uid().unwrap(),
    })
}

fn runner(pod: &PodOfRunner) -> Value {
    json!({ "pod": pod, "process": {
        "boot": "another", "pidNamespace": "pid:[1]", "process": 7, "processStart": 1, "startedAt": BEGAN, "seesAll": false,
    } })
}

fn container(state: &Value, last: &Value) -> Value {
    json!({
        "name": "manager", "image": "", "imageID": "", "ready": true, "restartCount": 1,
        "state": state, "lastState": last,
    })
}

fn running(since: &str) -> Value {
    json!({ "running": { "startedAt": since } })
}

fn ended() -> Value {
    json!({ "terminated": {
        "exitCode": 137, "reason": "OOMKilled", "startedAt": "2026-01-02T03:00:00Z", "finishedAt": "2026-01-02T03:05:00Z",
    } })
}

/// A manager in another Pod goes on.
async fn take_over(stage: &mut EngineStage) {
    let pod = PodOfRunner {
        namespace: stage.namespace().to_owned(),
        name: "capt-1".to_owned(),
        uid: "another".to_owned(),
    };
    stage.directory = tempfile::tempdir().unwrap();
    let engine = stage.process_engine().await;
    stage.start_manager_with(engine, |options| options.runner.pod = Some(pod)).await;
}

#[rstest]
#[case::started_again(container(&running("2026-01-02T03:05:01Z"), &ended()))]
#[case::about_to_start_again(container(&json!({ "waiting": { "reason": "CrashLoopBackOff" } }), &ended()))]
#[case::ended(container(&ended(), &json!({})))]
#[tokio::test(flavor = "multi_thread")]
async fn a_lock_is_released_when_the_kubelet_says_that_its_container_has_ended(#[case] status: Value) {
    let mut stage = EngineStage::without_manager().await;
    let runner = in_pod(&stage, None, status).await;
    let name = left_locked(&mut stage, runner).await;
    take_over(&mut stage).await;
    stage.output(&name, "said", json!("goodbye")).await;
    let workspace = stage.ready(&name).await;
    assert!(find(&workspace, "Locked").is_none_or(|found| found.status == "False"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_is_kept_while_its_container_runs_and_the_message_says_who_holds_it() {
    let mut stage = EngineStage::without_manager().await;
    let runner = in_pod(&stage, None, container(&running("2026-01-02T03:00:00Z"), &json!({}))).await;
    let name = left_locked(&mut stage, runner).await;
    take_over(&mut stage).await;
    let workspace = stage.condition(&name, "Locked", "True", &format!("root@{}", host())).await;
    let told = find(&workspace, "Locked").unwrap().message.clone().unwrap_or_default();
    assert!(!told.contains("sensitive"), "{told}");

    // What the kubelet says later counts as well.
    let status = json!({ "status": { "containerStatuses": [container(&ended(), &json!({}))] } });
    let pods: Api<Pod> = stage.stage.api();
    pods.patch_status("capt-0", &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
    stage.check(&name, "now").await;
    stage.output(&name, "said", json!("goodbye")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_is_released_when_the_pod_of_its_holder_is_another_by_now() {
    let mut stage = EngineStage::without_manager().await;
    in_pod(&stage, None, container(&running("2026-01-02T03:00:00Z"), &json!({}))).await;
    let before = PodOfRunner {
        namespace: stage.namespace().to_owned(),
        name: "capt-0".to_owned(),
        uid: "of-before".to_owned(),
    };
    let name = left_locked(&mut stage, runner(&before)).await;
    take_over(&mut stage).await;
    stage.output(&name, "said", json!("goodbye")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_is_released_when_the_node_of_its_holder_is_gone() {
    let mut stage = EngineStage::without_manager().await;
    let nodes: Api<Node> = Api::all(stage.stage.workspaces().into_client());
    let node = format!("node-{}", stage.namespace());
    let object = serde_json::from_value(json!({ "metadata": { "name": node } })).unwrap();
    nodes.create(&PostParams::default(), &object).await.unwrap();
    let status = container(&running("2026-01-02T03:00:00Z"), &json!({}));
    let runner = in_pod(&stage, Some(&node), status).await;
    let name = left_locked(&mut stage, runner).await;
    take_over(&mut stage).await;
    stage.condition(&name, "Locked", "True", "").await;

    nodes.delete(&node, &kube::api::DeleteParams::default()).await.unwrap();
    stage.check(&name, "now").await;
    stage.output(&name, "said", json!("goodbye")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_container_of_the_same_pod_is_dead_for_the_next() {
    let mut stage = EngineStage::without_manager().await;
    let pod = PodOfRunner {
        namespace: stage.namespace().to_owned(),
        name: "capt-0".to_owned(),
        uid: "same".to_owned(),
    };
    let name = left_locked(&mut stage, runner(&pod)).await;
    stage.directory = tempfile::tempdir().unwrap();
    let engine = stage.process_engine().await;
    stage.start_manager_with(engine, |options| options.runner.pod = Some(pod)).await;
    stage.output(&name, "said", json!("goodbye")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn outside_of_pods_a_lock_is_released_when_no_process_can_hold_it_although_the_directory_is_lost() {
    let mut stage = EngineStage::without_manager().await;
    let engine = stage.process_engine().await;
    let Runner { process, .. } = stage.options(engine, |_| {}).await.terraform.unwrap().runner;
    let mut then = process.unwrap();
    // A process that is not there: no process has this number.
    then.process = u32::MAX;
    let name = left_locked(&mut stage, json!({ "process": then })).await;
    stage.directory = tempfile::tempdir().unwrap();
    stage.start_manager().await;
    stage.output(&name, "said", json!("goodbye")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn outside_of_pods_a_lock_is_kept_while_the_manager_that_began_the_apply_is_there() {
    let mut stage = EngineStage::without_manager().await;
    let engine = stage.process_engine().await;
    let Runner { process, .. } = stage.options(engine, |_| {}).await.terraform.unwrap().runner;
    let mut then = process.unwrap();
    let mut other = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    then.process = other.id();
    then.process_start = capt_terraform::machine::start_of(other.id()).unwrap();
    let name = left_locked(&mut stage, json!({ "process": then })).await;
    stage.directory = tempfile::tempdir().unwrap();
    stage.start_manager().await;
    stage.condition(&name, "Locked", "True", &host()).await;

    other.kill().unwrap();
    other.wait().unwrap();
    stage.check(&name, "now").await;
    stage.output(&name, "said", json!("goodbye")).await;
}
