//! Clusters are left to Cluster API as soon as it shows.

use capt_api::Cluster;
use capt_api::names::label;
use capt_controller::options::{ClusterApiMode, Options};
use capt_testkit::{TestCluster, eventually};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

use super::hands::{is_available, network_is_ready, put_cluster, put_parts, refers_to, says};
use crate::stage::{Manager, Stage, module, prepare};

/// Puts something that is done in any case, and waits until it is: what came before has been looked at by then.
async fn meanwhile(stage: &Stage, name: &str) {
    stage.put_apply(name, json!({ "templateRef": { "name": "t" } })).await;
    stage.condition(name, "Applied", "True", "UpToDate").await;
}

async fn label_crd(stage: &Stage, provider: Value) {
    let crds: Api<CustomResourceDefinition> = Api::all(stage.client.clone());
    let patch = Patch::Merge(json!({ "metadata": { "labels": { label::PROVIDER: provider } } }));
    crds.patch("clusters.cluster.x-k8s.io", &PatchParams::default(), &patch).await.unwrap();
}

/// On a control plane of its own, since it takes Clusters away from everybody.
#[tokio::test]
async fn clusters_are_left_to_cluster_api_when_it_arrives_and_taken_back_when_it_goes() {
    let server = TestCluster::start().await;
    prepare(&server).await;
    let namespace = server.namespace("owner").await;
    let stage = Stage::on(&server, &namespace);
    stage.put_template("t", &module(&[])).await;
    let clusters = stage.api::<Cluster>();
    let manager = Manager::start(&server, Options::default()).await;
    put_parts(&stage, "before", &[]).await;
    put_cluster(&stage, "before", refers_to("before")).await;
    says(&stage, "before", "InfrastructureReady", "False", "NotReady").await;

    label_crd(&stage, json!("cluster-api")).await;
    let mut number = 0;
    let untouched = eventually("a Cluster that is left alone", async || {
        number += 1;
        let name = format!("after-{number}");
        put_cluster(&stage, &name, refers_to("before")).await;
        meanwhile(&stage, &format!("canary-{number}")).await;
        let cluster = clusters.get(&name).await.unwrap();
        (cluster.finalizers().is_empty() && cluster.status.is_none()).then_some(name)
    })
    .await;
    let kept = clusters.get("before").await.unwrap();
    network_is_ready(&stage, "before").await;
    meanwhile(&stage, "canary-more").await;
    assert_eq!(clusters.get("before").await.unwrap().resource_version(), kept.resource_version());

    label_crd(&stage, Value::Null).await;
    says(&stage, "before", "InfrastructureReady", "True", "NetworkReady").await;
    says(&stage, &untouched, "InfrastructureReady", "False", "ReferenceNotOwned").await;
    manager.stop().await;

    // Whoever is told to look after Clusters, or not to, asks for no evidence.
    let options = |cluster_api| Options { cluster_api, ..Options::default() };
    let manager = Manager::start(&server, options(ClusterApiMode::External)).await;
    put_cluster(&stage, "external", json!({})).await;
    meanwhile(&stage, "canary-external").await;
    assert!(clusters.get("external").await.unwrap().status.is_none());
    manager.stop().await;
    label_crd(&stage, json!("cluster-api")).await;
    let _manager = Manager::start(&server, options(ClusterApiMode::Embedded)).await;
    says(&stage, "external", "Deleting", "False", "NotDeleting").await;
    super::hands::control_plane_is_ready(&stage, "before").await;
    is_available(&stage, "before").await;
}
