//! When a cluster is tried or looked at again.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::super::observed::Memory;
use crate::addon::pace;
use crate::apply::Blocked;
use crate::digest::short_digest;

/// How often it is looked whether what was brought is still there. No cluster is watched for that.
const INTERVAL: &str = "10m";
/// How soon it is looked at what is on its way. What it writes down brings the set up earlier.
const UNDER_WAY: Duration = Duration::from_secs(5);
/// The pause after a failure where no other is given.
const PAUSE: Duration = Duration::from_secs(300);

/// An attempt to bring something to a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// What was tried, see [`super::super::observed::digest`].
    pub digest: String,
    /// Whether everything was among it.
    pub whole: bool,
    /// What went wrong.
    pub trouble: Option<Blocked>,
}

/// What is remembered after an attempt.
pub fn remember(before: &Memory, attempt: Attempt, now: Timestamp) -> Memory {
    let Attempt { digest, whole, trouble } = attempt;
    let is_first = before.attempted.as_ref() != Some(&digest);
    let failures = match (&trouble, is_first) {
        (None, _) => 0,
        (Some(_), true) => 1,
        (Some(_), false) => before.failures.saturating_add(1),
    };
    let pause = pace::pause(None, failures).unwrap_or(PAUSE);
    Memory {
        busy: false,
        attempted: Some(digest),
        failures,
        due: trouble.as_ref().and_then(|_| now.checked_add(pause).ok()),
        verified: if trouble.is_none() && whole { Some(now) } else { before.verified },
        trouble,
    }
}

/// When it is looked whether what was seen then is still so. A fleet is not looked at in the same second.
pub(super) fn check(set: &str, cluster: &str, verified: Timestamp) -> Timestamp {
    let spread = u64::from_str_radix(&short_digest([set, cluster], 12), 16).unwrap_or_default();
    verified.checked_add(pace::drift_interval(INTERVAL, spread)).unwrap_or(verified)
}

/// When what is on its way is looked at again.
pub(super) fn look(now: Timestamp) -> Timestamp {
    now.checked_add(UNDER_WAY).unwrap_or(now)
}
