//! Objects that are brought, changed by others, and brought in line.

use kube::ResourceExt;
use kube::api::DeleteParams;
use serde_json::json;

use super::stage::{CLAIM, Stage, manifests, outcomes, trouble};
use crate::deliver::{Known, Mode, Order, Outcome, deliver};

#[tokio::test]
async fn an_object_is_made_and_then_left_as_it_is() {
    let stage = Stage::set().await;
    let manifests = manifests(&[stage.map("a", "1")]);
    let order =
        |known| Order { manifests: &manifests, manager: "m", claim: Some(CLAIM), mode: Mode::Keep, known };
    let (talk, nothing) = (stage.workload.talk(), Known::new());

    let first = deliver(&talk, &order(&nothing)).await;
    assert_eq!(outcomes(&first), [Outcome::Created]);
    assert!(first.trouble().is_none() && first.written() == 1);
    let made = stage.maps().get("a").await.unwrap();
    assert_eq!(made.annotations()["capt.cluster.x-k8s.io/addon"], CLAIM);

    let second = deliver(&talk, &order(&first.known)).await;
    assert_eq!(outcomes(&second), [Outcome::Unchanged]);
    assert_eq!(stage.version("a").await, made.resource_version().unwrap());
    assert_eq!(talk.requests(), 3, "the kinds, and one for each delivery");
}

#[tokio::test]
async fn what_others_changed_is_brought_in_line_and_what_they_added_stays() {
    let stage = Stage::set().await;
    stage.deliver(&[stage.map("a", "1")]).await;
    let added = json!({
        "metadata": { "annotations": { "theirs": "x" }, "labels": { "theirs": "x" }, "finalizers": ["example.com/x"] },
        "data": { "key": "2", "theirs": "x" },
    });
    stage.change("a", added).await;

    assert_eq!(outcomes(&stage.deliver(&[stage.map("a", "1")]).await), [Outcome::Changed]);

    let found = stage.maps().get("a").await.unwrap();
    let data = found.data.as_ref().unwrap();
    assert_eq!((data["key"].as_str(), data["theirs"].as_str()), ("1", "x"));
    assert_eq!((found.annotations()["theirs"].as_str(), found.labels()["theirs"].as_str()), ("x", "x"));
    assert_eq!(found.finalizers(), ["example.com/x"]);
    stage.change("a", json!({ "metadata": { "finalizers": null } })).await;
}

#[tokio::test]
async fn what_a_manifest_no_longer_states_goes() {
    let stage = Stage::set().await;
    let mut object = stage.map("a", "1");
    object["data"]["more"] = json!("x");
    stage.deliver(&[object]).await;
    assert_eq!(outcomes(&stage.deliver(&[stage.map("a", "1")]).await), [Outcome::Changed]);
    assert!(!stage.maps().get("a").await.unwrap().data.unwrap().contains_key("more"));
}

#[tokio::test]
async fn an_object_that_is_there_already_is_taken_over() {
    let stage = Stage::set().await;
    let mut theirs = stage.map("a", "theirs");
    theirs["data"]["more"] = json!("x");
    stage.put(&theirs).await;
    assert_eq!(outcomes(&stage.deliver(&[stage.map("a", "ours")]).await), [Outcome::Changed]);
    let data = stage.maps().get("a").await.unwrap().data.unwrap();
    assert_eq!((data["key"].as_str(), data["more"].as_str()), ("ours", "x"));
}

#[tokio::test]
async fn an_object_that_was_deleted_comes_back() {
    let stage = Stage::set().await;
    stage.deliver(&[stage.map("a", "1")]).await;
    stage.maps().delete("a", &DeleteParams::default()).await.unwrap();
    assert_eq!(outcomes(&stage.deliver(&[stage.map("a", "1")]).await), [Outcome::Created]);
    assert_eq!(stage.value("a").await.as_deref(), Some("1"));
}

#[tokio::test]
async fn an_object_that_is_being_deleted_is_told_until_it_can_be_made_again() {
    let stage = Stage::set().await;
    let mut object = stage.map("a", "1");
    object["metadata"]["finalizers"] = json!(["example.com/hold"]);
    stage.put(&object).await;
    stage.maps().delete("a", &DeleteParams::default()).await.unwrap();

    let delivered = stage.deliver(&[stage.map("a", "2")]).await;

    let message = trouble(&delivered, 0).message;
    assert!(message.contains("is being deleted") && message.contains("example.com/hold"), "{message}");
    stage.change("a", json!({ "metadata": { "finalizers": null } })).await;
    assert_eq!(outcomes(&stage.deliver(&[stage.map("a", "2")]).await), [Outcome::Created]);
}

#[tokio::test]
async fn what_is_brought_once_leaves_alone_what_is_there() {
    let stage = Stage::set().await;
    stage.put(&stage.map("a", "theirs")).await;
    let before = stage.version("a").await;
    let objects = [stage.map("a", "ours"), stage.map("b", "ours")];

    let delivered = stage.deliver_for(None, Mode::Once, &objects).await;
    assert_eq!(outcomes(&delivered), [Outcome::Unchanged, Outcome::Created]);
    assert_eq!(stage.version("a").await, before);

    stage.change("b", json!({ "data": { "key": "theirs" } })).await;
    let delivered = stage.deliver_for(None, Mode::Once, &objects).await;
    assert_eq!(outcomes(&delivered), [Outcome::Unchanged, Outcome::Unchanged]);
    assert_eq!(stage.value("b").await.as_deref(), Some("theirs"));
}

#[tokio::test]
async fn an_object_without_namespace_goes_where_its_kind_says() {
    let stage = Stage::set().await;
    let name = &stage.namespace;
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": { "name": format!("{name}:with-a-colon"), "namespace": "nowhere" }, "rules": [],
    });
    let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name } });

    let delivered = stage.deliver(&[role, map]).await;

    assert_eq!(outcomes(&delivered), [Outcome::Created, Outcome::Created]);
    let namespaces: Vec<_> = delivered.outcomes.iter().map(|(key, _)| key.namespace.as_deref()).collect();
    assert_eq!(namespaces, [None, Some("default")]);
}
