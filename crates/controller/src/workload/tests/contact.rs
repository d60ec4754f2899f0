//! Clusters that answer, and clusters that do not.

use k8s_openapi::api::core::v1::Namespace;
use kube::api::GetParams;
use kube::core::Request;
use serde_json::json;

use super::stage::{IMPATIENT, at, kubeconfig, silent_server, with_token, workload};
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
