//! What a manager served, as series that promtool takes.

use serde_json::{Value, json};

/// How long each of them stays.
const MINUTES: u32 = 30;

/// Every sample as a series that stays as it is.
pub(super) fn series(served: &str) -> Vec<Value> {
    let samples = served.lines().filter(|line| !line.starts_with('#'));
    let samples = samples.filter_map(|line| line.rsplit_once(' '));
    samples
        .map(|(series, value)| json!({ "series": series, "values": format!("{value}+0x{MINUTES}") }))
        .collect()
}

/// Whether there is a sample of a metric.
pub(super) fn has(served: &str, metric: &str) -> bool {
    served.lines().any(|line| line.strip_prefix(metric).is_some_and(|rest| rest.starts_with(['{', ' '])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_becomes_a_series_and_a_comment_none() {
        let served =
            "# HELP capt_leader 1 if.\ncapt_leader 1\ncapt_tokens_total{result=\"Failed\"} 0\n# EOF\n";

        let expected = [
            json!({ "series": "capt_leader", "values": "1+0x30" }),
            json!({ "series": "capt_tokens_total{result=\"Failed\"}", "values": "0+0x30" }),
        ];
        assert_eq!(series(served), expected);
        assert!(
            has(served, "capt_leader") && has(served, "capt_tokens_total") && !has(served, "capt_tokens")
        );
    }
}
