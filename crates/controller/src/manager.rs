//! Wires watches, leadership, diagnostics and shutdown; the only place that knows all drivers.

use kube::Client;
use tokio_util::sync::CancellationToken;

use crate::options::Options;

/// Why the manager stopped by itself.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The probes' and metrics' address could not be used.
    #[error("listening on {address} for probes and metrics")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// What the operating system said.
        source: std::io::Error,
    },
}

/// Runs every controller until `shutdown` is cancelled.
pub async fn run(_client: Client, _options: Options, shutdown: CancellationToken) -> Result<(), Error> {
    shutdown.cancelled().await;
    Ok(())
}
