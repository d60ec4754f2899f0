//! A set that is settled asks for nothing, whatever is looked at.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use capt_api::{Cluster, ClusterResourceSet};
use capt_controller::manager;
use capt_controller::options::Options;
use capt_testkit::eventually;
use http::Request;
use kube::Client;
use kube::api::{Patch, PatchParams};
use kube::client::Body;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::gate::Gate;
use super::scene::{Scene, first, manifest};
use crate::stage::{cluster, condition, manager_client};

/// How often in a row nothing may have changed until it is quiet.
const LOOKS: usize = 15;

/// What was asked for, but for watches and lists.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<String>>>);

impl Asked {
    fn listen(&self, client: Client) -> Client {
        let asked = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let query = request.uri().query().unwrap_or_default();
            let is_listing = query.contains("watch=true") || query.contains("resourceVersion");
            if !is_listing {
                asked.0.lock().unwrap().push(format!("{} {}", request.method(), request.uri().path()));
            }
            let client = client.clone();
            async move { client.send(request).await }
        });
        Client::new(service, "default")
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// How often sets were reconciled.
async fn reconciles(metrics: SocketAddr) -> u64 {
    let mut stream = TcpStream::connect(metrics).await.unwrap();
    stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let series = answer.lines().filter(|line| {
        line.starts_with("capt_reconciles_total{") && line.contains("kind=\"ClusterResourceSet\"")
    });
    series.map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum()
}

#[tokio::test]
async fn a_settled_set_asks_nobody_for_anything_when_the_status_of_a_cluster_changes() {
    let (scene, workload) = (Scene::without_manager().await, first().await);
    let namespace = workload.namespace("quiet").await;
    let gate = Gate::to(workload).await;
    let asked = Asked::default();
    let client = asked.listen(manager_client(cluster().await).await);
    let metrics = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let options = Options { diagnostics_address: Some(metrics), ..scene.options() };
    let shutdown = CancellationToken::new();
    let task = tokio::spawn(manager::run(client, options, shutdown.clone()));

    for name in ["a", "b", "c"] {
        scene.put_cluster(name, &gate.kubeconfig()).await;
    }
    scene.stage.put_config_map("m", &[("a", &manifest(&namespace, "x", "1"))]).await;
    scene.put_set("once", "ApplyOnce", &["m"]).await;
    scene.put_set("kept", "Reconcile", &["m"]).await;
    scene.applied("once").await;
    scene.applied("kept").await;
    let quiet = async || {
        let (mut last, mut same) = (None, 0);
        eventually("the manager to be quiet", async || {
            let now = Some((reconciles(metrics).await, asked.all().len(), gate.sent()));
            same = if now == last { same + 1 } else { 0 };
            last = now;
            same >= LOOKS
        })
        .await;
    };
    quiet().await;
    let before = (asked.all().len(), gate.sent(), reconciles(metrics).await);

    let status = json!({ "status": { "conditions": [condition("Foreign", "True", "Changed")] } });
    for name in ["a", "b", "c"] {
        let clusters = scene.stage.api::<Cluster>();
        clusters.patch_status(name, &PatchParams::default(), &Patch::Merge(status.clone())).await.unwrap();
    }
    // Both are looked at in any case.
    for name in ["once", "kept"] {
        let touch = json!({ "metadata": { "annotations": { "touched": "1" } } });
        scene.stage.change::<ClusterResourceSet>(name, touch).await;
    }
    eventually("both to be looked at", async || reconciles(metrics).await >= before.2 + 2).await;
    quiet().await;
    assert_eq!(asked.all()[before.0..], [] as [String; 0]);
    assert_eq!(gate.sent(), before.1, "nothing was sent to any cluster");
    shutdown.cancel();
    task.await.unwrap().unwrap();
}
