use capt_api::names::annotation;
use capt_core::workspace::runner::{ProcessOfRunner, Starter};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::rbac::v1::PolicyRule;
use kube::Api;
use kube::api::PostParams;
use serde_json::json;

use super::{Attempt, Holder, Purpose, Seen, StateOf};
use crate::options::this_process;
use crate::workspace::place::stage::{Stage, gzip};

fn everything() -> Vec<PolicyRule> {
    vec![crate::rbac::rule("*", &["*"], &["*"])]
}

async fn scene() -> (Stage, StateOf) {
    let scene = Stage::set(everything()).await;
    let place = scene.place("x").await;
    let state = StateOf { client: scene.client.clone(), place };
    (scene, state)
}

fn holder(process: u32) -> Holder {
    let process = this_process().map(|us| ProcessOfRunner { process, ..us });
    Holder { purpose: Purpose::Migrate, user: "me".to_owned(), host: "here".to_owned(), pod: None, process }
}

fn taken(attempt: Attempt) -> super::Lock {
    match attempt {
        Attempt::Taken(lock) => lock,
        Attempt::Held(held) => panic!("held by {held:?}"),
    }
}

#[tokio::test]
async fn a_lock_that_somebody_has_is_not_taken_and_one_that_is_released_is() {
    let (scene, state) = scene().await;
    let lock = taken(state.lock(&holder(1)).await.unwrap());

    let Attempt::Held(held) = state.lock(&holder(2)).await.unwrap() else { panic!("taken twice") };
    assert_eq!((held.who.as_str(), held.operation.as_str()), ("me@here", "capt migrate"));
    let Starter { host, runner, .. } = held.alike.unwrap();
    let process = runner.and_then(|runner| runner.process).map(|process| process.process);
    assert_eq!((host.as_str(), process), ("here", Some(1)));

    state.unlock(&lock).await.unwrap();
    let leases: Api<Lease> = Api::namespaced(scene.administrator.clone(), &scene.namespace);
    let lease = leases.get("lock-tfstate-x-capt").await.unwrap();
    assert_eq!(lease.spec.unwrap().holder_identity, None);
    assert_eq!(lease.metadata.annotations.unwrap_or_default().get(annotation::LOCK_INFO), None);
    taken(state.lock(&holder(2)).await.unwrap());
}

#[tokio::test]
async fn a_lock_is_taken_over_only_as_it_was_seen() {
    let (_scene, state) = scene().await;
    taken(state.lock(&holder(1)).await.unwrap());
    let Attempt::Held(seen) = state.lock(&holder(2)).await.unwrap() else { panic!("taken twice") };
    let second = taken(state.take_over(&seen, &holder(2)).await.unwrap());

    assert!(matches!(state.take_over(&seen, &holder(3)).await.unwrap(), Attempt::Held(_)));
    state.unlock(&second).await.unwrap();
    taken(state.take_over(&seen, &holder(3)).await.unwrap());
}

#[tokio::test]
async fn a_lock_of_terraform_is_told_whatever_it_says() {
    let (scene, state) = scene().await;
    let leases: Api<Lease> = Api::namespaced(scene.administrator.clone(), &scene.namespace);
    for (told, who) in [
        (json!("no JSON"), ""),
        (json!(r#"{"ID":"1","Who":"u@pod","Operation":"OperationTypeApply","Info":"x"}"#), "u@pod"),
        (json!(r#"{"ID":"1","Who":"nobody","Operation":"capt migrate","Info":"x"}"#), "nobody"),
        (json!(""), ""),
    ] {
        let lease: Lease = serde_json::from_value(json!({
            "metadata": { "name": "lock-tfstate-x-capt", "annotations": { annotation::LOCK_INFO: told } },
            "spec": { "holderIdentity": "1" },
        }))
        .unwrap();
        leases.create(&PostParams::default(), &lease).await.unwrap();
        let Attempt::Held(held) = state.lock(&holder(1)).await.unwrap() else { panic!("taken") };
        assert_eq!((held.who.as_str(), held.alike), (who, None));
        leases.delete("lock-tfstate-x-capt", &kube::api::DeleteParams::default()).await.unwrap();
    }
}

#[tokio::test]
async fn a_state_is_written_only_as_it_was_read() {
    let (scene, state) = scene().await;
    assert!(matches!(state.read().await.unwrap(), Seen::Absent));
    let text = r#"{"version":4,"serial":1,"lineage":"l","outputs":{"a":{}},"resources":[]}"#;
    scene.put_state("tfstate-x-capt", &gzip(text.as_bytes())).await;
    let Seen::Whole(content) = state.read().await.unwrap() else { panic!("not whole") };
    assert_eq!(content.text(), text.as_bytes());
    state.copy(&content).await.unwrap();

    state.write(&content, b"{}".to_vec()).await.unwrap();
    let failure = state.write(&content, text.as_bytes().to_vec()).await.unwrap_err();

    assert!(failure.conflict, "{failure}");
    let Seen::Whole(content) = state.read().await.unwrap() else { panic!("not whole") };
    assert_eq!(content.text(), b"{}");
}
