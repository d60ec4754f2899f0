//! Lets only so many go on at the same time, the most urgent first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use capt_core::workspace::decide::Priority;
use tokio::sync::oneshot;

/// Lets only so many go on at the same time. Of those who wait, the most urgent goes first, and then who came first.
#[derive(Debug)]
pub(super) struct Limit {
    line: Mutex<Line>,
}

#[derive(Debug)]
struct Line {
    free: usize,
    waiting: BinaryHeap<Waiting>,
    came: u64,
}

#[derive(Debug)]
struct Waiting {
    rank: Reverse<(Priority, u64)>,
    call: oneshot::Sender<Pass>,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank.cmp(&other.rank)
    }
}

/// Lets one go on; whoever drops it makes room for the next.
#[derive(Debug)]
pub(super) struct Pass {
    limit: Option<Arc<Limit>>,
}

impl Limit {
    pub(super) fn new(most: u16) -> Arc<Self> {
        let line = Line { free: usize::from(most.max(1)), waiting: BinaryHeap::new(), came: 0 };
        Arc::new(Self { line: Mutex::new(line) })
    }

    /// Waits for its turn.
    pub(super) async fn enter(self: &Arc<Self>, priority: Priority) -> Pass {
        let called = {
            let mut line = self.lock();
            if line.free > 0 {
                line.free -= 1;
                return Pass { limit: Some(Arc::clone(self)) };
            }
            line.came += 1;
            let (call, called) = oneshot::channel();
            let rank = Reverse((priority, line.came));
            line.waiting.push(Waiting { rank, call });
            called
        };
        // The caller stays in the line as long as it is not called.
        called.await.unwrap_or(Pass { limit: None })
    }

    fn lock(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let Some(limit) = self.limit.take() else { return };
        let next = {
            let mut line = limit.lock();
            let next = line.waiting.pop();
            if next.is_none() {
                line.free += 1;
            }
            next
        };
        // Whoever has gone away hands the pass on by dropping it.
        if let Some(next) = next {
            drop(next.call.send(Pass { limit: Some(limit) }));
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn the_most_urgent_goes_first_and_then_who_came_first() {
        let limit = Limit::new(1);
        let first = limit.enter(Priority::Check).await;
        let mut check = Box::pin(limit.enter(Priority::Check));
        let mut change = Box::pin(limit.enter(Priority::Change));
        let mut deletion = Box::pin(limit.enter(Priority::Deletion));
        let mut later_deletion = Box::pin(limit.enter(Priority::Deletion));
        for waiting in [&mut check, &mut change, &mut deletion, &mut later_deletion] {
            assert!(waiting.as_mut().now_or_never().is_none());
        }
        drop(first);
        let pass = deletion.as_mut().now_or_never().unwrap();
        assert!(later_deletion.as_mut().now_or_never().is_none());
        drop(pass);
        drop(later_deletion.as_mut().now_or_never().unwrap());
        drop(change.as_mut().now_or_never().unwrap());
        assert!(check.as_mut().now_or_never().is_some());
    }

    #[tokio::test]
    async fn who_goes_away_while_waiting_takes_no_place() {
        let limit = Limit::new(1);
        let first = limit.enter(Priority::Check).await;
        let mut gone = Box::pin(limit.enter(Priority::Deletion));
        let mut next = Box::pin(limit.enter(Priority::Check));
        assert!(gone.as_mut().now_or_never().is_none());
        assert!(next.as_mut().now_or_never().is_none());
        drop(gone);
        drop(first);
        let pass = next.as_mut().now_or_never().unwrap();
        drop(pass);
        assert!(limit.enter(Priority::Check).now_or_never().is_some());
    }
}
