//! Probes and metrics over HTTP.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::metrics::Metrics;

/// Whether the manager can do its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// Not yet; the word says what it waits for.
    Starting(&'static str),
    /// It cannot act before somebody does what this says.
    Waiting(String),
    /// Another manager acts, and this one stands by.
    StandingBy,
    /// It acts.
    Acting,
}

struct Served {
    metrics: Metrics,
    readiness: watch::Receiver<Readiness>,
}

/// Serves `/healthz`, `/readyz` and `/metrics` until `shutdown`.
pub(crate) async fn serve(
    listener: TcpListener,
    metrics: Metrics,
    readiness: watch::Receiver<Readiness>,
    shutdown: CancellationToken,
) {
    let address =
        listener.local_addr().map_or_else(|_| "?".to_owned(), |address: SocketAddr| address.to_string());
    info!(address, "serving probes and metrics");
    let router = Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .route("/metrics", get(scrape))
        .with_state(Arc::new(Served { metrics, readiness }));
    let served = axum::serve(listener, router).with_graceful_shutdown(shutdown.cancelled_owned()).await;
    if let Err(error) = served {
        warn!(error = &error as &dyn std::error::Error, "probes and metrics are not served any more");
    }
}

async fn ready(State(served): State<Arc<Served>>) -> Response {
    let readiness = served.readiness.borrow().clone();
    match readiness {
        Readiness::Acting => "ok\n".into_response(),
        Readiness::StandingBy => "ok: standing by, another manager acts\n".into_response(),
        Readiness::Starting(what) => {
            (StatusCode::SERVICE_UNAVAILABLE, format!("waiting for {what}\n")).into_response()
        }
        Readiness::Waiting(what) => (StatusCode::SERVICE_UNAVAILABLE, format!("{what}\n")).into_response(),
    }
}

async fn scrape(State(served): State<Arc<Served>>) -> Response {
    const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    match served.metrics.encode() {
        Ok(text) => ([(header::CONTENT_TYPE, TYPE)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}
