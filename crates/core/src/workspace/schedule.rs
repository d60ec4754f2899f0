//! When a Workspace is looked at without an event: comparisons with reality, and further tries.

use std::time::Duration;

use capt_api::workspace_template_apply::DriftPolicy;
use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::observed::Memory;
use crate::{digest::short_digest, duration};

/// A shorter interval would plan all the time.
const SHORTEST_INTERVAL: Duration = Duration::from_secs(10);
/// How long an interval may be.
const LONGEST_INTERVAL: Duration = Duration::from_secs(366 * 24 * 3600);

const FIRST_PAUSE: Duration = Duration::from_secs(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(30 * 60);

/// Reads an interval as Go writes durations, for example `1h30m`; `None` if it is not one, or not longer than nothing.
pub fn interval(text: &str) -> Option<Duration> {
    duration::parse(text).map(|length| length.clamp(SHORTEST_INTERVAL, LONGEST_INTERVAL))
}

/// When a Workspace is compared with reality next. It depends on nothing but what is on record, so that a restart does not
/// compare all Workspaces at once; each has a tenth of the interval more or less, so that they spread.
pub fn next_check(memory: &Memory, policy: DriftPolicy, interval: Duration, uid: &str) -> Option<Timestamp> {
    match policy {
        DriftPolicy::Ignore => None,
        DriftPolicy::Correct | DriftPolicy::Report => {
            let last = memory.checked_at?;
            Some(last.saturating_add(jittered(interval, uid, last)).unwrap_or(Timestamp::MAX))
        }
    }
}

/// Between 0.9 and 1.1 of the interval, the same for the same Workspace and time.
fn jittered(interval: Duration, uid: &str, last: Timestamp) -> SignedDuration {
    let digest = short_digest([uid, &last.as_second().to_string()], 8);
    let share = f64::from(u32::from_str_radix(&digest, 16).unwrap_or_default()) / f64::from(u32::MAX);
    SignedDuration::try_from(interval.mul_f64(0.9 + 0.2 * share)).unwrap_or(SignedDuration::MAX)
}

/// How long to wait after so many failures in a row.
pub fn pause(failures: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1).min(16))).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::minutes("10m", Some(600))]
    #[case::composed("1h30m", Some(5400))]
    #[case::go_writes_zeros("10m0s", Some(600))]
    #[case::too_short_is_raised("1ms", Some(10))]
    #[case::nothing("0s", None)]
    #[case::backwards("-5m", None)]
    #[case::text("soon", None)]
    #[case::empty("", None)]
    #[case::absurd("99999999999999999999h", None)]
    fn intervals_are_written_as_in_go(#[case] text: &str, #[case] seconds: Option<u64>) {
        assert_eq!(interval(text), seconds.map(Duration::from_secs));
    }

    fn checked(second: i64) -> Memory {
        Memory { checked_at: Some(Timestamp::from_second(second).unwrap()), ..Memory::default() }
    }

    #[test]
    fn checks_spread_and_stay_where_they_are_over_restarts() {
        let hour = Duration::from_secs(3600);
        let at = |uid: &str| next_check(&checked(0), DriftPolicy::Correct, hour, uid).unwrap().as_second();
        let spread: BTreeSet<i64> = (0..100).map(|number| at(&number.to_string())).collect();
        assert!(spread.len() > 90, "{spread:?}");
        assert!(spread.iter().all(|second| (3240..=3960).contains(second)), "{spread:?}");
        assert_eq!(at("a"), at("a"));
    }

    #[test]
    fn what_is_not_to_be_looked_at_has_no_check() {
        let hour = Duration::from_secs(3600);
        assert_eq!(next_check(&checked(0), DriftPolicy::Ignore, hour, "a"), None);
        assert_eq!(next_check(&Memory::default(), DriftPolicy::Report, hour, "a"), None);
    }

    #[rstest]
    #[case::first(1, 10)]
    #[case::third(3, 40)]
    #[case::bounded(u32::MAX, 1800)]
    fn pauses_grow_and_are_bounded(#[case] failures: u32, #[case] seconds: u64) {
        assert_eq!(pause(failures), Duration::from_secs(seconds));
    }
}
