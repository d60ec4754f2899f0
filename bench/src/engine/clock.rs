//! A clock that can be put forward.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use capt_controller::options::Clock;
use jiff::{SignedDuration, Timestamp};

/// Goes like any other, from where it was put.
#[derive(Clone, Default)]
pub(super) struct SimulatedClock {
    ahead: Arc<AtomicI64>,
}

impl SimulatedClock {
    pub(super) fn advance_minutes(&self, minutes: i64) {
        self.ahead.fetch_add(minutes * 60, Ordering::SeqCst);
    }

    /// As the manager sees it.
    pub(super) fn for_manager(&self) -> Clock {
        let ahead = Arc::clone(&self.ahead);
        Clock::new(move || {
            let now = Timestamp::now();
            now.saturating_add(SignedDuration::from_secs(ahead.load(Ordering::SeqCst))).unwrap_or(now)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manager_sees_that_the_clock_was_put_forward() {
        let clock = SimulatedClock::default();
        let seen = clock.for_manager();
        clock.advance_minutes(60);
        assert!(seen.now() >= Timestamp::now() + SignedDuration::from_mins(59));
    }
}
