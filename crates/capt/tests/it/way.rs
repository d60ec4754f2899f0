//! The way to an API server, which ends after so many writes: whoever goes there can be killed after each of them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::HOST;
use axum::response::Response;
use kube::Client;
use serde_json::json;
use tempfile::NamedTempFile;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// The way to an API server, which ends after so many writes.
pub(crate) struct Way {
    kubeconfig: NamedTempFile,
    passage: Passage,
}

#[derive(Clone)]
struct Passage {
    client: Client,
    left: Arc<AtomicUsize>,
    over: CancellationToken,
}

impl Way {
    pub(crate) async fn open(client: Client, writes: usize) -> Self {
        let passage =
            Passage { client, left: Arc::new(AtomicUsize::new(writes)), over: CancellationToken::new() };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(pass).with_state(passage.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let kubeconfig = NamedTempFile::new().unwrap();
        let content = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "x",
            "contexts": [{ "name": "x", "context": { "cluster": "x", "user": "x" } }],
            "clusters": [{ "name": "x", "cluster": { "server": address } }],
            "users": [{ "name": "x", "user": {} }],
        });
        std::fs::write(kubeconfig.path(), content.to_string()).unwrap();
        Self { kubeconfig, passage }
    }

    pub(crate) fn kubeconfig(&self) -> &Path {
        self.kubeconfig.path()
    }

    /// Returns when the last write was made.
    pub(crate) async fn is_over(&self) {
        self.passage.over.cancelled().await;
    }
}

async fn pass(State(way): State<Passage>, request: Request) -> Response {
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
