//! The clock of this machine: tokens and certificates depend on it.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::finding::Finding;

const AREA: &str = "clock";
/// AWS takes five minutes, certificates that were just issued none.
const MOST: i64 = 30;

/// Two clocks at the same moment, as far as can be told.
#[derive(Clone, Copy, Debug)]
pub struct ClockFacts {
    /// That of the API server, to the second; nothing where it did not say.
    pub server: Option<Timestamp>,
    /// That of this machine when the answer came.
    pub here: Timestamp,
    /// How long the answer took.
    pub took: Duration,
}

impl ClockFacts {
    /// Judges them.
    pub fn judge(&self) -> Finding {
        let Some(server) = self.server else {
            return Finding::warning(
                AREA,
                "the API server does not tell its time",
                "compare `date` on both machines",
            );
        };
        let apart = (self.here.as_second() - server.as_second()).abs();
        // The answer may be as old as the question.
        let certain = apart - i64::try_from(self.took.as_secs()).unwrap_or(i64::MAX) - 1;
        if certain > MOST {
            return Finding::warning(
                AREA,
                format!(
                    "this machine and the API server are {apart} s apart: tokens and new certificates may be refused"
                ),
                "set the clocks by NTP (`timedatectl set-ntp true`), here and there",
            );
        }
        Finding::good(AREA, "this machine and the API server have the same time")
    }
}
