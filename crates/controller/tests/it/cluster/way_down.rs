//! The way down: the control plane, the network, the Cluster.

use capt_api::names::annotation;
use capt_api::{CAPTCluster, CAPTControlPlane, Cluster};
use kube::api::DeleteParams;
use kube::{Resource, ResourceExt};
use serde_json::json;

use super::hands::{
    HOLD, control_plane_is_ready, delete, is_available, is_gone, let_go, message, network_is_ready,
    put_cluster, put_parts, refers_to, says,
};
use crate::stage::Stage;

fn is_going<K: Resource>(object: &K) -> bool {
    object.meta().deletion_timestamp.is_some()
}

#[tokio::test]
async fn the_network_goes_after_the_control_plane_and_the_cluster_last() {
    let stage = Stage::set().await;
    put_parts(&stage, "demo", &[HOLD]).await;
    put_cluster(&stage, "demo", refers_to("demo")).await;
    network_is_ready(&stage, "demo").await;
    control_plane_is_ready(&stage, "demo").await;
    is_available(&stage, "demo").await;

    delete(&stage, "demo").await;
    let cluster = says(&stage, "demo", "Deleting", "True", "WaitingForControlPlaneDeletion").await;
    assert_eq!(message(&cluster, "Deleting"), "Waiting for CAPTControlPlane `demo` to be deleted");
    assert_eq!(cluster.status.unwrap().phase.as_deref(), Some("Deleting"));
    assert!(is_going(&stage.api::<CAPTControlPlane>().get("demo").await.unwrap()));
    assert!(!is_going(&stage.api::<CAPTCluster>().get("demo").await.unwrap()));

    let_go::<CAPTControlPlane>(&stage, "demo").await;
    says(&stage, "demo", "Deleting", "True", "WaitingForInfrastructureDeletion").await;
    assert!(is_going(&stage.api::<CAPTCluster>().get("demo").await.unwrap()));
    let_go::<CAPTCluster>(&stage, "demo").await;
    is_gone(&stage, "demo").await;
}

#[tokio::test]
async fn everything_may_be_deleted_at_once() {
    let stage = Stage::set().await;
    put_parts(&stage, "demo", &[HOLD]).await;
    put_cluster(&stage, "demo", refers_to("demo")).await;
    says(&stage, "demo", "Deleting", "False", "NotDeleting").await;
    let now = DeleteParams::default();
    delete(&stage, "demo").await;
    stage.api::<CAPTCluster>().delete("demo", &now).await.unwrap();
    stage.api::<CAPTControlPlane>().delete("demo", &now).await.unwrap();
    says(&stage, "demo", "Deleting", "True", "WaitingForControlPlaneDeletion").await;
    // Somebody lets the network go too early: the Cluster still waits for the control plane.
    let_go::<CAPTCluster>(&stage, "demo").await;
    says(&stage, "demo", "InfrastructureReady", "False", "ObjectDoesNotExist").await;
    let_go::<CAPTControlPlane>(&stage, "demo").await;
    is_gone(&stage, "demo").await;
}

#[tokio::test]
async fn what_is_gone_already_holds_nothing_up() {
    let mut stage = Stage::set().await;
    put_cluster(&stage, "without-parts", refers_to("never-made")).await;
    put_parts(&stage, "demo", &[]).await;
    put_cluster(&stage, "demo", refers_to("demo")).await;
    for cluster in ["without-parts", "demo"] {
        says(&stage, cluster, "Deleting", "False", "NotDeleting").await;
    }
    stage.stop_manager().await;
    for cluster in ["without-parts", "demo"] {
        delete(&stage, cluster).await;
    }
    stage.api::<CAPTControlPlane>().delete("demo", &DeleteParams::default()).await.unwrap();
    stage.start_manager().await;
    for cluster in ["without-parts", "demo"] {
        is_gone(&stage, cluster).await;
    }
    assert!(stage.api::<CAPTCluster>().get_opt("demo").await.unwrap().is_none());
}

#[tokio::test]
async fn what_belongs_to_another_cluster_is_left_alone() {
    let stage = Stage::set().await;
    put_parts(&stage, "shared", &[]).await;
    put_cluster(&stage, "first", refers_to("shared")).await;
    says(&stage, "first", "InfrastructureReady", "False", "NotReady").await;
    put_cluster(&stage, "second", refers_to("shared")).await;
    let second = says(&stage, "second", "InfrastructureReady", "False", "ReferenceNotOwned").await;
    assert!(message(&second, "InfrastructureReady").contains("belongs to Cluster `first`"));
    says(&stage, "second", "ControlPlaneAvailable", "False", "ReferenceNotOwned").await;
    delete(&stage, "second").await;
    is_gone(&stage, "second").await;
    let network = stage.api::<CAPTCluster>().get("shared").await.unwrap();
    assert!(!is_going(&network));
    assert_eq!(network.owner_references().len(), 1);
    assert_eq!(network.owner_references()[0].name, "first");
    assert!(!is_going(&stage.api::<CAPTControlPlane>().get("shared").await.unwrap()));
}

#[tokio::test]
async fn a_pause_holds_everything_also_on_the_way_down() {
    let stage = Stage::set().await;
    put_parts(&stage, "demo", &[]).await;
    let mut spec = refers_to("demo");
    spec["paused"] = json!(true);
    put_cluster(&stage, "demo", spec).await;
    let cluster = says(&stage, "demo", "Paused", "True", "Paused").await;
    assert_eq!(message(&cluster, "Paused"), "Cluster spec.paused is set to true");
    assert!(cluster.finalizers().is_empty());
    assert_eq!(cluster.status.unwrap().conditions.len(), 1);
    assert!(stage.api::<CAPTCluster>().get("demo").await.unwrap().owner_references().is_empty());

    stage.change::<Cluster>("demo", json!({ "spec": { "paused": false } })).await;
    says(&stage, "demo", "Paused", "False", "NotPaused").await;
    let paused = json!({ "metadata": { "annotations": { annotation::PAUSED: "" } } });
    stage.change::<Cluster>("demo", paused).await;
    let cluster = says(&stage, "demo", "Paused", "True", "Paused").await;
    assert_eq!(message(&cluster, "Paused"), "Cluster has the cluster.x-k8s.io/paused annotation");
    delete(&stage, "demo").await;
    // A Cluster that is looked at later shows that the paused one has been looked at.
    put_cluster(&stage, "later", json!({})).await;
    says(&stage, "later", "Paused", "False", "NotPaused").await;
    assert!(!is_going(&stage.api::<CAPTControlPlane>().get("demo").await.unwrap()));
    stage
        .change::<Cluster>("demo", json!({ "metadata": { "annotations": { annotation::PAUSED: null } } }))
        .await;
    is_gone(&stage, "demo").await;
}

#[tokio::test]
async fn a_moved_cluster_is_let_go_and_its_parts_stay() {
    let stage = Stage::set().await;
    put_parts(&stage, "demo", &[HOLD]).await;
    put_cluster(&stage, "demo", refers_to("demo")).await;
    says(&stage, "demo", "ControlPlaneAvailable", "False", "NotAvailable").await;
    let moved = json!({
        "metadata": { "annotations": { annotation::DELETE_FOR_MOVE: "" } }, "spec": { "paused": true },
    });
    stage.change::<Cluster>("demo", moved).await;
    stage.api::<Cluster>().delete("demo", &DeleteParams::orphan()).await.unwrap();
    // Let go by us, and then by whoever takes the owner references away.
    is_gone(&stage, "demo").await;
    assert!(!is_going(&stage.api::<CAPTControlPlane>().get("demo").await.unwrap()));
}
