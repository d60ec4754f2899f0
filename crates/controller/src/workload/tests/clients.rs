//! Which client there is for which Secret.

use std::sync::Arc;

use rstest::rstest;
use serde_json::{Value, json};

use super::stage::{Stage, at, kubeconfig, with_token};
use crate::workload::{Unavailable, Workloads};

fn unusable(found: Result<Arc<crate::workload::Workload>, Unavailable>) -> String {
    match found {
        Err(Unavailable::Unusable(message)) => message,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("there is a client"),
    }
}

#[rstest]
#[case::no_value(json!({ "stringData": { "kubeconfig": "x" } }), "is empty")]
#[case::no_yaml(json!({ "stringData": { "value": "clusters: [s3cret" } }), "YAML")]
#[case::a_program(user(&json!({ "exec": { "apiVersion": "client.authentication.k8s.io/v1", "command": "s3cret" } })), "runs `s3cret`")]
#[case::a_program_for_eks(
    user(&json!({ "exec": {
        "apiVersion": "client.authentication.k8s.io/v1beta1", "command": "aws",
        "args": ["eks", "get-token", "--cluster-name", "s3cret", "--region", "eu-west-1"],
    } })),
    "runs no programs"
)]
#[case::a_file(user(&json!({ "tokenFile": "/s3cret" })), "file")]
#[case::no_credentials(user(&json!({})), "no credentials")]
#[case::a_proxy(
    json!({ "stringData": { "value": at("https://x.example", None, &json!({ "token": "s3cret" }))
        .replace("\"server\"", "\"proxy-url\":\"http://p.example\",\"server\"") } }),
    "proxy"
)]
#[tokio::test]
async fn a_kubeconfig_that_cannot_be_used_is_told_without_its_content(
    #[case] secret: Value,
    #[case] told: &str,
) {
    let stage = Stage::set().await;
    let workloads = Workloads::new(10);
    stage.put("bad", &secret).await;

    let message = unusable(stage.client(&workloads, "bad").await);

    assert!(message.contains(told), "{message}");
    assert!(message.contains("bad-kubeconfig"), "{message}");
    assert!(!message.contains("s3cret") || told.contains("s3cret"), "{message}");
    assert_eq!(unusable(stage.client(&workloads, "bad").await), message);
    assert_eq!(stage.requests(), 1, "the same Secret is not read again");
}

fn user(user: &Value) -> Value {
    json!({ "stringData": { "value": at("https://x.example", None, user) } })
}

#[tokio::test]
async fn a_cluster_without_credentials_costs_no_request() {
    let stage = Stage::set().await;
    let found = stage.client(&Workloads::new(10), "absent").await;
    assert!(
        matches!(found, Err(Unavailable::NoCredentials(message)) if message.contains("absent-kubeconfig"))
    );
    assert_eq!(stage.requests(), 0);
}

#[tokio::test]
async fn a_name_that_could_lead_anywhere_is_refused() {
    let stage = Stage::set().await;
    unusable(stage.client(&Workloads::new(10), "../../configmaps/x").await);
    assert_eq!(stage.requests(), 0);
}

#[tokio::test]
async fn a_client_is_kept_until_its_credentials_change() {
    let stage = Stage::set().await;
    let workloads = Workloads::new(10);
    stage.put_kubeconfig("c", &with_token("one").await).await;
    let first = stage.client(&workloads, "c").await.unwrap();
    assert!(Arc::ptr_eq(&first, &stage.client(&workloads, "c").await.unwrap()));
    assert_eq!(stage.requests(), 1, "the Secret is read once");

    let same = with_token("one").await;
    stage.put("c", &json!({ "metadata": { "labels": { "a": "b" } }, "stringData": { "value": same } })).await;
    assert!(
        Arc::ptr_eq(&first, &stage.client(&workloads, "c").await.unwrap()),
        "a label makes no other client"
    );
    assert_eq!(stage.requests(), 2);

    stage.put_kubeconfig("c", &kubeconfig().await).await;
    let second = stage.client(&workloads, "c").await.unwrap();
    assert!(!Arc::ptr_eq(&first, &second));
    assert_eq!(first.identity(), second.identity(), "it is the same cluster");
    first.talk().resolve("v1", "ConfigMap").await.unwrap_err();
    second.talk().resolve("v1", "ConfigMap").await.unwrap().unwrap();
}

#[tokio::test]
async fn what_is_known_of_a_cluster_outlives_its_credentials_and_not_the_cluster() {
    let stage = Stage::set().await;
    let workloads = Workloads::new(10);
    let secret = stage.put_kubeconfig("c", &kubeconfig().await).await;
    let first = stage.client(&workloads, "c").await.unwrap();
    first.talk().resolve("v1", "ConfigMap").await.unwrap().unwrap();

    stage.put_kubeconfig("c", &with_token("renewed").await).await;
    let renewed = stage.client(&workloads, "c").await.unwrap();
    let talk = renewed.talk();
    talk.resolve("v1", "ConfigMap").await.unwrap().unwrap();
    assert_eq!(talk.requests(), 0);

    stage.delete(&secret).await;
    assert!(matches!(stage.client(&workloads, "c").await, Err(Unavailable::NoCredentials(_))));
    stage.put_kubeconfig("c", &kubeconfig().await).await;
    let replaced = stage.client(&workloads, "c").await.unwrap();
    assert_ne!(first.identity(), replaced.identity());
    let talk = replaced.talk();
    talk.resolve("v1", "ConfigMap").await.unwrap().unwrap();
    assert_eq!(talk.requests(), 1);
}

#[tokio::test]
async fn another_server_under_the_same_name_is_another_cluster() {
    let stage = Stage::set().await;
    let workloads = Workloads::new(10);
    stage.put_kubeconfig("c", &kubeconfig().await).await;
    let first = stage.client(&workloads, "c").await.unwrap();
    let elsewhere = at("https://other.example", None, &json!({ "token": "x" }));
    stage.put_kubeconfig("c", &elsewhere).await;
    let second = stage.client(&workloads, "c").await.unwrap();
    assert_ne!(first.identity(), second.identity());
}

#[tokio::test]
async fn the_client_that_was_not_used_for_longest_goes_first() {
    let stage = Stage::set().await;
    let workloads = Workloads::new(2);
    for cluster in ["a", "b"] {
        stage.put_kubeconfig(cluster, &kubeconfig().await).await;
        stage.client(&workloads, cluster).await.unwrap();
    }
    stage.client(&workloads, "a").await.unwrap();
    stage.put_kubeconfig("c", &kubeconfig().await).await;
    stage.client(&workloads, "c").await.unwrap();
    let before = stage.requests();
    stage.client(&workloads, "a").await.unwrap();
    stage.client(&workloads, "c").await.unwrap();
    assert_eq!(stage.requests(), before, "both are kept");
    stage.client(&workloads, "b").await.unwrap();
    assert_eq!(stage.requests(), before + 1, "this one was not");
}

#[tokio::test]
async fn a_cluster_that_is_forgotten_is_looked_at_anew() {
    let stage = Stage::set().await;
    let workloads = Workloads::new(2);
    stage.put_kubeconfig("c", &kubeconfig().await).await;
    let first = stage.client(&workloads, "c").await.unwrap();
    workloads.forget(&crate::index::Name::new(&stage.namespace, "c"));
    assert!(!Arc::ptr_eq(&first, &stage.client(&workloads, "c").await.unwrap()));
}
