//! When an add-on is looked at or tried again.

use std::time::Duration;

use capt_api::addon_stack::{Addon, Retry};

use crate::duration;

/// The pause after a first failure.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
/// The longest pause between two attempts where nothing else is said.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// How soon something that is not ready yet is looked at again, at first and at most.
/// A change in the cluster is heard of at once; this is for what is not heard.
const LOOK_AGAIN: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(30));

/// How soon after the last change another one is taken notice of, at first and at most: an object may change all the time.
const TAKE_NOTICE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// The pause after so many failures in a row; `None` where it is tried no more.
pub fn pause(retry: Option<&Retry>, failures: u32) -> Option<Duration> {
    if retry.and_then(|retry| retry.limit).is_some_and(|limit| failures > limit) {
        return None;
    }
    let longest = retry.and_then(|retry| retry.longest_pause.as_deref());
    let longest = longest.and_then(duration::parse).unwrap_or(LONGEST_PAUSE);
    Some(doubled(FIRST_PAUSE, failures.saturating_sub(1)).min(longest))
}

/// The pause before something that is not ready is looked at again, after so many looks: a fleet is not asked in the same second.
pub fn look_again(looks: u32, spread: u64) -> Duration {
    let (first, longest) = LOOK_AGAIN;
    spread_over(doubled(first, looks).min(longest), spread)
}

/// How soon after the last change another one is taken notice of, after so many changes without a rest.
pub fn take_notice(changes: u32) -> Duration {
    let (first, longest) = TAKE_NOTICE;
    doubled(first, changes).min(longest)
}

/// Whether a cluster in which nothing has changed for so long has come to rest.
pub fn is_at_rest(silence: Duration) -> bool {
    silence >= TAKE_NOTICE.1.saturating_mul(2)
}

/// How long an add-on may take.
pub fn timeout(addon: &Addon) -> Duration {
    duration::parse(&addon.timeout).unwrap_or(Duration::from_secs(900))
}

/// When a cluster in which all is ready is looked at again: a fleet is not asked in the same second.
pub fn drift_interval(text: &str, spread: u64) -> Duration {
    let interval = duration::parse(text).unwrap_or(Duration::from_secs(600));
    spread_over(interval, spread)
}

/// An interval, or up to a fifth less.
fn spread_over(interval: Duration, spread: u64) -> Duration {
    let part = u64::try_from(interval.as_millis() / 5).unwrap_or(u64::MAX).max(1);
    interval.saturating_sub(Duration::from_millis(spread % part))
}

fn doubled(first: Duration, times: u32) -> Duration {
    first.saturating_mul(2_u32.saturating_pow(times.min(16)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn retry(limit: Option<u32>, longest_pause: Option<&str>) -> Retry {
        Retry { limit, longest_pause: longest_pause.map(ToOwned::to_owned) }
    }

    #[rstest]
    #[case::first(None, 1, Some(2))]
    #[case::grows(None, 4, Some(16))]
    #[case::is_bounded(None, 1_000_000, Some(300))]
    #[case::bounded_by_the_user(Some(retry(None, Some("10s"))), 9, Some(10))]
    #[case::the_last_attempt(Some(retry(Some(2), None)), 2, Some(4))]
    #[case::no_more(Some(retry(Some(2), None)), 3, None)]
    #[case::never_again(Some(retry(Some(0), None)), 1, None)]
    fn failures_are_tried_again_with_growing_pauses(
        #[case] retry: Option<Retry>,
        #[case] failures: u32,
        #[case] expected: Option<u64>,
    ) {
        assert_eq!(pause(retry.as_ref(), failures).map(|pause| pause.as_secs()), expected);
    }

    #[test]
    fn a_fleet_is_spread_over_a_fifth_of_the_interval() {
        let all: Vec<_> = [0, 119_999, 120_000].map(|spread| drift_interval("10m", spread).as_secs()).into();
        assert_eq!(all, [600, 480, 600]);
        assert_eq!(look_again(0, 0).as_secs(), 2);
        assert_eq!([0, 5_999].map(|spread| look_again(40, spread).as_millis()), [30_000, 24_001]);
    }

    #[test]
    fn what_changes_all_the_time_is_taken_notice_of_less_and_less_often() {
        let pauses = [0, 1, 5, 6, u32::MAX].map(|changes| take_notice(changes).as_millis());
        assert_eq!(pauses, [100, 200, 3200, 5000, 5000]);
        assert!(!is_at_rest(take_notice(u32::MAX)), "waiting for the pause is no rest");
    }
}
