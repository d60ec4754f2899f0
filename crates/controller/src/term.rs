//! One term of leadership: what a manager begins as the leader ends with it.
//!
//! Invariant: nothing that is bound to a term goes on after its deadline. The deadline is compared with the clock whenever bound
//! work is about to go on, so that it also holds for a process that was stopped or a machine that was suspended: a timer alone
//! would fire after the work.

#[cfg(test)]
mod tests;

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use crate::uptime::UptimeClock;

/// The deadline of a manager that acts without a Lease.
const NEVER: u64 = u64::MAX;

/// One term of leadership.
#[derive(Clone, Debug)]
pub(crate) struct LeadershipTerm(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    clock: UptimeClock,
    /// When it ends unless it is extended, in nanoseconds of the clock.
    deadline: AtomicU64,
    over: CancellationToken,
    tasks: TaskTracker,
}

impl LeadershipTerm {
    /// A term that lasts until it is ended: there is no Lease that could run out.
    pub(crate) fn without_deadline() -> Self {
        Self::new(NEVER, UptimeClock::default())
    }

    /// A term that ends at this time of the clock, unless it is extended.
    pub(crate) fn until(deadline: Duration, clock: UptimeClock) -> Self {
        Self::new(nanoseconds(deadline), clock)
    }

    fn new(deadline: u64, clock: UptimeClock) -> Self {
        let (over, tasks) = (CancellationToken::new(), TaskTracker::new());
        Self(Arc::new(Inner { clock, deadline: AtomicU64::new(deadline), over, tasks }))
    }

    /// When it ends, unless it is extended.
    pub(crate) fn deadline(&self) -> Duration {
        Duration::from_nanos(self.0.deadline.load(Ordering::SeqCst))
    }

    /// Lets it last longer. A term that has run out is not brought back, and one that was ended stays over.
    pub(crate) fn extend(&self, deadline: Duration) {
        if !self.has_run_out() {
            self.0.deadline.fetch_max(nanoseconds(deadline), Ordering::SeqCst);
        }
    }

    /// Whether its deadline has passed.
    pub(crate) fn has_run_out(&self) -> bool {
        self.0.clock.now() >= self.deadline()
    }

    /// Whether it has run out, or was ended before.
    pub(crate) fn is_over(&self) -> bool {
        if !self.0.over.is_cancelled() && self.has_run_out() {
            self.end();
        }
        self.0.over.is_cancelled()
    }

    /// Ends it. What is bound to it does not go on.
    pub(crate) fn end(&self) {
        self.0.over.cancel();
    }

    /// Returns when it has ended.
    pub(crate) async fn over(&self) {
        self.0.over.cancelled().await;
    }

    /// Ends it, and waits until none of its tasks is left. Answers whether that took no longer than this.
    pub(crate) async fn end_within(&self, patience: Duration) -> bool {
        self.end();
        self.0.tasks.close();
        tokio::time::timeout(patience, self.0.tasks.wait()).await.is_ok()
    }

    /// Does work until the term is over; `None` when that was earlier. The work is dropped then.
    pub(crate) async fn bind<F: Future>(&self, work: F) -> Option<F::Output> {
        let (mut over, mut work) = (pin!(self.0.over.cancelled()), pin!(work));
        poll_fn(|context| {
            if self.is_over() || over.as_mut().poll(context).is_ready() {
                return Poll::Ready(None);
            }
            work.as_mut().poll(context).map(Some)
        })
        .await
    }

    /// Does work in a task of its own until the term is over.
    pub(crate) fn spawn<F>(&self, work: F) -> JoinHandle<Option<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send,
    {
        let term = self.clone();
        self.0.tasks.spawn(async move { term.bind(work).await }.in_current_span())
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(NEVER)
}
