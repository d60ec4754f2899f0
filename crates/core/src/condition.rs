//! Conditions: built in one way, merged in one way.

use capt_api::names::Reason;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;

use crate::apply::Blocked;

/// What the API server takes as a condition's message.
const LONGEST_MESSAGE: usize = 32_768;

/// The status of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// Nobody knows.
    Unknown,
}

impl Truth {
    /// The word in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

/// The object and the moment that a set of conditions speaks of.
#[derive(Clone, Debug)]
pub struct Stamp {
    /// The object's generation.
    pub generation: Option<i64>,
    /// Now.
    pub now: Time,
}

/// A condition without its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) truth: Truth,
    pub(crate) reason: Reason,
    pub(crate) message: String,
}

impl Statement {
    pub(crate) fn new(truth: Truth, reason: Reason, message: impl Into<String>) -> Self {
        Self { truth, reason, message: message.into() }
    }

    pub(crate) fn into_condition(self, type_: &str, stamp: &Stamp) -> Condition {
        condition(type_, self.truth, self.reason, &self.message, stamp)
    }
}

impl From<&Blocked> for Statement {
    fn from(blocked: &Blocked) -> Self {
        Self::new(Truth::False, blocked.reason, blocked.message.clone())
    }
}

/// The condition of this type.
pub fn find<'conditions>(
    conditions: &'conditions [Condition],
    type_: &str,
) -> Option<&'conditions Condition> {
    conditions.iter().find(|condition| condition.type_ == type_)
}

/// Builds a condition. An overlong message is cut, since the API server would refuse the whole status.
pub fn condition(type_: &str, truth: Truth, reason: Reason, message: &str, stamp: &Stamp) -> Condition {
    Condition {
        type_: type_.to_owned(),
        status: truth.as_str().to_owned(),
        reason: reason.as_str().to_owned(),
        message: cut(message, LONGEST_MESSAGE),
        observed_generation: stamp.generation,
        last_transition_time: stamp.now.clone(),
    }
}

/// Puts a condition among others. The transition time moves only when the status does.
pub fn upsert(conditions: &mut Vec<Condition>, mut next: Condition) {
    match conditions.iter_mut().find(|condition| condition.type_ == next.type_) {
        Some(old) => {
            if old.status == next.status {
                next.last_transition_time = old.last_transition_time.clone();
            }
            *old = next;
        }
        None => conditions.push(next),
    }
}

/// A time to the second: what Kubernetes keeps of it.
pub fn to_the_second(time: Timestamp) -> Time {
    Time(Timestamp::from_second(time.as_second()).unwrap_or(time))
}

/// At most `limit` bytes of `text`, ended by an ellipsis where something is missing.
pub fn cut(text: &str, limit: usize) -> String {
    const ELLIPSIS: &str = "…";
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut end = limit.saturating_sub(ELLIPSIS.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{ELLIPSIS}", &text[..end])
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn stamp(second: i64) -> Stamp {
        Stamp { generation: Some(3), now: Time(Timestamp::from_second(second).unwrap()) }
    }

    #[test]
    fn the_transition_time_moves_only_with_the_status() {
        let mut conditions = vec![condition("Ready", Truth::False, Reason::Deleting, "a", &stamp(1))];
        upsert(&mut conditions, condition("Ready", Truth::False, Reason::ApiError, "b", &stamp(2)));
        assert_eq!(conditions[0].last_transition_time, stamp(1).now);
        assert_eq!(conditions[0].message, "b");
        upsert(&mut conditions, condition("Ready", Truth::True, Reason::UpToDate, "c", &stamp(3)));
        assert_eq!(conditions[0].last_transition_time, stamp(3).now);
        assert_eq!(conditions.len(), 1);
    }

    #[rstest]
    #[case::short("abc", 8, "abc")]
    #[case::long("abcdefghi", 8, "abcde…")]
    #[case::never_inside_a_character("ééééé", 8, "éé…")]
    fn long_texts_are_cut(#[case] text: &str, #[case] limit: usize, #[case] expected: &str) {
        assert_eq!(cut(text, limit), expected);
    }
}
