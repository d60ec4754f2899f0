//! What is taken away, what holds it, and what stays.

use capt_api::names::Reason;
use capt_testkit::eventually;
use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use serde_json::json;

use super::stage::{CLAIM, Stage, keys};
use crate::deliver::remove;

#[tokio::test]
async fn what_is_ours_goes_and_what_is_not_stays() {
    let stage = Stage::set().await;
    let objects = [stage.map("ours", "1"), stage.map("taken", "1"), stage.map("absent", "1")];
    stage.deliver(&objects[..2]).await;
    stage
        .change(
            "taken",
            json!({ "metadata": { "annotations": { "capt.cluster.x-k8s.io/addon": "a/b/c/d" } } }),
        )
        .await;
    stage.put(&stage.map("theirs", "1")).await;
    let keys = keys(&[&objects[..], &[stage.map("theirs", "1")]].concat());

    let removed = remove(&stage.workload.talk(), &keys, CLAIM).await;

    assert_eq!(removed.trouble(), None);
    assert!(removed.remaining().is_empty());
    assert_eq!(removed.gone, [keys[2].clone(), keys[0].clone()]);
    let left_alone: Vec<_> = removed.left_alone.iter().map(|(key, _)| key.name.as_str()).collect();
    assert_eq!(left_alone, ["theirs", "taken"]);
    assert!(removed.left_alone[1].1.contains("a/b/c/d"));
    assert_eq!(stage.value("ours").await, None);
    assert!(stage.value("taken").await.is_some() && stage.value("theirs").await.is_some());
}

#[tokio::test]
async fn what_was_brought_before_stays_while_something_is_held() {
    let stage = Stage::set().await;
    let objects = [stage.map("first", "1"), stage.map("held", "1"), stage.map("last", "1")];
    stage.deliver(&objects).await;
    stage.change("held", json!({ "metadata": { "finalizers": ["example.com/hold"] } })).await;
    let (talk, keys) = (stage.workload.talk(), keys(&objects));

    for round in ["deleted", "asked again"] {
        let removed = remove(&talk, &keys, CLAIM).await;
        assert_eq!(removed.gone, [keys[2].clone()], "{round}");
        assert_eq!(removed.waiting, [keys[0].clone()]);
        assert_eq!(removed.remaining(), [keys[1].clone(), keys[0].clone()]);
        let trouble = removed.trouble().unwrap();
        assert_eq!(trouble.reason, Reason::Removing);
        assert!(
            trouble.message.contains("held`") && trouble.message.contains("example.com/hold"),
            "{}",
            trouble.message
        );
        assert!(stage.value("first").await.is_some());
    }

    stage.change("held", json!({ "metadata": { "finalizers": null } })).await;
    let removed = remove(&talk, &keys, CLAIM).await;
    assert_eq!(removed.trouble(), None);
    assert_eq!(stage.value("first").await, None);
}

#[tokio::test]
async fn namespaces_go_last() {
    let stage = Stage::set().await;
    let name = format!("{}-more", stage.namespace);
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
    let mut map = stage.map("a", "1");
    map["metadata"]["namespace"] = json!(name);
    stage.deliver(&[namespace.clone(), map.clone()]).await;
    let talk = stage.workload.talk();

    let keys = keys(&[map, namespace]);
    let removed = remove(&talk, &keys, CLAIM).await;

    assert_eq!(removed.gone, [keys[0].clone()]);
    assert_eq!(removed.leaving[0].0, keys[1], "its content is deleted by others");
    let namespaces: Api<Namespace> = Api::all(stage.client.clone());
    eventually("the namespace is gone", async || namespaces.get_opt(&name).await.unwrap().is_none()).await;
    assert_eq!(remove(&talk, &keys, CLAIM).await.gone.len(), 2);
}

#[tokio::test]
async fn what_has_no_kind_any_more_is_gone() {
    let stage = Stage::set().await;
    let keys = keys(&[
        json!({ "apiVersion": "gone.example.com/v1", "kind": "Widget", "metadata": { "name": "a" } }),
    ]);
    assert_eq!(remove(&stage.workload.talk(), &keys, CLAIM).await.gone, keys);
}
