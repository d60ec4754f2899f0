//! Giving up what nobody wants any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared between one who waits and one who may end the wait. It cannot be taken back.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Ends the wait.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether the wait is to end.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
