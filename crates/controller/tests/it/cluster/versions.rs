//! Clusters written in the version before: refused with a sentence, and no harm done to others.

use capt_api::Cluster;
use kube::api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

use super::hands::{is_gone, put_cluster, refers_to, says};
use crate::stage::Stage;

fn earlier(stage: &Stage) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("cluster.x-k8s.io", "v1beta1", "Cluster");
    Api::namespaced_with(stage.client.clone(), &stage.namespace, &ApiResource::from_gvk(&kind))
}

/// A manifest as it was written for years.
fn manifest() -> Value {
    json!({
        "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster",
        "metadata": { "name": "old" },
        "spec": {
            "clusterNetwork": { "pods": { "cidrBlocks": ["192.168.0.0/16"] } },
            "infrastructureRef": { "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "CAPTCluster",
                "name": "demo", "namespace": "default" },
            "controlPlaneRef": { "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane", "name": "demo" },
        },
    })
}

fn assert_refused<T: std::fmt::Debug>(answer: Result<T, kube::Error>) {
    let kube::Error::Api(status) = answer.unwrap_err() else { unreachable!("the API server answers") };
    let text = &status.message;
    assert!(text.contains("write `apiVersion: cluster.x-k8s.io/v1beta2`"), "{text}");
    assert!(
        text.contains("an apiGroup") && text.contains("instead of an apiVersion and a namespace"),
        "{text}"
    );
    assert_eq!(status.code, 422);
}

#[tokio::test]
async fn the_version_before_is_refused_however_it_is_written() {
    let stage = Stage::without_manager().await;
    let clusters = earlier(&stage);
    let object: DynamicObject = serde_json::from_value(manifest()).unwrap();
    assert_refused(clusters.create(&PostParams::default(), &object).await);
    let parameters = PatchParams::apply("kubectl").force();
    assert_refused(clusters.patch("old", &parameters, &Patch::Apply(manifest())).await);
    assert!(clusters.get_opt("old").await.unwrap().is_none());
}

#[tokio::test]
async fn the_version_before_can_be_read_and_deleted_but_not_changed() {
    let stage = Stage::set().await;
    put_cluster(&stage, "demo", refers_to("demo")).await;
    says(&stage, "demo", "ControlPlaneAvailable", "False", "ObjectDoesNotExist").await;
    let clusters = earlier(&stage);
    let read = clusters.get("demo").await.unwrap();
    assert_eq!(read.data["spec"]["infrastructureRef"]["name"], "demo");
    let change = Patch::Merge(json!({ "spec": { "paused": true } }));
    assert_refused(clusters.patch("demo", &PatchParams::default(), &change).await);
    let label = Patch::Merge(json!({ "metadata": { "labels": { "a": "b" } } }));
    assert_refused(clusters.patch("demo", &PatchParams::default(), &label).await);
    let after = stage.api::<Cluster>().get("demo").await.unwrap();
    assert_eq!((after.spec.paused, after.labels().len()), (None, 0));
    clusters.delete("demo", &DeleteParams::default()).await.unwrap();
    is_gone(&stage, "demo").await;
}
