//! A Cluster is written by others too: what is theirs stays.

use capt_api::Cluster;
use capt_api::names::label;
use capt_controller::options::Options;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use serde_json::{Value, json};

use super::hands::{
    condition_with_message, control_plane_is_ready, find, is_available, let_go, message, network_is_ready,
    put_cluster, put_parts, refers_to, says,
};
use crate::stage::{Manager, Stage, cluster};

/// Writes into the status of a Cluster as another controller would.
async fn report(stage: &Stage, cluster: &str, status: Value) {
    let patch = json!({ "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "status": status });
    let parameters = PatchParams::apply("somebody-else").force();
    stage.api::<Cluster>().patch_status(cluster, &parameters, &Patch::Apply(patch)).await.unwrap();
}

#[tokio::test]
async fn conditions_and_fields_of_others_stay() {
    let stage = Stage::set().await;
    put_parts(&stage, "demo", &[]).await;
    put_cluster(&stage, "demo", refers_to("demo")).await;
    says(&stage, "demo", "InfrastructureReady", "False", "NotReady").await;
    let theirs = condition_with_message("AddonsReady", "False", "Waiting");
    report(&stage, "demo", json!({ "workers": { "replicas": 3 }, "conditions": [theirs] })).await;
    network_is_ready(&stage, "demo").await;
    control_plane_is_ready(&stage, "demo").await;
    let cluster = is_available(&stage, "demo").await;
    assert_eq!(find(&cluster, "AddonsReady").unwrap().reason, "Waiting");
    let clusters: Api<DynamicObject> =
        Api::namespaced_with(stage.client.clone(), &stage.namespace, &ApiResource::erase::<Cluster>(&()));
    assert_eq!(clusters.get("demo").await.unwrap().data["status"]["workers"]["replicas"], 3);
}

#[tokio::test]
async fn a_gate_of_others_counts_and_is_followed() {
    let stage = Stage::set().await;
    put_parts(&stage, "demo", &[]).await;
    network_is_ready(&stage, "demo").await;
    control_plane_is_ready(&stage, "demo").await;
    let mut spec = refers_to("demo");
    spec["availabilityGates"] = json!([{ "conditionType": "AddonsReady" }]);
    put_cluster(&stage, "demo", spec).await;
    let cluster = says(&stage, "demo", "Available", "Unknown", "AvailableUnknown").await;
    assert_eq!(message(&cluster, "Available"), "* AddonsReady: Condition not yet reported");
    for (status, available, reason) in [("False", "False", "NotAvailable"), ("True", "True", "Available")] {
        let theirs = condition_with_message("AddonsReady", status, "Told");
        report(&stage, "demo", json!({ "conditions": [theirs] })).await;
        says(&stage, "demo", "Available", available, reason).await;
    }
}

#[tokio::test]
async fn an_endpoint_of_the_users_own_stays() {
    let stage = Stage::set().await;
    put_parts(&stage, "demo", &[]).await;
    network_is_ready(&stage, "demo").await;
    control_plane_is_ready(&stage, "demo").await;
    let mut spec = refers_to("demo");
    spec["controlPlaneEndpoint"] = json!({ "host": "own.example.com", "port": 443 });
    put_cluster(&stage, "demo", spec).await;
    let cluster = is_available(&stage, "demo").await;
    assert_eq!(cluster.spec.control_plane_endpoint.unwrap().host, "own.example.com");
}

#[tokio::test]
async fn a_finalizer_that_is_taken_away_comes_back_and_the_endpoint_stays() {
    let stage = Stage::set().await;
    put_parts(&stage, "demo", &[]).await;
    network_is_ready(&stage, "demo").await;
    control_plane_is_ready(&stage, "demo").await;
    put_cluster(&stage, "demo", refers_to("demo")).await;
    is_available(&stage, "demo").await;
    let_go::<Cluster>(&stage, "demo").await;
    let cluster = capt_testkit::watch_until("it", &stage.api::<Cluster>(), "demo", |cluster: &Cluster| {
        cluster.metadata.finalizers.as_ref().is_some_and(|finalizers| !finalizers.is_empty())
    })
    .await;
    assert_eq!(cluster.spec.control_plane_endpoint.unwrap().host, "api.example.com");
}

#[tokio::test]
async fn a_filtered_manager_leaves_the_clusters_of_others_alone() {
    let stage = Stage::without_manager().await;
    let options = Options {
        namespace: Some(stage.namespace.clone()),
        watch_filter: Some("mine".to_owned()),
        ..Options::default()
    };
    let _manager = Manager::start(cluster().await, options).await;
    put_cluster(&stage, "other", json!({})).await;
    let labels = json!({ label::WATCH_FILTER: "mine" });
    stage.put::<Cluster>(json!({ "metadata": { "name": "mine", "labels": labels }, "spec": {} })).await;
    says(&stage, "mine", "Paused", "False", "NotPaused").await;
    assert!(stage.api::<Cluster>().get("other").await.unwrap().status.is_none());
}
