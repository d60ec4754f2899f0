//! Hands that put Clusters and play their networks and control planes.

use capt_api::names::annotation;
use capt_api::{CAPTCluster, CAPTControlPlane, Cluster};
use capt_testkit::watch_until;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::Resource;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::{Value, json};

use crate::stage::{Stage, condition};

pub(super) const HOLD: &str = "example.com/hold";

/// The spec of a Cluster whose network and control plane have this name.
pub(super) fn refers_to(name: &str) -> Value {
    json!({
        "clusterNetwork": { "pods": { "cidrBlocks": ["192.168.0.0/16"] }, "serviceDomain": "cluster.local" },
        "infrastructureRef": { "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "CAPTCluster", "name": name },
        "controlPlaneRef": { "apiGroup": "controlplane.cluster.x-k8s.io", "kind": "CAPTControlPlane", "name": name },
    })
}

pub(super) async fn put_cluster(stage: &Stage, name: &str, spec: Value) -> Cluster {
    stage.put(json!({ "metadata": { "name": name }, "spec": spec })).await
}

/// A network that its own driver leaves alone.
pub(super) async fn put_network(stage: &Stage, name: &str, finalizers: &[&str]) -> CAPTCluster {
    let metadata = played(name, finalizers);
    stage
        .put(json!({ "metadata": metadata, "spec": { "region": "nowhere-1", "existingVpcId": "vpc-1" } }))
        .await
}

/// A control plane that its own driver leaves alone.
pub(super) async fn put_control_plane(stage: &Stage, name: &str, finalizers: &[&str]) -> CAPTControlPlane {
    let metadata = played(name, finalizers);
    let spec = json!({ "version": "1.34", "workspaceTemplateRef": { "name": "t" } });
    stage.put(json!({ "metadata": metadata, "spec": spec })).await
}

pub(super) async fn put_parts(stage: &Stage, name: &str, finalizers: &[&str]) {
    put_network(stage, name, finalizers).await;
    put_control_plane(stage, name, finalizers).await;
}

fn played(name: &str, finalizers: &[&str]) -> Value {
    json!({ "name": name, "finalizers": finalizers, "annotations": { annotation::MANAGED_BY: "a-test" } })
}

pub(super) async fn let_go<K>(stage: &Stage, name: &str)
where
    K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + serde::de::DeserializeOwned,
{
    stage.change::<K>(name, json!({ "metadata": { "finalizers": [] } })).await;
}

/// The network says that it is there.
pub(super) async fn network_is_ready(stage: &Stage, name: &str) {
    let status = json!({ "status": {
        "ready": true, "initialization": { "provisioned": true },
        "failureDomains": [{ "name": "b", "controlPlane": true }, { "name": "a", "controlPlane": true }],
        "conditions": [condition_with_message("Ready", "True", "NetworkReady")],
    } });
    let networks = stage.api::<CAPTCluster>();
    networks.patch_status(name, &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
}

/// The control plane says that it is there, and where.
pub(super) async fn control_plane_is_ready(stage: &Stage, name: &str) {
    let endpoint = json!({ "spec": { "controlPlaneEndpoint": { "host": "api.example.com", "port": 6443 } } });
    stage.change::<CAPTControlPlane>(name, endpoint).await;
    let status = json!({ "status": {
        "ready": true, "initialized": true, "initialization": { "controlPlaneInitialized": true },
        "versions": [{ "version": "v1.34.2" }],
        "conditions": [
            condition_with_message("Available", "True", "ControlPlaneReady"),
            condition_with_message("Reachable", "True", "Reachable"),
            condition_with_message("RollingOut", "False", "NotRollingOut"),
        ],
    } });
    let control_planes = stage.api::<CAPTControlPlane>();
    control_planes.patch_status(name, &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
}

pub(super) fn condition_with_message(type_: &str, status: &str, reason: &str) -> Value {
    let mut condition = condition(type_, status, reason);
    condition["message"] = json!("");
    condition
}

pub(super) fn find<'cluster>(cluster: &'cluster Cluster, type_: &str) -> Option<&'cluster Condition> {
    cluster.status.as_ref()?.conditions.iter().find(|condition| condition.type_ == type_)
}

pub(super) fn message<'cluster>(cluster: &'cluster Cluster, type_: &str) -> &'cluster str {
    find(cluster, type_).map(|condition| condition.message.as_str()).unwrap_or_default()
}

/// Waits for a condition of a Cluster.
pub(super) async fn says(stage: &Stage, cluster: &str, type_: &str, status: &str, reason: &str) -> Cluster {
    let what = format!("{type_}={status} ({reason}) of Cluster {cluster}");
    watch_until(&what, &stage.api::<Cluster>(), cluster, |cluster: &Cluster| {
        find(cluster, type_).is_some_and(|found| found.status == status && found.reason == reason)
    })
    .await
}

/// Waits until a Cluster can be used.
pub(super) async fn is_available(stage: &Stage, cluster: &str) -> Cluster {
    says(stage, cluster, "Available", "True", "Available").await
}

pub(super) async fn is_gone(stage: &Stage, cluster: &str) {
    capt_testkit::eventually("the Cluster to be gone", async || {
        stage.api::<Cluster>().get_opt(cluster).await.unwrap().is_none()
    })
    .await;
}

pub(super) async fn delete(stage: &Stage, cluster: &str) {
    stage.api::<Cluster>().delete(cluster, &DeleteParams::default()).await.unwrap();
}
