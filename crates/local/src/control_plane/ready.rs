//! Waiting until the processes answer.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Deserialize;
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};

use super::authority::Leaf;
use crate::Cancellation;
use crate::supervisor::{UnexpectedExit, Watch};

const PAUSE: Duration = Duration::from_millis(20);
const ANSWER_WITHIN: Duration = Duration::from_secs(2);
const LOG_LINES: usize = 12;

/// Why a wait ended without success.
pub(crate) enum NotReady {
    Ended(UnexpectedExit),
    TooLate { last: String },
    Cancelled,
}

/// Asks again and again until the answer is yes, a process ends, the deadline is over or nobody wants to know any more.
pub(crate) fn wait_until(
    mut ask: impl FnMut() -> Result<(), String>,
    watch: &Watch,
    deadline: Instant,
    cancellation: &Cancellation,
) -> Result<(), NotReady> {
    loop {
        let last = match ask() {
            Ok(()) => return Ok(()),
            Err(last) => last,
        };
        if let Some(exit) = watch.wait_for(PAUSE) {
            return Err(NotReady::Ended(exit));
        }
        if cancellation.is_cancelled() {
            return Err(NotReady::Cancelled);
        }
        if Instant::now() > deadline {
            return Err(NotReady::TooLate { last });
        }
    }
}

/// Whether somebody listens on the port.
pub(crate) fn listens(port: u16) -> Result<(), String> {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).map(drop).map_err(|error| error.to_string())
}

/// A client of the API server with the rights of `client`.
pub(crate) fn agent(authority: &str, client: &Leaf) -> Result<ureq::Agent, ureq::Error> {
    let authority = Certificate::from_pem(authority.as_bytes())?;
    let certificate = Certificate::from_pem(client.certificate.as_bytes())?;
    let key = PrivateKey::from_pem(client.key.as_bytes())?;
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&[authority]))
        .client_cert(Some(ClientCert::new_with_certs(&[certificate], key)))
        .build();
    let configuration = ureq::Agent::config_builder()
        .tls_config(tls)
        // A proxy named in the environment knows nothing of this machine's loopback.
        .proxy(None)
        .timeout_global(Some(ANSWER_WITHIN))
        .build();
    Ok(configuration.into())
}

/// Whether the API server says that it is ready.
pub(crate) fn answers(agent: &ureq::Agent, server: &str) -> Result<(), String> {
    agent.get(format!("{server}/readyz")).call().map(drop).map_err(|error| error.to_string())
}

/// The version of Kubernetes that the API server says it is, for example `v1.34.4`.
pub(crate) fn version(agent: &ureq::Agent, server: &str) -> Result<String, ureq::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Version {
        git_version: String,
    }
    let text = agent.get(format!("{server}/version")).call()?.body_mut().read_to_string()?;
    let version: Version = serde_json::from_str(&text).map_err(io::Error::from)?;
    Ok(version.git_version)
}

/// The last lines of a log, for an error message.
pub(crate) fn last_lines(log: &Path) -> String {
    let content = fs::read(log).unwrap_or_default();
    let content = String::from_utf8_lossy(&content);
    let lines: Vec<&str> = content.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
}
