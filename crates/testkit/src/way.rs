//! The way to an API server, on which writes are counted. It can end after so many of them: whoever goes there can be killed after
//! each.
//!
//! Nothing in here panics, so that benchmarks, which are no tests of Cargo's, can use it too.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::HOST;
use axum::response::{IntoResponse, Response};
use kube::Client;
use serde_json::json;
use tempfile::NamedTempFile;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// The way to an API server.
pub struct Way {
    kubeconfig: NamedTempFile,
    passage: Passage,
}

/// What was written to one path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// How often.
    pub requests: u64,
    /// How much, without headers.
    pub bytes: u64,
}

#[derive(Clone)]
struct Passage {
    client: Client,
    left: Option<Arc<AtomicUsize>>,
    over: CancellationToken,
    written: Arc<Mutex<BTreeMap<String, Written>>>,
}

impl Way {
    /// Ends after so many writes: from then on nobody gets an answer.
    pub async fn open(client: Client, writes: usize) -> io::Result<Self> {
        Self::with(client, Some(Arc::new(AtomicUsize::new(writes)))).await
    }

    /// Never ends.
    pub async fn endless(client: Client) -> io::Result<Self> {
        Self::with(client, None).await
    }

    async fn with(client: Client, left: Option<Arc<AtomicUsize>>) -> io::Result<Self> {
        let passage = Passage { client, left, over: CancellationToken::new(), written: Arc::default() };
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = format!("http://{}", listener.local_addr()?);
        let router = Router::new().fallback(pass).with_state(passage.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let kubeconfig = NamedTempFile::new()?;
        let content = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "x",
            "contexts": [{ "name": "x", "context": { "cluster": "x", "user": "x" } }],
            "clusters": [{ "name": "x", "cluster": { "server": address } }],
            "users": [{ "name": "x", "user": {} }],
        });
        std::fs::write(kubeconfig.path(), content.to_string())?;
        Ok(Self { kubeconfig, passage })
    }

    /// Leads along this way.
    pub fn kubeconfig(&self) -> &Path {
        self.kubeconfig.path()
    }

    /// Returns when the last write was made.
    pub async fn is_over(&self) {
        self.passage.over.cancelled().await;
    }

    /// What was written since it was asked last, by path.
    pub fn take_written(&self) -> BTreeMap<String, Written> {
        std::mem::take(&mut *self.passage.written.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Passage {
    /// Notes a write; whether it was the last one.
    fn note(&self, path: &str, bytes: usize) -> bool {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let of_path = written.entry(path.to_owned()).or_default();
        of_path.requests += 1;
        of_path.bytes += bytes as u64;
        self.left.as_ref().is_some_and(|left| left.fetch_sub(1, Ordering::SeqCst) == 1)
    }
}

async fn pass(State(way): State<Passage>, request: Request) -> Response {
    if way.over.is_cancelled() {
        std::future::pending::<()>().await;
    }
    let (mut parts, body) = request.into_parts();
    parts.headers.remove(HOST);
    let (is_write, path) = (!parts.method.is_safe(), parts.uri.path().to_owned());
    let Ok(body) = to_bytes(body, usize::MAX).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let length = body.len();
    let request = axum::http::Request::from_parts(parts, kube::client::Body::from(body.to_vec()));
    let Ok(response) = way.client.send(request).await else {
        return StatusCode::BAD_GATEWAY.into_response();
    };
    if is_write && way.note(&path, length) {
        // It was written, and nobody learns of it.
        way.over.cancel();
        std::future::pending::<()>().await;
    }
    response.map(Body::new)
}
