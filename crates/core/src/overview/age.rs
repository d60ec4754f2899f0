//! How long something has been so, as `kubectl` writes it.

use k8s_openapi::jiff::Timestamp;

/// The time from one moment to another in one unit, for example `95s`, `12m`, `3h`, `5d`. Clocks that disagree a little do no harm.
pub fn age(since: Timestamp, now: Timestamp) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const YEAR: i64 = 365 * DAY;
    match now.as_second().saturating_sub(since.as_second()).max(0) {
        seconds if seconds < 2 * MINUTE => format!("{seconds}s"),
        seconds if seconds < 2 * HOUR => format!("{}m", seconds / MINUTE),
        seconds if seconds < 2 * DAY => format!("{}h", seconds / HOUR),
        seconds if seconds < 2 * YEAR => format!("{}d", seconds / DAY),
        seconds => format!("{}y", seconds / YEAR),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::the_future(-30, "0s")]
    #[case::seconds(119, "119s")]
    #[case::minutes(120, "2m")]
    #[case::hours(7_200, "2h")]
    #[case::days(172_800, "2d")]
    #[case::years(63_072_000, "2y")]
    fn times_are_short(#[case] seconds: i64, #[case] expected: &str) {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let since = Timestamp::from_second(1_800_000_000 - seconds).unwrap();
        assert_eq!(age(since, now), expected);
    }
}
