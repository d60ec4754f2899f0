//! Times as people write them in our kinds: `10m`, `1h30m`, `500ms`.

use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Span};

/// Reads a time as Go writes durations, for example `1h30m`; `None` if it is not one, or not longer than nothing.
pub fn parse(text: &str) -> Option<Duration> {
    let text = text.trim();
    let length = whole(text).or_else(|| in_parts(text))?;
    Duration::try_from(length).ok().filter(|length| !length.is_zero())
}

fn whole(text: &str) -> Option<SignedDuration> {
    let span: Span = text.parse().ok()?;
    SignedDuration::try_from(span).ok()
}

/// Go takes units in any order and more than once (`30s1m`), and so do the rules in our schemas.
fn in_parts(text: &str) -> Option<SignedDuration> {
    let mut sum = SignedDuration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        // Each part has a number of its own, and no sign.
        rest.starts_with(|character: char| character.is_ascii_digit()).then_some(())?;
        let unit = rest.find(|character: char| character.is_ascii_alphabetic())?;
        let next = rest[unit..].find(|character: char| !character.is_ascii_alphabetic());
        let (part, others) = rest.split_at(next.map_or(rest.len(), |next| unit + next));
        sum = sum.checked_add(whole(part)?)?;
        rest = others;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::nothing("0s")]
    #[case::nothing_in_parts("0s0m")]
    #[case::backwards("-5m")]
    #[case::partly_backwards("5m-3m")]
    #[case::no_unit("10")]
    #[case::no_number("m")]
    #[case::a_number_too_many("1h30")]
    #[case::an_unknown_unit("3x")]
    #[case::text("soon")]
    #[case::empty("")]
    #[case::absurd("99999999999999999999h")]
    #[case::absurd_in_parts("1s99999999999999999999h")]
    #[case::not_ascii("1ｍ")]
    fn what_is_no_time_is_refused(#[case] text: &str) {
        assert_eq!(parse(text), None);
    }

    #[rstest]
    #[case::milliseconds("500ms", 500)]
    #[case::minutes("10m", 600_000)]
    #[case::composed("1h30m", 5_400_000)]
    #[case::go_writes_zeros("10m0s", 600_000)]
    #[case::a_day_in_hours("24h", 86_400_000)]
    #[case::a_fraction("1.5h", 5_400_000)]
    #[case::any_order("30s1m", 90_000)]
    #[case::a_unit_twice("1m1m", 120_000)]
    #[case::spaces_around(" 1s ", 1000)]
    fn times_are_written_as_in_go(#[case] text: &str, #[case] milliseconds: u64) {
        assert_eq!(parse(text), Some(Duration::from_millis(milliseconds)));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_the_schemas_accept_is_understood(text in "([1-9][0-9]{0,4}(ms|s|m|h)){1,5}") {
            prop_assert!(parse(&text).is_some());
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,40}") {
            let _ = parse(&text);
        }
    }
}
