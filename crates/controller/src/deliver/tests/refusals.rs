//! What a cluster refuses, and how that is told.

use capt_api::names::Reason;
use capt_api::resource_set::ResourceKind;
use capt_testkit::eventually;
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingWebhookConfiguration,
};
use kube::Api;
use kube::api::PostParams;
use rstest::rstest;
use serde_json::{Value, json};

use super::stage::{CLAIM, Stage, manifests, outcomes, trouble};
use crate::deliver::{Known, Mode, Order, Outcome, deliver};
use crate::error::Retry;
use crate::workload::tests::stage::silent_server;

#[rstest]
#[case::a_path(json!({ "name": "../../secrets/x" }))]
#[case::a_query(json!({ "name": "x?force=true" }))]
#[case::a_placeholder(json!({ "name": "${NAME}" }))]
#[case::nothing(json!({}))]
#[case::another_namespace(json!({ "name": "x", "namespace": "../kube-system" }))]
#[tokio::test]
async fn a_name_that_could_lead_anywhere_is_refused(#[case] metadata: Value) {
    let stage = Stage::set().await;
    let talk = stage.workload.talk();
    let manifests = manifests(&[json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata })]);
    let order =
        Order { manifests: &manifests, manager: "m", claim: None, mode: Mode::Keep, known: &Known::new() };
    assert_eq!(trouble(&deliver(&talk, &order).await, 0).reason, Reason::ManifestInvalid);
    assert_eq!(talk.requests(), 0);
}

#[rstest]
#[case::wrong_type(json!({ "data": { "key": 5 } }), "data")]
#[case::unknown_field(json!({ "unknown": 5 }), "unknown")]
#[case::invalid_label(json!({ "metadata": { "labels": { "a": "not a label" } } }), "not a label")]
#[case::upper_case(json!({ "metadata": { "name": "Upper" } }), "Upper")]
#[case::too_large(json!({ "data": { "key": "x".repeat(2_000_000) } }), "Too long")]
#[case::far_too_large(json!({ "data": { "key": "x".repeat(4_000_000) } }), "too large")]
#[tokio::test]
async fn an_object_that_the_cluster_does_not_take_is_told_with_its_words(
    #[case] more: Value,
    #[case] told: &str,
) {
    let stage = Stage::set().await;
    let mut bad = stage.map("a", "1");
    merge(&mut bad, &more);
    let delivered = stage.deliver(&[bad, stage.map("b", "1")]).await;
    let trouble = trouble(&delivered, 0);
    assert_eq!(
        (trouble.reason, trouble.retry),
        (Reason::ObjectRefused, Retry::Rarely),
        "{}",
        trouble.message
    );
    assert!(trouble.message.contains(told) && trouble.message.contains("document 1"), "{}", trouble.message);
    assert!(trouble.message.len() < 800, "{}", trouble.message.len());
    assert_eq!(delivered.outcomes[1].1, Outcome::Created);
}

fn merge(into: &mut Value, more: &Value) {
    for (field, value) in more.as_object().unwrap() {
        if value.is_object() && into[field].is_object() {
            merge(&mut into[field], value);
        } else {
            into[field] = value.clone();
        }
    }
}

#[tokio::test]
async fn what_the_cluster_says_of_a_secret_is_not_repeated() {
    let stage = Stage::set().await;
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "a", "namespace": stage.namespace },
        "stringData": { "password": 4711 },
    });
    let message = trouble(&stage.deliver(&[secret]).await, 0).message;
    assert!(message.contains("was refused") && !message.contains("4711"), "{message}");

    let mut from_secret = manifests(&[stage.map("a", "1")]);
    from_secret[0].place.kind = ResourceKind::Secret;
    from_secret[0].object["data"]["key"] = json!(4711);
    let order =
        Order { manifests: &from_secret, manager: "m", claim: None, mode: Mode::Keep, known: &Known::new() };
    let message = trouble(&deliver(&stage.workload.talk(), &order).await, 0).message;
    assert!(message.contains("was refused") && !message.contains("4711"), "{message}");
}

#[tokio::test]
async fn a_namespace_that_is_not_there_is_told_once() {
    let stage = Stage::set().await;
    let at = |namespace: &str, name: &str| {
        let mut object = stage.map(name, "1");
        object["metadata"]["namespace"] = json!(namespace);
        object
    };
    let objects = [at("absent", "a"), at("absent", "b"), at("absent", "c"), stage.map("d", "1")];
    let manifests = manifests(&objects);
    let order = Order {
        manifests: &manifests,
        manager: "m",
        claim: Some(CLAIM),
        mode: Mode::Keep,
        known: &Known::new(),
    };
    let talk = stage.workload.talk();
    let delivered = deliver(&talk, &order).await;
    assert_eq!(trouble(&delivered, 0).reason, Reason::NamespaceMissing);
    assert_eq!(trouble(&delivered, 2).follows.as_deref(), Some("namespace `absent`"));
    assert_eq!(delivered.outcomes[3].1, Outcome::Created);
    assert_eq!(talk.requests(), 3, "the kinds, one object of the namespace, and the other one");
    let message = delivered.trouble().unwrap().message;
    assert!(message.contains("no namespace `absent`") && message.ends_with("and 2 more"), "{message}");
}

#[tokio::test]
async fn objects_wait_for_a_namespace_that_could_not_be_made() {
    let stage = Stage::set().await;
    let name = format!("{}-more", stage.namespace);
    let mut namespace = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": { "name": name, "labels": { "a": "not a label" } },
    });
    let mut object = stage.map("a", "1");
    object["metadata"]["namespace"] = json!(name);
    let delivered = stage.deliver(&[namespace.clone(), object.clone()]).await;
    assert_eq!(trouble(&delivered, 0).reason, Reason::ObjectRefused);
    assert_eq!(trouble(&delivered, 1).follows, Some(format!("Namespace `{name}`")));
    assert_eq!(delivered.trouble().unwrap().reason, Reason::ObjectRefused);

    namespace["metadata"]["labels"] = json!({});
    assert_eq!(outcomes(&stage.deliver(&[namespace, object]).await), [Outcome::Created, Outcome::Created]);
}

#[tokio::test]
async fn what_admission_rejects_is_told_with_its_words() {
    let stage = Stage::set().await;
    let name = format!("reject-{}", stage.namespace);
    let policy = json!({
        "metadata": { "name": name },
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": { "resourceRules": [
                { "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"] },
            ] },
            "validations": [{ "expression": "object.metadata.name != 'bad'", "message": "no bad things here" }],
        },
    });
    let selector = json!({ "matchLabels": { "kubernetes.io/metadata.name": stage.namespace } });
    let binding = json!({
        "metadata": { "name": name },
        "spec": {
            "policyName": name, "validationActions": ["Deny"], "matchResources": { "namespaceSelector": selector },
        },
    });
    let policies: Api<ValidatingAdmissionPolicy> = Api::all(stage.client.clone());
    policies.create(&PostParams::default(), &serde_json::from_value(policy).unwrap()).await.unwrap();
    let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(stage.client.clone());
    bindings.create(&PostParams::default(), &serde_json::from_value(binding).unwrap()).await.unwrap();

    let mut number = 0;
    eventually("the policy holds", async || {
        number += 1;
        let objects = [stage.map("bad", &number.to_string()), stage.map("good", "1")];
        let delivered = stage.deliver(&objects).await;
        match &delivered.outcomes[0].1 {
            Outcome::Failed(trouble) if trouble.reason == Reason::ObjectRefused => {
                assert!(trouble.message.contains("no bad things here"), "{}", trouble.message);
                assert!(!matches!(delivered.outcomes[1].1, Outcome::Failed(_)));
                Ok(())
            }
            other => Err(format!("{other:?}")),
        }
    })
    .await;
}

#[tokio::test]
async fn a_webhook_that_cannot_be_asked_is_told_and_tried_again() {
    let stage = Stage::set().await;
    let (listener, url) = silent_server();
    drop(listener);
    let webhook = json!({
        "metadata": { "name": format!("closed-{}", stage.namespace) },
        "webhooks": [{
            "name": "closed.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "failurePolicy": "Fail", "timeoutSeconds": 1, "clientConfig": { "url": url },
            "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": stage.namespace } },
            "rules": [
                { "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"] },
            ],
        }],
    });
    let webhooks: Api<ValidatingWebhookConfiguration> = Api::all(stage.client.clone());
    webhooks.create(&PostParams::default(), &serde_json::from_value(webhook).unwrap()).await.unwrap();

    let mut number = 0;
    let trouble = eventually("the webhook is asked", async || {
        number += 1;
        let mut delivered = stage.deliver(&[stage.map("a", &number.to_string())]).await;
        match delivered.outcomes.remove(0).1 {
            Outcome::Failed(trouble) => Ok(trouble),
            other => Err(format!("{other:?}")),
        }
    })
    .await;

    assert_eq!((trouble.reason, trouble.retry), (Reason::ObjectRefused, Retry::Backoff));
    assert!(trouble.message.contains("closed.example.com"), "{}", trouble.message);
}
