//! A manager that is killed at any moment leaves nothing that its successor cannot finish.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use capt_api::ClusterResourceSet;
use capt_controller::manager;
use capt_testkit::eventually;
use http::{Method, Request};
use kube::client::Body;
use kube::{Client, ResourceExt};
use tokio_util::sync::CancellationToken;

use super::scene::{Scene, condition, far, first, manifest, value};
use crate::stage::{cluster, manager_client};

/// More than a manager needs to bring a set to a Cluster.
const MOST_REQUESTS: usize = 9;

/// A client whose requests reach the API server until so many were made for sets.
fn mortal(client: Client, requests: usize, made: &Arc<AtomicUsize>) -> Client {
    let made = Arc::clone(made);
    let service = tower::service_fn(move |request: Request<Body>| {
        let path = request.uri().path();
        let counts = request.method() != Method::GET && path.contains("clusterresourceset")
            || path.contains("/configmaps/")
            || path.contains("/secrets/");
        let number = made.fetch_add(usize::from(counts), Ordering::Relaxed) + usize::from(counts);
        let client = client.clone();
        async move {
            if number > requests {
                std::future::pending::<()>().await;
            }
            client.send(request).await
        }
    });
    Client::new(service, "default")
}

async fn is_applied(scene: &Scene) -> bool {
    let set = scene.stage.api::<ClusterResourceSet>().get("s").await.unwrap();
    condition(&set, "ResourcesApplied").is_some_and(|told| told.status == "True")
}

#[tokio::test]
async fn a_set_is_brought_whenever_the_manager_is_killed() {
    let workload = first().await;
    let mut lasted = 0;
    for requests in 0..MOST_REQUESTS {
        let mut scene = Scene::without_manager().await;
        let namespace = workload.namespace("killed").await;
        scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
        scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "1"))]).await;
        scene.put_set("s", "ApplyOnce", &["m"]).await;
        let made = Arc::new(AtomicUsize::new(0));
        let client = mortal(manager_client(cluster().await).await, requests, &made);
        let doomed = tokio::spawn(manager::run(client, scene.options(), CancellationToken::new()));
        eventually("its end, or that of its work", async || {
            made.load(Ordering::Relaxed) > requests || is_applied(&scene).await
        })
        .await;
        lasted += usize::from(made.load(Ordering::Relaxed) <= requests);
        doomed.abort();

        scene.start_manager().await;
        scene.applied("s").await;
        assert_eq!(value(&far(workload, &namespace), "x").await.as_deref(), Some("1"));
        let binding = scene.bindings().get("c").await.unwrap();
        assert_eq!(binding.owner_references().len(), 1);
        assert_eq!(binding.spec.bindings.len(), 1);
        assert_eq!(scene.brought("c", "s").await.unwrap(), [("m".to_owned(), true)]);
        scene.stop_manager().await;
    }
    assert!(lasted > 0, "no manager lived to the end: more than {MOST_REQUESTS} requests");
}
