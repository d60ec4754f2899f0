//! The test kit against its own control plane.

use capt_testkit::{TestCluster, eventually, watch_until};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Resource;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use serde_json::{from_value, json};

#[tokio::test]
async fn a_namespace_is_fresh_and_its_deletion_ends() {
    let cluster = TestCluster::shared().await;
    let name = cluster.namespace("fresh").await;
    let other = cluster.namespace("fresh").await;
    assert_ne!(name, other);
    let namespaces: Api<Namespace> = Api::all(cluster.client());

    namespaces.delete(&name, &DeleteParams::default()).await.unwrap();

    eventually("the namespace is gone", async || namespaces.get_opt(&name).await.unwrap().is_none()).await;
}

#[tokio::test]
async fn an_object_goes_with_its_owner() {
    let cluster = TestCluster::shared().await;
    let namespace = cluster.namespace("owned").await;
    let owners: Api<ConfigMap> = Api::namespaced(cluster.client(), &namespace);
    let secrets: Api<Secret> = Api::namespaced(cluster.client(), &namespace);
    let owner: ConfigMap = from_value(json!({ "metadata": { "name": "owner" } })).unwrap();
    let owner = owners.create(&PostParams::default(), &owner).await.unwrap();
    let reference = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner.metadata.uid.unwrap(),
    });
    let secret: Secret =
        from_value(json!({ "metadata": { "name": "owned", "ownerReferences": [reference] } })).unwrap();
    secrets.create(&PostParams::default(), &secret).await.unwrap();

    owners.delete("owner", &DeleteParams::background()).await.unwrap();

    eventually("the Secret is collected", async || secrets.get_opt("owned").await.unwrap().is_none()).await;
}

#[tokio::test]
async fn an_object_goes_with_an_owner_of_a_new_kind() {
    let cluster = TestCluster::shared().await;
    cluster.apply_crds(&[definition_of_foo()]).await;
    let namespace = cluster.namespace("owned").await;
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Foo"));
    let foos: Api<DynamicObject> = Api::namespaced_with(cluster.client(), &namespace, &resource);
    let secrets: Api<Secret> = Api::namespaced(cluster.client(), &namespace);
    let foo = DynamicObject::new("owner", &resource);
    let foo = foos.create(&PostParams::default(), &foo).await.unwrap();
    let owner = foo.controller_owner_ref(&resource).unwrap();
    let secret: Secret =
        from_value(json!({ "metadata": { "name": "owned", "ownerReferences": [owner] } })).unwrap();
    secrets.create(&PostParams::default(), &secret).await.unwrap();

    foos.delete("owner", &DeleteParams::background()).await.unwrap();

    eventually("the Secret is collected", async || secrets.get_opt("owned").await.unwrap().is_none()).await;
}

fn definition_of_foo() -> CustomResourceDefinition {
    let schema = json!({ "openAPIV3Schema": { "type": "object" } });
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "foos.example.com" },
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": { "plural": "foos", "singular": "foo", "kind": "Foo" },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": schema }],
        },
    });
    from_value(definition).unwrap_or_default()
}

#[tokio::test]
async fn a_user_without_rights_is_refused() {
    let cluster = TestCluster::shared().await;
    let namespace = cluster.namespace("restricted").await;
    let client = cluster.client_as("somebody", &["some-group", "another-group"]).await;
    let secrets: Api<Secret> = Api::namespaced(client, &namespace);

    let error = secrets.list(&kube::api::ListParams::default()).await.unwrap_err().to_string();

    assert!(error.contains("somebody"), "{error}");
}

#[tokio::test]
async fn a_change_is_awaited() {
    let cluster = TestCluster::shared().await;
    let namespace = cluster.namespace("awaited").await;
    let maps: Api<ConfigMap> = Api::namespaced(cluster.client(), &namespace);
    let map: ConfigMap = from_value(json!({ "metadata": { "name": "m" }, "data": { "a": "b" } })).unwrap();
    maps.create(&PostParams::default(), &map).await.unwrap();

    let seen = watch_until("the data is there", &maps, "m", |map| map.data.is_some()).await;

    assert_eq!(seen.data.unwrap()["a"], "b");
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "last seen: three apples")]
async fn a_wait_that_fails_tells_what_was_seen_last() {
    eventually("pears", async || Err::<(), _>("three apples")).await;
}
