//! Sets are left to Cluster API as soon as it shows.

use capt_api::ClusterResourceSet;
use capt_api::names::label;
use capt_testkit::{TestCluster, eventually};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

use super::scene::{Scene, far, manifest, value};
use crate::stage::{Manager, Stage, module, prepare};

async fn label_crd(stage: &Stage, provider: Value) {
    let crds: Api<CustomResourceDefinition> = Api::all(stage.client.clone());
    let patch = Patch::Merge(json!({ "metadata": { "labels": { label::PROVIDER: provider } } }));
    for name in ["clusters.cluster.x-k8s.io", "clusterresourcesets.addons.cluster.x-k8s.io"] {
        crds.patch(name, &PatchParams::default(), &patch).await.unwrap();
    }
}

/// Puts something that is done in any case, and waits until it is: what came before has been looked at by then.
async fn meanwhile(stage: &Stage, name: &str) {
    stage.put_apply(name, json!({ "templateRef": { "name": "t" } })).await;
    stage.condition(name, "Applied", "True", "UpToDate").await;
}

/// On a control plane of its own, since it takes sets away from everybody.
#[tokio::test]
async fn sets_are_left_to_cluster_api_when_it_arrives_and_taken_back_when_it_goes() {
    let server = TestCluster::start().await;
    prepare(&server).await;
    let namespace = server.namespace("owner").await;
    let scene = Scene::on(Stage::on(&server, &namespace));
    let stage = &scene.stage;
    stage.put_template("t", &module(&[])).await;
    let there = far(&server, &namespace);
    let manager = Manager::start(&server, scene.options()).await;
    scene.put_cluster("c", &server.control_plane().kubeconfig()).await;
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "1"))]).await;
    scene.put_set("before", "Reconcile", &["m"]).await;
    scene.applied("before").await;

    label_crd(stage, json!("cluster-api")).await;
    let sets = stage.api::<ClusterResourceSet>();
    let mut number = 0;
    let untouched = eventually("a set that is left alone", async || {
        number += 1;
        let name = format!("after-{number}");
        scene.put_set(&name, "ApplyOnce", &["m"]).await;
        meanwhile(stage, &format!("canary-{number}")).await;
        let set = sets.get(&name).await.unwrap();
        (set.finalizers().is_empty() && set.status.is_none()).then_some(name)
    })
    .await;
    let (kept, binding) = (sets.get("before").await.unwrap(), scene.bindings().get("c").await.unwrap());
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "2"))]).await;
    meanwhile(stage, "canary-more").await;
    assert_eq!(value(&there, "x").await.as_deref(), Some("1"));
    assert_eq!(sets.get("before").await.unwrap().resource_version(), kept.resource_version());
    assert_eq!(scene.bindings().get("c").await.unwrap().resource_version(), binding.resource_version());

    label_crd(stage, Value::Null).await;
    eventually("to be brought", async || value(&there, "x").await.as_deref() == Some("2")).await;
    scene.applied(&untouched).await;
    manager.stop().await;
}
