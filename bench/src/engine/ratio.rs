//! Ratios of what was measured in one run.

use std::time::Duration;

use crate::figures::Figures;

/// The value in the middle; of an even number, the mean of the two there. `None` of nothing.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = sorted.get(middle).copied()?;
    if sorted.len() % 2 == 1 { Some(upper) } else { Some(f64::midpoint(sorted[middle - 1], upper)) }
}

/// How many times as long something took; `None` where the other took no time.
pub(super) fn ratio(ours: Duration, other: Duration) -> Option<f64> {
    (!other.is_zero()).then(|| ours.as_secs_f64() / other.as_secs_f64())
}

/// Two ways to do the same, done in turn.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    ours: Figures,
    other: Figures,
    ratios: Vec<f64>,
}

impl Pairs {
    pub(super) fn add(&mut self, ours: Duration, other: Duration) {
        self.ours.add(ours);
        self.other.add(other);
        self.ratios.extend(ratio(ours, other));
    }

    /// Our way.
    pub(super) fn ours(&self) -> &Figures {
        &self.ours
    }

    /// The other way.
    pub(super) fn other(&self) -> &Figures {
        &self.other
    }

    /// The ratio of the medians.
    pub(super) fn ratio(&self) -> Option<f64> {
        ratio(self.ours.percentile(50), self.other.percentile(50))
    }

    /// The median of each round's ratio: what else the machine did in a round touched both.
    pub(super) fn median_of_ratios(&self) -> Option<f64> {
        median(&self.ratios)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_value_in_the_middle_whatever_the_order() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 100.0, 2.0]), Some(3.0));
    }

    #[test]
    fn what_took_no_time_has_no_ratio() {
        assert_eq!(ratio(Duration::from_secs(1), Duration::ZERO), None);
        assert_eq!(ratio(Duration::from_secs(3), Duration::from_secs(2)), Some(1.5));
    }

    #[test]
    fn one_slow_round_moves_neither_ratio() {
        let mut pairs = Pairs::default();
        for (ours, other) in [(11, 10), (22, 20), (900, 10)] {
            pairs.add(Duration::from_secs(ours), Duration::from_secs(other));
        }
        assert_eq!(pairs.ratio(), Some(2.2));
        assert_eq!(pairs.median_of_ratios(), Some(1.1));
    }
}
