//! What the API server answers, and what time it has.

use std::time::{Duration, Instant};

use capt_core::cause::innermost;
use capt_core::doctor::{ClockFacts, ServerFacts};
use http::header::DATE;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use kube::Client;
use kube::client::Body;
use tokio::time::timeout;

use crate::connection::Connection;

const PATIENCE: Duration = Duration::from_secs(10);

/// Asks for the version, and looks at the clocks.
pub(super) async fn look(connection: &Connection) -> (ServerFacts, ClockFacts) {
    let begun = Instant::now();
    let answer = timeout(PATIENCE, connection.client.apiserver_version()).await;
    let version = match answer {
        Ok(Ok(version)) => Ok(version.git_version),
        Ok(Err(error)) => Err(innermost(&error)),
        Err(_) => Err(format!("no answer within {} s", PATIENCE.as_secs())),
    };
    let address = connection.server.address.clone();
    let facts = ServerFacts { address, version };
    if facts.version.is_err() {
        let clock = ClockFacts { server: None, here: Timestamp::now(), took: begun.elapsed() };
        return (facts, clock);
    }
    (facts, clock(&connection.client).await)
}

async fn clock(client: &Client) -> ClockFacts {
    let begun = Instant::now();
    let server = timeout(PATIENCE, date(client)).await.ok().flatten();
    ClockFacts { server, here: Timestamp::now(), took: begun.elapsed() }
}

async fn date(client: &Client) -> Option<Timestamp> {
    let request = http::Request::get("/version").body(Body::empty()).ok()?;
    let response = client.send(request).await.ok()?;
    let date = response.headers().get(DATE)?.to_str().ok()?;
    rfc2822::parse(date).ok().map(|time| time.timestamp())
}
