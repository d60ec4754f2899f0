//! What the earlier Go implementation left goes on as CAPT's: in place, and without a change of what runs.

mod left;

use capt_api::crd::own;
use capt_api::names::{annotation, condition, finalizer, label};
use capt_api::{CAPTCluster, CAPTControlPlane, Workspace, WorkspaceTemplateApply};
use capt_controller::install::{Kinds, Outcome, install};
use capt_controller::options::Options;
use capt_testkit::watch_until;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, ResourceExt};
use serde_json::json;

use self::left::Left;
use crate::stage::Manager;

/// A management cluster as the Go implementation left it with a cluster in it, and CAPT's kinds in the place of the earlier ones.
async fn upgraded(name: &str) -> Left {
    let left = Left::behind().await;
    left.put_cluster(name, "r").await;
    let outcomes = install(&left.client(), Kinds::Own, &own()).await.unwrap();
    assert!(outcomes.iter().all(|(_, outcome)| *outcome == Outcome::Installed), "{outcomes:?}");
    left
}

#[tokio::test]
async fn the_earlier_kinds_are_replaced_in_place_and_others_are_left_alone() {
    let left = Left::behind().await;
    left.put_cluster("demo", "r").await;
    let machine = left.put_machine("worker").await;
    install(&left.client(), Kinds::Own, &own()).await.unwrap();

    let crds: Api<CustomResourceDefinition> = Api::all(left.client());
    for crd in own() {
        let found = crds.get(&crd.name_any()).await.unwrap();
        assert!(!found.labels().contains_key(label::CONTRACT_V1BETA1), "{}", crd.name_any());
        assert_eq!(found.labels().get(label::CONTRACT_V1BETA2), crd.labels().get(label::CONTRACT_V1BETA2));
    }
    let machines = crds.get("captmachines.infrastructure.cluster.x-k8s.io").await.unwrap();
    assert!(machines.labels().contains_key(label::CONTRACT_V1BETA1), "not ours to change");
    assert_eq!(left.machine("worker").await.resource_version(), machine.resource_version());
    // What was stored under the earlier kinds is still there, the endpoint that is none included.
    let control_plane = left.api::<CAPTControlPlane>().get("demo").await.unwrap();
    assert_eq!(control_plane.spec.control_plane_endpoint.unwrap().host, left.url());
}

#[tokio::test]
async fn a_cluster_goes_on_with_its_workspaces_as_they_are() {
    let left = Box::pin(upgraded("demo")).await;
    let before = [left.workspace("demo-eks-controlplane").await, left.workspace("demo-vpc").await];
    let kubeconfig = left.api::<Secret>().get("demo-kubeconfig").await.unwrap();
    let _manager = Manager::start(&left.cluster, Options::default()).await;

    let control_plane =
        watch_until("the control plane to be ready", &left.api(), "demo", |found: &CAPTControlPlane| {
            let status = found.status.as_ref();
            status.is_some_and(|status| {
                status.ready && status.failure_reason.is_none() && status.failure_message.is_none()
            })
        })
        .await;
    let endpoint = control_plane.spec.control_plane_endpoint.as_ref().unwrap();
    assert_eq!(
        (endpoint.host.as_str(), endpoint.port),
        ("127.0.0.1", left.port()),
        "the URL became host and port"
    );
    let finalizers = control_plane.finalizers();
    assert!(finalizers.contains(&finalizer::CONTROL_PLANE.to_owned()), "{finalizers:?}");

    watch_until(
        "the network to be ready, and nothing to be left of the failure",
        &left.api(),
        "demo",
        |found: &CAPTCluster| {
            let Some(status) = &found.status else { return false };
            let left =
                status.conditions.iter().any(|entry| condition::LEGACY.contains(&entry.type_.as_str()));
            status.ready && !left && status.failure_reason.is_none()
        },
    )
    .await;

    for (apply, was) in ["demo-eks-controlplane-apply", "demo-vpc"].into_iter().zip(&before) {
        watch_until("the apply to be up to date", &left.api(), apply, |found: &WorkspaceTemplateApply| {
            let told = found
                .status
                .iter()
                .flat_map(|status| &status.conditions)
                .find(|entry| entry.type_ == "Applied");
            told.is_some_and(|told| told.status == "True")
        })
        .await;
        let now = left.workspace(&was.name_any()).await;
        assert_eq!(
            (now.uid(), now.metadata.generation, &now.spec),
            (was.uid(), was.metadata.generation, &was.spec)
        );
        assert!(now.annotations().contains_key(annotation::APPLY), "it is tied");
    }

    let now = watch_until(
        "the kubeconfig to follow the connection Secret",
        &left.api(),
        "demo-kubeconfig",
        |found: &Secret| found.labels().contains_key(label::MANAGED_BY),
    )
    .await;
    assert_eq!(now.uid(), kubeconfig.uid(), "the same Secret, in other hands");
    let authority = watch_until(
        "the authority to have the type that Cluster API wants",
        &left.api(),
        "demo-ca",
        |found: &Secret| found.type_.as_deref() == Some("cluster.x-k8s.io/secret"),
    )
    .await;
    assert!(authority.data.unwrap().contains_key("tls.crt"));
}

/// The earlier implementation never carried a change over, so that templates may have gone other ways than what runs.
#[tokio::test]
async fn edits_of_a_template_that_never_reached_the_workspace_wait() {
    let left = Box::pin(upgraded("old")).await;
    left.edit_template("control-plane", "# edited years ago").await;
    let was = left.workspace("old-eks-controlplane").await;
    let _manager = Manager::start(&left.cluster, Options::default()).await;
    let apply = watch_until(
        "the change to wait",
        &left.api(),
        "old-eks-controlplane-apply",
        |found: &WorkspaceTemplateApply| {
            let told = found
                .status
                .iter()
                .flat_map(|status| &status.conditions)
                .find(|entry| entry.type_ == "Applied");
            told.is_some_and(|told| told.reason == "ApprovalRequired")
        },
    )
    .await;
    let message = apply
        .status
        .unwrap()
        .conditions
        .iter()
        .find(|entry| entry.type_ == "Applied")
        .unwrap()
        .message
        .clone();
    assert!(message.contains("forProvider.module (from line"), "{message}");
    watch_until(
        "the control plane to be ready all the same",
        &left.api(),
        "old",
        |found: &CAPTControlPlane| found.status.as_ref().is_some_and(|status| status.ready),
    )
    .await;
    let now: Workspace = left.workspace("old-eks-controlplane").await;
    assert_eq!((now.metadata.generation, json!(now.spec)), (was.metadata.generation, json!(was.spec)));
}
