//! How long this machine has been up. Time in which it was suspended counts: a Lease runs out in that time too.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The clock that counts while the machine is suspended. `std::time::Instant` does not.
#[cfg(any(target_os = "linux", target_os = "android"))]
const CLOCK: ClockId = ClockId::Boottime;
/// The same, where there is no other.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const CLOCK: ClockId = ClockId::Monotonic;

/// Tells how long the machine has been up. Tests have a clock of their own.
#[derive(Clone)]
pub(crate) struct UptimeClock(Arc<dyn Fn() -> Duration + Send + Sync>);

impl UptimeClock {
    /// A clock that shows what the function says.
    #[cfg(test)]
    pub(crate) fn new(now: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// The time since the machine was started.
    pub(crate) fn now(&self) -> Duration {
        (self.0)()
    }

    /// Returns at the given time; later where the machine was suspended meanwhile.
    pub(crate) async fn sleep_until(&self, moment: Duration) {
        tokio::time::sleep(moment.saturating_sub(self.now())).await;
    }
}

impl Default for UptimeClock {
    fn default() -> Self {
        Self(Arc::new(|| {
            let time = clock_gettime(CLOCK);
            // Neither part is ever negative.
            let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
            Duration::new(seconds.unwrap_or_default(), nanoseconds.unwrap_or_default())
        }))
    }
}

impl fmt::Debug for UptimeClock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("UptimeClock")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on() {
        let clock = UptimeClock::default();
        let before = clock.now();
        assert!(before > Duration::ZERO);
        assert!(clock.now() >= before);
    }
}
