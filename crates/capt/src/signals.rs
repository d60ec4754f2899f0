//! Being told to stop.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// How far we have been told to stop: once in order, twice at once.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    /// Cancelled by the first Ctrl-C or SIGTERM.
    pub(crate) requested: CancellationToken,
    /// Cancelled by the second.
    pub(crate) hurried: CancellationToken,
}

impl Stop {
    /// Listens from now on. To be called inside a runtime.
    pub(crate) fn on_signals() -> io::Result<Self> {
        let interrupt = signal(SignalKind::interrupt())?;
        let terminate = signal(SignalKind::terminate())?;
        let stop = Self { requested: CancellationToken::new(), hurried: CancellationToken::new() };
        tokio::spawn(listen(stop.clone(), interrupt, terminate));
        Ok(stop)
    }
}

async fn listen(stop: Stop, mut interrupt: Signal, mut terminate: Signal) {
    for token in [stop.requested, stop.hurried] {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        token.cancel();
    }
}
