//! `capt state` against a real API server, without a manager.

use capt_api::names::annotation;
use capt_controller::by_hand::{Attempt, Content, Holder, Purpose, Seen, StateOf};
use capt_controller::options::this_process;
use capt_core::workspace::runner::ProcessOfRunner;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use kube::api::{DeleteParams, Patch, PatchParams};
use rstest::rstest;
use serde_json::{Value, json};

use crate::migrate::stage::{MODULE, Stage, gzip};

fn state(serial: u64, resources: &[(&str, &str)]) -> Value {
    let resources: Vec<Value> = resources
        .iter()
        .map(|(name, size)| {
            json!({
                "mode": "managed", "type": "terraform_data", "name": name, "provider": "p",
                "instances": [{ "schema_version": 0, "attributes": { "size": size, "password": "hunter2" } }],
            })
        })
        .collect();
    json!({
        "version": 4, "terraform_version": "1.11.4", "serial": serial, "lineage": "6f1c",
        "outputs": { "size": { "value": "3", "type": "string" } }, "resources": resources,
    })
}

const FIRST: &[(&str, &str)] = &[("one", "1"), ("gone", "1")];
const SECOND: &[(&str, &str)] = &[("one", "2"), ("new", "1")];

/// A Workspace with a state of serial 8, and a copy of serial 7 from before.
async fn stage() -> Stage {
    let stage = Stage::bare().await;
    stage.put_template("eks", MODULE).await;
    stage.put_use(&state(7, FIRST)).await;
    let kept = kept(&stage).await;
    let content = whole(kept.read().await.unwrap()).unwrap();
    kept.copy(&content).await.unwrap();
    kept.write(&content, state(8, SECOND).to_string().into_bytes()).await.unwrap();
    stage
}

fn whole(seen: Seen) -> Option<Content> {
    match seen {
        Seen::Whole(content) => Some(content),
        Seen::Absent | Seen::NotOurs { .. } | Seen::InParts(_) | Seen::Unreadable => None,
    }
}

async fn kept(stage: &Stage) -> StateOf {
    StateOf::new(&stage.client, &stage.workspace().await, &stage.apply().await)
}

async fn list(stage: &Stage) -> Value {
    let (code, printed, told) = stage.capt(&["state", "list", "workspace", &stage.workspace_name()]).await;
    assert_eq!(code, Some(0), "{told}");
    printed["workspaces"][0].clone()
}

async fn restore(stage: &Stage, arguments: &[&str]) -> (Option<i32>, Value, String) {
    let name = stage.workspace_name();
    stage.capt(&[&["state", "restore", "workspace", &name, "--snapshot", "7"], arguments].concat()).await
}

async fn replace_state(stage: &Stage, text: &[u8]) {
    let data = json!({ "data": { "tfstate": k8s_openapi::ByteString(gzip(text)) } });
    stage
        .api::<Secret>()
        .patch(&stage.state_name(), &PatchParams::default(), &Patch::Merge(data))
        .await
        .unwrap();
}

#[tokio::test]
async fn copies_are_listed_with_what_came_after() {
    let stage = stage().await;

    let listed = list(&stage).await;

    assert_eq!((&listed["current"]["serial"], &listed["current"]["resources"]), (&json!(8), &json!(2)));
    let copy = &listed["snapshots"][0];
    assert_eq!((&copy["serial"], &copy["lineage"]), (&json!(7), &json!("6f1c")));
    assert_eq!(
        copy["after"],
        json!({ "added": ["terraform_data.new"], "changed": ["terraform_data.one"], "removed": ["terraform_data.gone"] })
    );
    let seen = stage.seen(&["state", "list", "cluster", "prod", "-n", &stage.namespace]).await;
    assert!(seen.contains("1 added, 1 changed, 1 removed"), "{seen}");
}

#[tokio::test]
async fn a_state_is_shown_without_secrets_now_and_as_it_was() {
    let stage = stage().await;
    let name = stage.workspace_name();

    let (code, now, told) = stage.capt(&["state", "show", "workspace", &name]).await;
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(now["resources"][0]["attributes"], json!({ "size": "2", "password": "(sensitive)" }));
    assert_eq!(now["outputs"], json!({ "size": "3" }));
    let (_, then, _) = stage.capt(&["state", "show", "workspace", &name, "--snapshot", "7"]).await;
    assert_eq!(then["resources"][1]["address"], "terraform_data.gone");
    let seen = stage.seen(&["state", "show", "workspace", &name, "--address", "terraform_data.one"]).await;
    assert!(seen.contains("terraform_data.one\n  password = (sensitive)\n  size     = \"2\""), "{seen}");
    assert!(!format!("{now}{then}{seen}").contains("hunter2"));

    let (code, _, told) = stage.capt(&["state", "show", "workspace", &name, "--snapshot", "6"]).await;
    assert_eq!(code, Some(1));
    assert!(told.contains("there is no copy with the serial 6") && told.contains("copies with 7"), "{told}");
}

#[tokio::test]
async fn a_copy_is_put_back_once_and_everything_of_before_is_kept() {
    let stage = stage().await;
    stage.annotate_workspace(annotation::APPROVE_PLAN, json!("0123456789ab")).await;
    stage.annotate_apply(annotation::APPROVE_PLAN, json!("0123456789ab")).await;
    let before = stage.versions().await;
    let (code, _, told) = restore(&stage, &[]).await;
    assert_eq!(code, Some(1));
    assert!(told.contains("there is nobody to ask") && told.contains("--yes"), "{told}");
    assert_eq!(stage.versions().await, before);

    let (code, printed, told) = restore(&stage, &["--yes"]).await;

    assert_eq!(code, Some(0), "{told}");
    assert_eq!((&printed["outcome"], &printed["serial"]), (&json!("Done"), &json!(9)));
    assert_eq!(stage.state().await, state(9, FIRST));
    let secret = stage.api::<Secret>().get(&stage.state_name()).await.unwrap();
    assert!(secret.annotations().contains_key(annotation::RESTORED_AT), "the next plan waits for approval");
    assert!(!stage.workspace().await.annotations().contains_key(annotation::APPROVE_PLAN));
    assert!(!stage.apply().await.annotations().contains_key(annotation::APPROVE_PLAN));
    let listed = list(&stage).await;
    let serials: Vec<&Value> =
        listed["snapshots"].as_array().unwrap().iter().map(|copy| &copy["serial"]).collect();
    assert_eq!(serials, [8, 7]);
    let lease = stage.api::<Lease>().get(&format!("lock-{}", stage.state_name())).await.unwrap();
    assert_eq!(lease.spec.and_then(|spec| spec.holder_identity), None);

    let before = stage.versions().await;
    let (code, printed, told) = restore(&stage, &["--yes"]).await;
    assert_eq!((code, &printed["outcome"]), (Some(0), &json!("NothingToDo")), "{told}");
    assert_eq!(stage.versions().await, before);
}

#[tokio::test]
async fn the_copy_that_is_put_back_stays_however_many_there_are() {
    let stage = stage().await;
    for serial in [10, 12] {
        replace_state(&stage, state(serial, SECOND).to_string().as_bytes()).await;
        let kept = kept(&stage).await;
        let content = whole(kept.read().await.unwrap()).unwrap();
        kept.copy(&content).await.unwrap();
    }
    replace_state(&stage, state(14, SECOND).to_string().as_bytes()).await;

    let (code, _, told) = restore(&stage, &["--yes"]).await;

    assert_eq!(code, Some(0), "{told}");
    let listed = list(&stage).await;
    let serials: Vec<&Value> =
        listed["snapshots"].as_array().unwrap().iter().map(|copy| &copy["serial"]).collect();
    assert_eq!(serials, [14, 12, 10, 7]);
}

#[tokio::test]
async fn a_state_that_is_missing_is_made_again() {
    let stage = stage().await;
    stage.api::<Secret>().delete(&stage.state_name(), &DeleteParams::default()).await.unwrap();
    let seen = stage.seen(&["state", "list", "workspace", &stage.workspace_name()]).await;
    assert!(seen.contains("there is no state in Secret"), "{seen}");

    let (code, printed, told) = restore(&stage, &["--yes"]).await;

    assert_eq!(code, Some(0), "{told}");
    assert_eq!(printed["serial"], 8);
    assert_eq!(stage.state().await, state(8, FIRST));
    let secret = stage.api::<Secret>().get(&stage.state_name()).await.unwrap();
    assert_eq!(secret.labels()["tfstate"], "true");
    assert!(secret.annotations().contains_key(annotation::RESTORED_AT));
}

#[rstest]
#[case::of_another_lineage(state(8, SECOND).to_string().replace("6f1c", "0000"), "is of another state: its lineage is 6f1c")]
#[case::encrypted(json!({ "serial": 3, "lineage": "6f1c", "encrypted_data": "YQ==" }).to_string(), "the state is encrypted, and only OpenTofu can read it")]
#[case::no_state("resources".to_owned(), "it is no state of Terraform's")]
#[tokio::test]
async fn nothing_is_put_back_in_the_place_of_what_is_not_understood(
    #[case] now: String,
    #[case] expected: &str,
) {
    let stage = stage().await;
    replace_state(&stage, now.as_bytes()).await;
    let before = stage.versions().await;

    let (code, _, told) = restore(&stage, &["--yes"]).await;

    assert_eq!(code, Some(1));
    assert!(told.contains(expected), "{told}");
    assert_eq!(stage.versions().await, before);
}

#[tokio::test]
async fn nothing_is_put_back_while_something_runs_or_somebody_holds_the_lock() {
    let stage = stage().await;
    stage.put_run(json!({ "operation": "Apply", "phase": "Running", "since": "2026-11-16T12:00:00Z" })).await;
    let (code, _, told) = restore(&stage, &["--yes", "--timeout", "1s"]).await;
    assert_eq!(code, Some(1));
    assert!(told.contains("has not ended within 1 s"), "{told}");

    stage.put_run(Value::Null).await;
    let holder = json!({ "ID": "id-1", "Operation": "OperationTypeApply", "Who": "somebody@elsewhere" });
    stage
        .create::<Lease>(json!({
            "metadata": {
                "name": format!("lock-{}", stage.state_name()),
                "annotations": { annotation::LOCK_INFO: holder.to_string() },
            },
            "spec": { "holderIdentity": "id-1" },
        }))
        .await;
    let (code, _, told) = restore(&stage, &["--yes", "--timeout", "1s"]).await;
    assert_eq!(code, Some(1));
    assert!(told.contains("held by somebody@elsewhere"), "{told}");
    assert_eq!(stage.state().await, state(8, SECOND));
}

#[tokio::test]
async fn a_lock_that_a_killed_restore_has_left_behind_is_in_nobodys_way() {
    let stage = stage().await;
    let mut over = std::process::Command::new("true").spawn().unwrap();
    over.wait().unwrap();
    let holder = Holder {
        purpose: Purpose::Restore,
        user: "me".to_owned(),
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        pod: None,
        process: this_process().map(|us| ProcessOfRunner {
            process: over.id(),
            process_start: us.process_start + 1,
            ..us
        }),
    };
    assert!(matches!(kept(&stage).await.lock(&holder).await.unwrap(), Attempt::Taken(_)));
    let (code, _, told) = restore(&stage, &["--yes", "--timeout", "20s"]).await;
    assert_eq!(code, Some(0), "{told}");

    // Killed after the state was written and before the lock was released.
    assert!(matches!(kept(&stage).await.lock(&holder).await.unwrap(), Attempt::Taken(_)));
    let (code, printed, told) = restore(&stage, &["--yes", "--timeout", "20s"]).await;
    assert_eq!((code, &printed["outcome"]), (Some(0), &json!("NothingToDo")), "{told}");
    assert!(kept(&stage).await.holder().await.unwrap().is_none());
}

#[tokio::test]
async fn a_name_that_is_nearly_right_is_suggested() {
    let stage = stage().await;
    let nearly = format!("{}x", stage.workspace_name());
    let (code, _, told) = stage.capt(&["state", "list", "workspace", &nearly]).await;
    assert_eq!(code, Some(1));
    assert!(told.contains(&format!("did you mean `{}`?", stage.workspace_name())), "{told}");
}
