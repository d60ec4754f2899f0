//! An API server that knows one Lease, in the test's own time, and the ways to it, which can be frozen.

use std::convert::Infallible;
use std::sync::Arc;

use http::{Method, Request, Response, StatusCode};
use k8s_openapi::api::coordination::v1::Lease;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::sync::watch;

/// The Lease, if there is one, and the version that was written last.
type Stored = (Option<Lease>, u64);

/// An API server that knows one Lease.
#[derive(Clone)]
pub(super) struct Server(Arc<watch::Sender<Stored>>);

/// What does not get through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frozen {
    Nothing,
    /// Requests wait on their way to the server.
    Requests,
    /// The server does what it is asked, but its answers wait.
    Answers,
}

/// The way of one manager to the server.
#[derive(Clone)]
pub(super) struct Path(Arc<watch::Sender<Frozen>>);

impl Path {
    pub(super) fn set(&self, frozen: Frozen) {
        self.0.send_replace(frozen);
    }

    async fn clear(&self, of: Frozen) {
        self.0.subscribe().wait_for(|frozen| *frozen != of).await.unwrap();
    }
}

impl Server {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new((None, 0))))
    }

    pub(super) fn lease(&self) -> Option<Lease> {
        self.0.borrow().0.clone()
    }

    /// A client with a way of its own.
    pub(super) fn client(&self) -> (Client, Path) {
        let path = Path(Arc::new(watch::Sender::new(Frozen::Nothing)));
        let (server, way) = (self.clone(), path.clone());
        let service = tower::service_fn(move |request: Request<Body>| {
            let (server, way) = (server.clone(), way.clone());
            async move {
                way.clear(Frozen::Requests).await;
                let answer = server.answer(request).await;
                way.clear(Frozen::Answers).await;
                Ok::<_, Infallible>(answer)
            }
        });
        (Client::new(service, "default"), path)
    }

    async fn answer(&self, request: Request<Body>) -> Response<Body> {
        let query = request.uri().query().unwrap_or_default().to_owned();
        let named = request.uri().path().ends_with("/capt");
        let method = request.method().clone();
        let body = request.into_body().collect_bytes().await.unwrap();
        match (method, named) {
            (Method::GET, true) => match self.lease() {
                Some(lease) => ok(&json!(lease)),
                None => refused(StatusCode::NOT_FOUND, "NotFound"),
            },
            (Method::GET, false) if query.contains("watch=true") => self.change(&query).await,
            (Method::GET, false) => {
                let (lease, version) = self.0.borrow().clone();
                let items: Vec<Lease> = lease.into_iter().collect();
                ok(&json!({ "metadata": { "resourceVersion": version.to_string() }, "items": items }))
            }
            (Method::POST | Method::PUT, _) => self.write(serde_json::from_slice(&body).unwrap()),
            (method, _) => panic!("nobody answers to {method}"),
        }
    }

    /// Waits for a change after the version that the query names, and tells it.
    async fn change(&self, query: &str) -> Response<Body> {
        let from = query.split('&').find_map(|pair| pair.strip_prefix("resourceVersion=")).unwrap_or("0");
        let from: u64 = from.parse().unwrap();
        let mut stored = self.0.subscribe();
        let lease = stored.wait_for(|(_, version)| *version > from).await.unwrap().0.clone();
        ok(&json!({ "type": "MODIFIED", "object": lease }))
    }

    fn write(&self, mut lease: Lease) -> Response<Body> {
        let mut fits = false;
        self.0.send_if_modified(|(stored, version)| {
            let known = stored.as_ref().and_then(|stored| stored.metadata.resource_version.clone());
            fits = known == lease.metadata.resource_version;
            if fits {
                *version += 1;
                lease.metadata.resource_version = Some(version.to_string());
                *stored = Some(lease.clone());
            }
            fits
        });
        if fits { ok(&json!(lease)) } else { refused(StatusCode::CONFLICT, "Conflict") }
    }
}

fn ok(body: &Value) -> Response<Body> {
    Response::new(Body::from(format!("{body}\n").into_bytes()))
}

fn refused(code: StatusCode, reason: &str) -> Response<Body> {
    let status = json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure",
        "message": "refused", "reason": reason, "code": code.as_u16(),
    });
    let mut response = ok(&status);
    *response.status_mut() = code;
    response
}
