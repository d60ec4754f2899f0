//! Since when Crossplane is asked to put Workspaces down. Nobody tells that it does not answer: it takes a timer.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use k8s_openapi::jiff::{SignedDuration, Timestamp};

/// It ends what it has begun before it answers; a look at a Workspace that is paused takes it no time.
const PATIENCE: SignedDuration = SignedDuration::from_secs(60);

/// When this manager has seen for the first time that Crossplane is asked for a Workspace, by its uid.
#[derive(Default)]
pub(super) struct Asked(Mutex<HashMap<String, Timestamp>>);

impl Asked {
    /// When the answer for a Workspace is overdue, if Crossplane is asked for it.
    pub(super) fn due(&self, uid: &str, asked: bool, now: Timestamp) -> Option<Timestamp> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !asked {
            known.remove(uid);
            return None;
        }
        let since = *known.entry(uid.to_owned()).or_insert(now);
        Some(since.saturating_add(PATIENCE).unwrap_or(Timestamp::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_due_a_minute_after_the_first_look() {
        let asked = Asked::default();
        let at = |second| Timestamp::from_second(second).unwrap();
        assert_eq!(asked.due("u", true, at(0)), Some(at(60)));
        assert_eq!(asked.due("u", true, at(90)), Some(at(60)), "another look changes nothing");
        assert_eq!(asked.due("u", false, at(91)), None);
        assert_eq!(asked.due("u", true, at(100)), Some(at(160)), "it was asked again");
    }
}
