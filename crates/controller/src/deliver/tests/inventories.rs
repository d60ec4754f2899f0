//! What was brought is written down in the cluster, and what is no longer wanted goes.

use capt_api::names::Reason;
use capt_core::addon::names::field_manager;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};

use super::stage::{Stage, keys, manifests};
use crate::deliver::{Inventory, Known, Mode, Order, deliver, inventory, prune};

/// The inventories of a cluster.
fn inventories(client: &Client) -> Api<ConfigMap> {
    Api::namespaced(client.clone(), "kube-system")
}

async fn find(client: &Client, claim: &str) -> Option<ConfigMap> {
    let all = inventories(client).list(&kube::api::ListParams::default()).await.unwrap();
    all.items
        .into_iter()
        .find(|map| map.annotations().get("capt.cluster.x-k8s.io/addon").is_some_and(|of| of == claim))
}

/// Under another name CAPT would not find what it has brought.
#[test]
fn names_of_inventories_never_change() {
    assert_eq!(inventory::name("a/demo/base/flux"), "capt-addon-23ec527f5eda4961");
}

/// Brings an add-on to the cluster as a driver does.
async fn bring(stage: &Stage, claim: &str, objects: &[Value]) {
    let talk = stage.workload.talk();
    let (wanted, manifests, manager) = (keys(objects), manifests(objects), field_manager(claim));
    let before = inventory::read(&talk, claim).await.unwrap();
    let written = inventory::write(&talk, claim, &before.with(&wanted), Some(&before)).await.unwrap();
    let order = Order {
        manifests: &manifests,
        manager: &manager,
        claim: Some(claim),
        mode: Mode::Keep,
        known: &Known::new(),
    };
    assert_eq!(deliver(&talk, &order).await.trouble(), None);
    let removed = prune(&talk, &before.objects, &wanted, claim).await;
    assert_eq!(removed.trouble(), None);
    inventory::write(&talk, claim, &wanted, Some(&written)).await.unwrap();
}

#[tokio::test]
async fn what_an_add_on_no_longer_holds_goes() {
    let stage = Stage::set().await;
    let claim = format!("{}/demo/stack/addon", stage.namespace);
    bring(&stage, &claim, &[stage.map("a", "1"), stage.map("b", "1")]).await;
    let found = find(&stage.client, &claim).await.unwrap();
    assert_eq!(found.labels()["app.kubernetes.io/managed-by"], "capt");
    assert!(found.name_any().starts_with("capt-addon-"));

    bring(&stage, &claim, &[stage.map("b", "1"), stage.map("c", "1")]).await;

    assert_eq!(stage.value("a").await, None);
    assert!(stage.value("b").await.is_some() && stage.value("c").await.is_some());
    let talk = stage.workload.talk();
    let read = inventory::read(&talk, &claim).await.unwrap();
    assert_eq!(read.objects, keys(&[stage.map("b", "1"), stage.map("c", "1")]));
    assert_eq!(talk.requests(), 1);
    inventory::write(&talk, &claim, &read.objects, Some(&read)).await.unwrap();
    assert_eq!(talk.requests(), 1, "the same is not written again");

    bring(&stage, &claim, &[]).await;
    assert_eq!(stage.value("b").await, None);
    assert!(find(&stage.client, &claim).await.is_none(), "an empty inventory is not kept");
}

#[tokio::test]
async fn an_object_that_only_reads_differently_is_not_pruned() {
    let stage = Stage::set().await;
    let claim = format!("{}/demo/stack/addon", stage.namespace);
    let name = &stage.namespace;
    let scaler = |version: &str| {
        json!({
            "apiVersion": version, "kind": "HorizontalPodAutoscaler",
            "metadata": { "name": "a", "namespace": name },
            "spec": { "maxReplicas": 3, "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": "a" } },
        })
    };
    let role = |namespace: Option<&str>| {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": { "name": name, "namespace": namespace }, "rules": [],
        })
    };
    bring(&stage, &claim, &[role(Some("nowhere")), scaler("autoscaling/v1")]).await;
    bring(&stage, &claim, &[role(None), scaler("autoscaling/v2")]).await;
    let talk = stage.workload.talk();
    for key in keys(&[role(None), scaler("autoscaling/v2")]) {
        assert!(crate::deliver::get(&talk, &key).await.unwrap().is_some(), "{key} is still there");
    }
    bring(&stage, &claim, &[]).await;
}

#[tokio::test]
async fn an_inventory_that_cannot_be_read_is_empty_and_told() {
    let stage = Stage::set().await;
    let claim = format!("{}/demo/stack/addon", stage.namespace);
    bring(&stage, &claim, &[stage.map("a", "1")]).await;
    let name = find(&stage.client, &claim).await.unwrap().name_any();
    let patch = |patch: Value| {
        let inventories = inventories(&stage.client);
        let name = name.clone();
        async move { inventories.patch(&name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap() }
    };
    let talk = stage.workload.talk();

    patch(json!({ "data": { "objects": "[{" } })).await;
    let read = inventory::read(&talk, &claim).await.unwrap();
    assert!(read.objects.is_empty() && read.problem.unwrap().contains("cannot be read"));
    bring(&stage, &claim, &[stage.map("a", "1")]).await;
    assert_eq!(inventory::read(&talk, &claim).await.unwrap().problem, None, "it is written anew");

    patch(json!({ "metadata": { "annotations": { "capt.cluster.x-k8s.io/addon": "somebody/else/s/a" } } }))
        .await;
    let read = inventory::read(&talk, &claim).await.unwrap();
    assert!(read.problem.unwrap().contains("is not CAPT's"));
    let written = inventory::write(&talk, &claim, &keys(&[stage.map("a", "1")]), None).await;
    assert_eq!(written.unwrap_err().reason, Reason::ObjectClaimed);
}

#[tokio::test]
async fn a_list_that_no_config_map_can_hold_is_told() {
    let stage = Stage::set().await;
    let objects: Vec<_> = (0..5_000).map(|number| stage.map(&format!("{number:0>240}"), "1")).collect();
    let talk = stage.workload.talk();
    let written = inventory::write(&talk, "a/b/c/d", &keys(&objects), None).await;
    assert!(written.unwrap_err().message.contains("too long"));
    assert_eq!(talk.requests(), 0);
}

#[test]
fn what_is_to_come_is_listed_once_with_what_is_there() {
    let [a, b, c] = ["a", "b", "c"].map(|name| {
        keys(&[json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name } })]).remove(0)
    });
    let before = Inventory { objects: vec![a.clone(), b.clone()], problem: None };
    assert_eq!(before.with(&[b.clone(), c.clone()]), [b, c, a]);
}
