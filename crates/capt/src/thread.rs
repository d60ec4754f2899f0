//! Work that blocks, as seen from asynchronous code.

use std::thread;

use anyhow::Context;
use tokio::sync::oneshot;

/// A thread that does not hold up the end of the program, unlike the runtime's own threads for blocking work.
pub(crate) fn spawn<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> oneshot::Receiver<T> {
    let (sender, receiver) = oneshot::channel();
    thread::spawn(move || {
        // The receiver is gone when nobody waits any more.
        let _ = sender.send(work());
    });
    receiver
}

/// The answer of work that blocks.
pub(crate) async fn in_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> anyhow::Result<T> {
    spawn(work).await.context("a thread ended without an answer")
}
