//! Clusters that answer, and clusters that do not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use k8s_openapi::api::core::v1::Namespace;
use kube::api::GetParams;
use kube::core::Request;
use serde_json::json;

use super::stage::{IMPATIENT, at, kubeconfig, refusal, scripted, silent_server, with_token, workload};
use crate::workload::{Failure, Patience};

#[tokio::test]
async fn a_server_that_is_not_there_is_told_at_once() {
    let (listener, server) = silent_server();
    drop(listener);
    let workload = workload(&at(&server, None, &json!({ "token": "t0ken" })), Patience::default()).await;
    let failure = workload.talk().resolve("v1", "ConfigMap").await.unwrap_err();
    assert!(matches!(failure, Failure::Unreachable(_)), "{failure:?}");
    assert!(failure.sentence().contains("refused"), "{}", failure.sentence());
}

#[tokio::test]
async fn a_server_that_never_answers_is_not_waited_for_longer_than_the_deadline() {
    let (_listener, server) = silent_server();
    let workload = workload(&at(&server, None, &json!({ "token": "t0ken" })), IMPATIENT).await;
    let failure = workload.talk().resolve("v1", "ConfigMap").await.unwrap_err();
    assert!(failure.is_unreachable(), "{failure:?}");
}

#[tokio::test]
async fn a_server_that_nobody_vouches_for_is_not_talked_to() {
    let url = capt_testkit::TestCluster::shared().await.control_plane().url();
    let workload = workload(&at(url, None, &json!({ "token": "t0ken" })), Patience::default()).await;
    let failure = workload.talk().resolve("v1", "ConfigMap").await.unwrap_err();
    assert!(matches!(failure, Failure::Unreachable(_)), "{failure:?}");
    assert!(failure.sentence().contains("certificate"), "{}", failure.sentence());
}

#[tokio::test]
async fn credentials_that_are_not_accepted_are_told_as_such() {
    let workload = workload(&with_token("t0ken").await, Patience::default()).await;
    let failure = workload.talk().resolve("v1", "ConfigMap").await.unwrap_err();
    assert!(matches!(failure, Failure::Rejected { .. }), "{failure:?}");
    let told = failure.sentence();
    assert!(told.contains("a/x-kubeconfig") && told.contains("401") && !told.contains("t0ken"), "{told}");
}

#[tokio::test]
async fn an_answer_says_when_it_was_given() {
    let workload = workload(&kubeconfig().await, Patience::default()).await;
    let talk = workload.talk();
    let answer =
        talk.send(Request::new("/api/v1/namespaces").get("default", &GetParams::default())).await.unwrap();
    assert!(answer.at.is_some() && !answer.created);
    assert_eq!(answer.read::<Namespace>().unwrap().metadata.name.as_deref(), Some("default"));
    answer.read::<Vec<String>>().unwrap_err();
}

#[tokio::test]
async fn kinds_are_asked_for_once_and_absent_ones_once_a_call() {
    let workload = workload(&kubeconfig().await, Patience::default()).await;
    let talk = workload.talk();
    for kind in ["ConfigMap", "Namespace", "ConfigMap"] {
        talk.resolve("v1", kind).await.unwrap().unwrap();
    }
    assert_eq!(talk.requests(), 1);
    assert!(talk.resolve("v1", "Widget").await.unwrap().is_none());
    assert!(talk.resolve("apps/v9", "Deployment").await.unwrap().is_none());
    assert_eq!(talk.requests(), 3);
    assert!(talk.resolve("../v1", "ConfigMap").await.unwrap().is_none());
    assert_eq!(talk.requests(), 3, "what is no version is not asked for");
}

/// A definition, established or not.
fn definition(established: bool) -> serde_json::Value {
    let mut definition = json!(capt_testkit::loose_definition("example.com", "v1", "Thing", "things"));
    let status = if established { "True" } else { "False" };
    definition["status"] = json!({
        "conditions": [{ "type": "Established", "status": status, "reason": "", "message": "" }],
        "acceptedNames": { "kind": "Thing", "plural": "things" }, "storedVersions": ["v1"],
    });
    definition
}

#[tokio::test(start_paused = true)]
async fn a_definition_is_waited_for_without_the_verb_watch() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let workload = scripted(move |request| {
        if request.uri().path().ends_with("/things.example.com") {
            return (200, definition(counted.fetch_add(1, Ordering::Relaxed) >= 3));
        }
        refusal(403, "Forbidden", "customresourcedefinitions.apiextensions.k8s.io is forbidden: cannot watch")
    });
    let talk = workload.talk();
    let established = talk.await_established("things.example.com", Duration::from_secs(60)).await.unwrap();
    assert_eq!(established, Ok(()));
    assert!(talk.resolve("example.com/v1", "Thing").await.unwrap().is_some(), "it has learnt what is served");
}

#[tokio::test(start_paused = true)]
async fn a_definition_that_is_never_established_is_not_asked_for_all_the_time() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let workload = scripted(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        (200, definition(false))
    });
    let talk = workload.talk();
    let established = talk.await_established("things.example.com", Duration::from_secs(60)).await.unwrap();
    assert_eq!(established, Err("is not established yet".to_owned()));
    assert!((10..100).contains(&asked.load(Ordering::Relaxed)), "{asked:?} requests in a minute");
}
