//! Killed after each of its writes, and run again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::HOST;
use axum::response::Response;
use kube::Client;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::stage::{Stage, command, ended};

/// More writes than a migration has.
const MOST: usize = 40;

/// The way to an API server, which ends after so many writes.
#[derive(Clone)]
struct Way {
    client: Client,
    left: Arc<AtomicUsize>,
    over: CancellationToken,
}

impl Way {
    /// Opens a way, and answers with its address.
    async fn open(client: Client, writes: usize) -> (Self, String) {
        let way = Self { client, left: Arc::new(AtomicUsize::new(writes)), over: CancellationToken::new() };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(pass).with_state(way.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        (way, address)
    }
}

async fn pass(State(way): State<Way>, request: Request) -> Response {
    if way.over.is_cancelled() {
        std::future::pending::<()>().await;
    }
    let (mut parts, body) = request.into_parts();
    parts.headers.remove(HOST);
    let is_write = !parts.method.is_safe();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    let request = axum::http::Request::from_parts(parts, kube::client::Body::from(body.to_vec()));
    let response = way.client.send(request).await.unwrap();
    if is_write && way.left.fetch_sub(1, Ordering::SeqCst) == 1 {
        // It was written, and nobody learns of it.
        way.over.cancel();
        std::future::pending::<()>().await;
    }
    response.map(Body::new)
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_it_has_written_last_running_it_again_finishes_it() {
    for writes in 1..MOST {
        let stage = Stage::set().await;
        let manager = stage.play_manager();
        let (way, address) = Way::open(stage.client.clone(), writes).await;
        let kubeconfig = tempfile::NamedTempFile::new().unwrap();
        let content = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "x",
            "contexts": [{ "name": "x", "context": { "cluster": "x", "user": "x" } }],
            "clusters": [{ "name": "x", "cluster": { "server": address } }],
            "users": [{ "name": "x", "user": {} }],
        });
        std::fs::write(kubeconfig.path(), content.to_string()).unwrap();
        let child = command(kubeconfig.path(), &stage.namespace, "json", &["--yes"]).spawn().unwrap();
        let pid = Pid::from_child(&child);
        let mut running = tokio::spawn(ended(child));
        tokio::select! {
            result = &mut running => {
                let (code, _, told) = result.unwrap();
                assert_eq!(code, Some(0), "{told}");
                assert!(writes > 8, "only {writes} writes");
                stage.assert_migrated().await;
                manager.abort();
                return;
            }
            () = way.over.cancelled() => kill_process(pid, Signal::KILL).unwrap(),
        }
        running.await.unwrap();

        let (code, _, told) = stage.migrate(&["--yes"]).await;

        assert_eq!(code, Some(0), "after {writes} writes: {told}");
        stage.assert_migrated().await;
        manager.abort();
    }
    panic!("it has not ended after {MOST} writes");
}
