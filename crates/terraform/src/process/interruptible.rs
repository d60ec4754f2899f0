//! Makes sure that commands can be asked to stop.
//!
//! A process that a shell puts in the background ignores interrupts, and so does everything that it starts: Terraform would
//! never learn that it is to stop. A signal that is handled here, however, is reset for those that are started.

use std::fs;

use tokio::signal::unix::{SignalKind, signal};

/// Handles interrupts where they are ignored. That changes nothing for ourselves.
pub(super) fn make() {
    let ignored = fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores_interrupts(&status));
    if ignored && let Err(error) = signal(SignalKind::interrupt()) {
        tracing::warn!(error = &error as &dyn std::error::Error, "commands cannot be asked to stop");
    }
}

/// The mask of ignored signals has a bit for each, beginning with signal 1.
fn ignores_interrupts(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    let interrupt = SignalKind::interrupt().as_raw_value();
    u32::try_from(interrupt - 1).is_ok_and(|bit| mask & (1 << bit) != 0)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::in_the_background("Name:\tx\nSigIgn:\t0000000000000006\n", true)]
    #[case::as_usual("SigIgn:\t0000000000001000\n", false)]
    #[case::unknown("", false)]
    #[case::garbled("SigIgn:\tno\n", false)]
    fn ignored_interrupts_are_noticed(#[case] status: &str, #[case] expected: bool) {
        assert_eq!(ignores_interrupts(status), expected);
    }
}
