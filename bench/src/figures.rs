//! Durations in short.

use std::time::Duration;

use serde_json::{Value, json};

/// Many durations of the same thing.
#[derive(Debug, Default)]
pub(crate) struct Figures(Vec<Duration>);

impl Figures {
    pub(crate) fn add(&mut self, duration: Duration) {
        self.0.push(duration);
    }

    /// The duration that this share of all does not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let index = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(index).copied().unwrap_or_default()
    }

    pub(crate) fn to_json(&self) -> Value {
        let milliseconds = |percent| self.percentile(percent).as_secs_f64() * 1000.0;
        json!({ "count": self.0.len(), "p50_ms": milliseconds(50), "p99_ms": milliseconds(99), "max_ms": milliseconds(100) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_what_was_measured() {
        let mut figures = Figures::default();
        for milliseconds in (1..=100).rev() {
            figures.add(Duration::from_millis(milliseconds));
        }
        assert_eq!(figures.percentile(50), Duration::from_millis(50));
        assert_eq!(figures.percentile(99), Duration::from_millis(99));
        assert_eq!(figures.percentile(100), Duration::from_millis(100));
        assert_eq!(Figures::default().percentile(99), Duration::ZERO);
    }
}
