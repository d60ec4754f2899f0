//! From manifests to a Cluster that can be used.

use std::fmt::Debug;
use std::pin::pin;

use capt_api::names::{CLUSTER_FIELD_MANAGER, finalizer, label};
use capt_api::{CAPTCluster, CAPTControlPlane, Cluster};
use capt_testkit::{eventually, watch_until};
use futures::StreamExt;
use k8s_openapi::NamespaceResourceScope;
use kube::api::{DeleteParams, WatchEvent, WatchParams};
use kube::{Api, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::hands::{
    control_plane_is_ready, delete, find, is_available, is_gone, message, network_is_ready, put_cluster,
    put_control_plane, put_network, put_parts, refers_to, says,
};
use crate::stage::Stage;

#[tokio::test]
async fn references_to_other_kinds_are_told_with_a_way_out() {
    let stage = Stage::set().await;
    let mut spec = refers_to("demo");
    spec["infrastructureRef"]["kind"] = json!("AWSCluster");
    put_cluster(&stage, "other-kind", spec).await;
    let cluster = says(&stage, "other-kind", "InfrastructureReady", "False", "ReferenceUnsupported").await;
    let told = message(&cluster, "InfrastructureReady");
    assert!(told.contains("AWSCluster") && told.contains("install Cluster API"), "{told}");
    put_cluster(
        &stage,
        "topology",
        json!({ "topology": { "classRef": { "name": "x" }, "version": "v1.34.2" } }),
    )
    .await;
    let cluster = says(&stage, "topology", "ControlPlaneAvailable", "False", "ReferenceUnsupported").await;
    let told = message(&cluster, "ControlPlaneAvailable");
    assert!(told.contains("ClusterClass"), "{told}");
    assert_eq!(cluster.status.unwrap().phase.as_deref(), Some("Pending"));
    delete(&stage, "other-kind").await;
    is_gone(&stage, "other-kind").await;
}

#[tokio::test]
async fn a_cluster_comes_up_step_by_step() {
    let stage = Stage::set().await;
    put_cluster(&stage, "demo", refers_to("demo")).await;
    let cluster = says(&stage, "demo", "InfrastructureReady", "False", "ObjectDoesNotExist").await;
    assert_eq!(message(&cluster, "InfrastructureReady"), "CAPTCluster `demo` does not exist");
    assert_eq!(cluster.status.as_ref().unwrap().phase.as_deref(), Some("Provisioning"));
    assert!(cluster.finalizers().iter().any(|entry| entry == finalizer::CLUSTER));

    put_network(&stage, "demo", &[]).await;
    put_control_plane(&stage, "demo", &[]).await;
    says(&stage, "demo", "InfrastructureReady", "False", "NotReady").await;
    says(&stage, "demo", "ControlPlaneInitialized", "False", "NotInitialized").await;
    is_marked::<CAPTCluster>(&stage, &cluster).await;
    is_marked::<CAPTControlPlane>(&stage, &cluster).await;

    network_is_ready(&stage, "demo").await;
    let cluster = says(&stage, "demo", "InfrastructureReady", "True", "NetworkReady").await;
    let status = cluster.status.unwrap();
    assert_eq!(status.initialization.unwrap().infrastructure_provisioned, Some(true));
    let zones: Vec<_> = status.failure_domains.iter().map(|zone| zone.name.as_str()).collect();
    assert_eq!(zones, ["a", "b"]);
    assert_eq!(status.phase.as_deref(), Some("Provisioning"));

    control_plane_is_ready(&stage, "demo").await;
    let cluster = is_available(&stage, "demo").await;
    let endpoint = cluster.spec.control_plane_endpoint.as_ref().unwrap();
    assert_eq!((endpoint.host.as_str(), endpoint.port), ("api.example.com", 6443));
    assert_eq!(cluster.spec.cluster_network, Some(refers_to("demo")["clusterNetwork"].clone()));
    let status = cluster.status.as_ref().unwrap();
    assert_eq!(status.phase.as_deref(), Some("Provisioned"));
    assert_eq!(status.observed_generation, cluster.metadata.generation);
    assert_eq!(status.control_plane.as_ref().unwrap().versions[0].version, "v1.34.2");
    for (type_, reason) in [
        ("ControlPlaneInitialized", "Initialized"),
        ("ControlPlaneAvailable", "ControlPlaneReady"),
        ("RemoteConnectionProbe", "ProbeSucceeded"),
        ("WorkersAvailable", "NoWorkers"),
    ] {
        assert_eq!(find(&cluster, type_).unwrap().reason, reason);
    }
    for reason in ["Provisioned", "Available"] {
        eventually("an Event", async || {
            stage.events("demo").await.iter().any(|event| event.reason.as_deref() == Some(reason))
        })
        .await;
    }

    // What is lost later is told, and what was there once stays so.
    stage.api::<CAPTCluster>().delete("demo", &DeleteParams::default()).await.unwrap();
    let cluster = says(&stage, "demo", "InfrastructureReady", "False", "ObjectDeleted").await;
    let status = cluster.status.unwrap();
    assert_eq!(status.initialization.unwrap().infrastructure_provisioned, Some(true));
    assert_eq!(status.phase.as_deref(), Some("Provisioned"));
}

async fn is_marked<K>(stage: &Stage, cluster: &Cluster)
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + DeserializeOwned
        + Send
        + 'static,
{
    let part = watch_until("the mark", &stage.api::<K>(), "demo", |part: &K| {
        part.meta().owner_references.as_ref().is_some_and(|owners| !owners.is_empty())
    })
    .await;
    assert_eq!(part.labels().get(label::CLUSTER_NAME).map(String::as_str), Some("demo"));
    let owner = &part.owner_references()[0];
    assert_eq!((owner.api_version.as_str(), owner.kind.as_str()), ("cluster.x-k8s.io/v1beta2", "Cluster"));
    assert_eq!(Some(&owner.uid), cluster.uid().as_ref());
    assert_eq!((owner.controller, owner.block_owner_deletion), (Some(false), Some(true)));
    let managers = part.managed_fields().iter().filter_map(|entry| entry.manager.as_deref());
    assert_eq!(managers.filter(|manager| *manager == CLUSTER_FIELD_MANAGER).count(), 1);
}

/// How often an object was written since then.
async fn writes<K>(api: Api<K>, then: &K) -> usize
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let name = then.name_any();
    let last = api.get(&name).await.unwrap().resource_version();
    if last == then.resource_version() {
        return 0;
    }
    let parameters = WatchParams::default().fields(&format!("metadata.name={name}"));
    let mut changes = pin!(api.watch(&parameters, &then.resource_version().unwrap()).await.unwrap());
    let mut count = 0;
    while let Some(WatchEvent::Modified(object)) = changes.next().await.transpose().unwrap() {
        count += 1;
        if object.resource_version() == last {
            break;
        }
    }
    count
}

#[tokio::test]
async fn few_writes_bring_a_cluster_up() {
    let mut stage = Stage::without_manager().await;
    put_parts(&stage, "demo", &[]).await;
    network_is_ready(&stage, "demo").await;
    control_plane_is_ready(&stage, "demo").await;
    let cluster = put_cluster(&stage, "demo", refers_to("demo")).await;
    let network = stage.api::<CAPTCluster>().get("demo").await.unwrap();
    let control_plane = stage.api::<CAPTControlPlane>().get("demo").await.unwrap();
    stage.start_manager().await;
    is_available(&stage, "demo").await;
    stage.stop_manager().await;
    assert_eq!(writes(stage.api(), &network).await, 1, "owner and label");
    assert_eq!(writes(stage.api(), &control_plane).await, 1, "owner and label");
    let count = writes(stage.api(), &cluster).await;
    assert!(count <= 4, "finalizer, endpoint and at most two statuses, but {count}");

    // Nothing is written again when the manager starts anew.
    let before = stage.api::<Cluster>().get("demo").await.unwrap();
    stage.start_manager().await;
    put_cluster(&stage, "later", json!({})).await;
    says(&stage, "later", "Paused", "False", "NotPaused").await;
    stage.stop_manager().await;
    assert_eq!(
        stage.api::<Cluster>().get("demo").await.unwrap().resource_version(),
        before.resource_version()
    );
}
