//! The way of one manager to the API server: it writes down what goes through, and can be frozen.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::Context;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use http::{Method, StatusCode, header, request};
use k8s_openapi::api::coordination::v1::Lease;
use kube::Client;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::judge::{What, Write};

/// Larger than any object.
const MOST: usize = 8 * 1024 * 1024;

/// What went through all ways.
#[derive(Clone)]
pub(super) struct Log {
    began: Instant,
    writes: Arc<Mutex<Vec<Write>>>,
}

impl Log {
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), writes: Arc::default() }
    }

    pub(super) fn writes(&self) -> Vec<Write> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The manager that holds the Lease, as far as the server has answered.
    pub(super) fn holder(&self) -> Option<usize> {
        let writes = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = writes.iter().rev().filter(|write| write.taken == Some(true));
        taken.into_iter().find_map(|write| match write.what {
            What::Lease { holds } => Some(holds.then_some(write.manager)),
            What::Act(_) => None,
        })?
    }

    /// How many acts of a manager the server has taken.
    pub(super) fn acts(&self, manager: usize) -> usize {
        let writes = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        let of_it = writes.iter().filter(|write| write.manager == manager && write.taken == Some(true));
        of_it.filter(|write| matches!(write.what, What::Act(_))).count()
    }

    fn note(&self, manager: usize, what: What) -> usize {
        let mut writes = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        writes.push(Write { manager, what, at: self.began.elapsed(), taken: None });
        writes.len() - 1
    }

    fn answered(&self, number: usize, taken: bool) {
        let mut writes = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(write) = writes.get_mut(number) {
            write.taken = Some(taken);
        }
    }
}

/// The way of one manager. Dropped, it is closed.
pub(super) struct Path {
    pub(super) address: SocketAddr,
    frozen: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

#[derive(Clone)]
struct Going {
    manager: usize,
    client: Client,
    log: Log,
    frozen: watch::Receiver<bool>,
}

impl Path {
    /// Opens a way for a manager; requests go on with the rights of the client.
    pub(super) async fn open(manager: usize, client: Client, log: Log) -> anyhow::Result<Self> {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("opening a way to the server")?;
        let address = listener.local_addr()?;
        let (frozen, seen) = watch::channel(false);
        let going = Going { manager, client, log, frozen: seen };
        let router = Router::new().fallback(go).with_state(going);
        let serving = tokio::spawn(async move {
            // It ends only by being aborted.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, frozen, serving })
    }

    /// Lets nothing through in either direction, or everything again.
    pub(super) fn freeze(&self, frozen: bool) {
        self.frozen.send_replace(frozen);
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Going {
    /// Waits until the way is open.
    async fn clear(&self) {
        // The sender lives as long as the server of this way.
        let _ = self.frozen.clone().wait_for(|frozen| !frozen).await;
    }
}

/// Hands a request on. One whose sender does not wait any more is dropped while it waits for the way to open, and is never sent.
async fn go(State(going): State<Going>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MOST).await else { return StatusCode::BAD_REQUEST.into_response() };
    parts.headers.remove(header::HOST);
    let what = written(&parts, &body);
    going.clear().await;
    let number = what.map(|what| going.log.note(going.manager, what));
    let (client, log) = (going.client.clone(), going.log.clone());
    // What is on its way to the server gets there, whoever waits for the answer.
    let sent = tokio::spawn(async move {
        let answer = client.send(http::Request::from_parts(parts, kube::client::Body::from(body))).await;
        if let (Some(number), Ok(answer)) = (number, &answer) {
            log.answered(number, answer.status().is_success());
        }
        answer
    });
    let answer = sent.await;
    going.clear().await;
    let Ok(Ok(answer)) = answer else { return StatusCode::BAD_GATEWAY.into_response() };
    let (parts, body) = answer.into_parts();
    let chunks = Body::new(body).into_data_stream().then(move |chunk| {
        let going = going.clone();
        async move {
            going.clear().await;
            chunk
        }
    });
    Response::from_parts(parts, Body::from_stream(chunks))
}

/// What a request writes, if it does.
fn written(parts: &request::Parts, body: &[u8]) -> Option<What> {
    if parts.method == Method::GET {
        return None;
    }
    let path = parts.uri.path();
    if path.contains("/leases") {
        let lease: Option<Lease> = serde_json::from_slice(body).ok();
        let holder = lease.and_then(|lease| lease.spec).and_then(|spec| spec.holder_identity);
        return Some(What::Lease { holds: holder.is_some() });
    }
    // Questions about one's own rights change nothing.
    (!path.contains("selfsubject")).then(|| What::Act(format!("{} {path}", parts.method)))
}
