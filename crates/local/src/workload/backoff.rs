//! How long to wait before something is tried again.

use std::time::Duration;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);
/// What ran for so long did not fail because of its start.
const STABLE: Duration = Duration::from_secs(60);

/// Pauses that double, until there was a time without trouble.
#[derive(Debug, Default)]
pub(super) struct Backoff(Option<Duration>);

impl Backoff {
    /// The pause after an attempt that led to this much time of running.
    pub(super) fn after(&mut self, ran: Duration) -> Duration {
        let pause = match self.0 {
            Some(last) if ran < STABLE => (last * 2).min(LONGEST),
            _ => FIRST,
        };
        self.0 = Some(pause);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_minute() {
        let mut backoff = Backoff::default();

        let pauses: Vec<u64> = (0..8).map(|_| backoff.after(Duration::ZERO).as_secs()).collect();

        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
    }

    #[test]
    fn what_ran_well_for_a_while_starts_again_soon() {
        let mut backoff = Backoff::default();
        let [_, _] = [Duration::ZERO; 2].map(|ran| backoff.after(ran));

        assert_eq!(backoff.after(STABLE), FIRST);
        assert_eq!(backoff.after(Duration::ZERO), FIRST * 2);
    }
}
