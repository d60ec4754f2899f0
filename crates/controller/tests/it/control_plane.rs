//! `CAPTControlPlane` on the real API server, which is its own workload cluster too.

mod bad_input;
mod clearing;
mod fleet;
mod life;
mod noting;
mod requests;
pub(crate) mod scene;
mod tokens;

use capt_api::Cluster;
use capt_api::capt_control_plane::{Phase, SecretState};
use capt_testkit::watch_until;
use kube::ResourceExt;

use crate::stage::var;
use scene::Scene;

#[tokio::test]
async fn a_control_plane_becomes_ready_with_endpoint_and_kubeconfig() {
    let scene = Scene::set().await;
    let workspace = scene.workspace().await;
    assert_eq!(var(&workspace, "cluster_name"), Some(scene.name.as_str()));
    assert_eq!(var(&workspace, "kubernetes_version"), Some("1.34"));
    let waiting = scene.condition("SecretsReady", "False", "WaitingForConnectionSecret").await;
    let status = waiting.status.unwrap();
    assert_eq!(
        (status.phase, status.secret_state),
        (Some(Phase::Creating), Some(SecretState::WaitingForSecret))
    );
    assert!(!status.ready && !status.initialized && !status.secrets_ready);

    scene.provision().await;
    let found = scene
        .until("the control plane to be ready", |found| {
            found.status.as_ref().is_some_and(|status| status.ready)
        })
        .await;
    let status = found.status.unwrap();
    assert!(status.initialized && status.secrets_ready);
    assert!(status.initialization.unwrap().control_plane_initialized);
    assert_eq!((status.phase, status.secret_state), (Some(Phase::Ready), Some(SecretState::Ready)));
    assert!(status.workspace_status.unwrap().at_provider.unwrap()["outputs"]["cluster_endpoint"].is_string());
    let endpoint = found.spec.control_plane_endpoint.unwrap();
    let url = format!("https://{}:{}", endpoint.host, endpoint.port);
    assert_eq!(url, scene.workload.control_plane().url());

    let kubeconfig = scene.outputs()[0].1.clone();
    for name in [format!("{}-kubeconfig", scene.name), format!("{}-control-plane-kubeconfig", scene.name)] {
        assert_eq!(scene.secret(&name, "value").await.as_ref(), Some(&kubeconfig), "{name}");
        let secret = scene.secrets().get(&name).await.unwrap();
        assert_eq!(secret.type_.as_deref(), Some("cluster.x-k8s.io/secret"));
        assert_eq!(secret.labels()["cluster.x-k8s.io/cluster-name"], scene.name);
        assert_eq!(secret.owner_references()[0].kind, "CAPTControlPlane");
    }
    let authority = scene.secret(&format!("{}-ca", scene.name), "tls.crt").await.unwrap();
    assert!(authority.starts_with("-----BEGIN CERTIFICATE-----"));

    let found = scene.condition("Reachable", "True", "Reachable").await;
    assert_eq!(found.status.unwrap().version.as_deref(), Some("v1.34.4"));
    let cluster =
        watch_until("the Cluster to be available", &scene.stage.api::<Cluster>(), &scene.name, |cluster| {
            let conditions = cluster.status.iter().flat_map(|status| &status.conditions);
            conditions.filter(|told| told.type_ == "Available").any(|told| told.status == "True")
        })
        .await;
    assert_eq!(cluster.spec.control_plane_endpoint.unwrap().host, endpoint.host);
    assert_eq!(cluster.status.unwrap().phase.as_deref(), Some("Provisioned"));
}
