//! Kinds that come with their objects, late, or not at all.

use capt_api::names::Reason;
use capt_core::manifest::ObjectKey;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::DeleteParams;
use serde_json::{Value, json};

use super::stage::{Stage, outcomes, trouble};
use crate::deliver::{Mode, Outcome, get};

/// A definition in a group that no other test uses.
fn definition(group: &str, plural: &str, kind: &str) -> Value {
    let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.{group}"), "creationTimestamp": null },
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": { "plural": plural, "singular": kind.to_lowercase(), "kind": kind },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } }],
        },
        "status": { "conditions": [], "acceptedNames": { "kind": "", "plural": "" }, "storedVersions": [] },
    })
}

fn widget(stage: &Stage, api_version: &str, name: &str) -> Value {
    json!({
        "apiVersion": api_version, "kind": "Widget",
        "metadata": { "name": name, "namespace": stage.namespace }, "spec": { "size": 1 },
    })
}

#[tokio::test]
async fn a_kind_and_its_objects_come_in_one_go() {
    let stage = Stage::set().await;
    let group = format!("{}.example.com", stage.namespace);
    let version = format!("{group}/v1");
    let objects = [
        definition(&group, "widgets", "Widget"),
        widget(&stage, &version, "a"),
        widget(&stage, &version, "b"),
    ];
    assert_eq!(
        outcomes(&stage.deliver(&objects).await),
        [Outcome::Created, Outcome::Created, Outcome::Created]
    );
    let found = get(&stage.workload.talk(), &ObjectKey::of(&objects[1])).await.unwrap().unwrap();
    assert_eq!(found["spec"]["size"], 1);

    let once = stage.deliver_for(None, Mode::Once, &objects).await;
    assert_eq!(outcomes(&once), [Outcome::Unchanged, Outcome::Unchanged, Outcome::Unchanged]);
}

#[tokio::test]
async fn a_kind_that_was_taken_away_is_noticed() {
    let stage = Stage::set().await;
    let group = format!("{}.example.com", stage.namespace);
    let objects = [definition(&group, "widgets", "Widget"), widget(&stage, &format!("{group}/v1"), "a")];
    stage.deliver(&objects).await;
    let definitions: Api<CustomResourceDefinition> = Api::all(stage.client.clone());
    definitions.delete(&format!("widgets.{group}"), &DeleteParams::default()).await.unwrap();
    capt_testkit::eventually("the kind is gone", async || {
        let delivered = stage.deliver(&objects[1..]).await;
        match &delivered.outcomes[0].1 {
            Outcome::Failed(trouble) if trouble.reason == Reason::KindNotServed => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    assert!(get(&stage.workload.talk(), &ObjectKey::of(&objects[1])).await.unwrap().is_none());
}

#[tokio::test]
async fn a_kind_that_the_cluster_does_not_serve_keeps_nothing_else_from_being_brought() {
    let stage = Stage::set().await;
    let objects = [
        widget(&stage, "apps/v9", "a"),
        widget(&stage, "apps/v9", "b"),
        widget(&stage, "apps/v9", "c"),
        stage.map("m", "1"),
    ];
    let delivered = stage.deliver(&objects).await;
    let told = trouble(&delivered, 0);
    assert_eq!(told.reason, Reason::KindNotServed);
    assert!(told.message.contains("`apps/v9` `Widget`"), "{}", told.message);
    assert_eq!(trouble(&delivered, 2).reason, Reason::KindNotServed);
    assert_eq!(delivered.outcomes[3].1, Outcome::Created);
    let summary = delivered.trouble().unwrap();
    assert_eq!(summary.reason, Reason::KindNotServed);
}

#[tokio::test]
async fn a_definition_whose_names_are_taken_is_not_waited_for() {
    let stage = Stage::set().await;
    let group = format!("{}.example.com", stage.namespace);
    stage.deliver(&[definition(&group, "gadgets", "Widget")]).await;
    let version = format!("{group}/v2");
    let mut second = definition(&group, "widgets", "Widget");
    second["spec"]["versions"][0]["name"] = json!("v2");
    let delivered =
        stage.deliver(&[second, widget(&stage, &version, "a"), widget(&stage, &version, "b")]).await;
    for index in [1, 2] {
        let told = trouble(&delivered, index);
        assert_eq!(told.reason, Reason::KindNotServed);
        assert!(told.message.contains("is not accepted"), "{}", told.message);
    }
}

#[tokio::test]
async fn a_version_that_a_definition_does_not_serve_is_told() {
    let stage = Stage::set().await;
    let group = format!("{}.example.com", stage.namespace);
    let objects = [definition(&group, "widgets", "Widget"), widget(&stage, &format!("{group}/v2"), "a")];
    let told = trouble(&stage.deliver(&objects).await, 1);
    assert_eq!(told.reason, Reason::KindNotServed);
    assert!(told.message.contains("other versions only"), "{}", told.message);
}
