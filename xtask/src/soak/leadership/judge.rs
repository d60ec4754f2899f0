//! Who acted when, and whether he was allowed to.
//!
//! A manager may write to the server while it holds the Lease: from a write of the Lease that the server has taken, until that has
//! run out, or was released, or somebody else has written himself into it. Time is that of the one process which all requests
//! go through on their way to the server. So no clock is compared with another, and what counts is not what a manager believes.

use std::time::Duration;

/// A write on its way to the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Write {
    /// Whose it is.
    pub(super) manager: usize,
    pub(super) what: What,
    /// When it went on to the server.
    pub(super) at: Duration,
    /// Whether the server has taken it; unknown while it has not answered.
    pub(super) taken: Option<bool>,
}

/// What is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The Lease: whether the writer is its holder afterwards.
    Lease { holds: bool },
    /// Anything else, by method and path.
    Act(String),
}

/// What is wrong with these writes, where a Lease lasts so long.
pub(super) fn violations(writes: &[Write], lease: Duration) -> Vec<String> {
    let mut writes: Vec<&Write> = writes.iter().collect();
    writes.sort_by_key(|write| write.at);
    let mut held: Option<(usize, Duration)> = None;
    let mut violations = Vec::new();
    for write in writes {
        match &write.what {
            What::Lease { .. } if write.taken != Some(true) => {}
            What::Lease { holds: true } => held = Some((write.manager, write.at)),
            What::Lease { holds: false } => held = None,
            What::Act(what) => {
                let why = match held {
                    Some((holder, since)) if holder == write.manager => {
                        let age = write.at.saturating_sub(since);
                        if age < lease {
                            continue;
                        }
                        format!("{age:?} after it had renewed the Lease last")
                    }
                    Some((holder, since)) => {
                        format!(
                            "{:?} after manager {holder} had written the Lease",
                            write.at.saturating_sub(since)
                        )
                    }
                    None => "while nobody held the Lease".to_owned(),
                };
                violations.push(format!("at {:?} manager {} sent {what}, {why}", write.at, write.manager));
            }
        }
    }
    violations
}

/// How often the Lease has passed from one manager to the other.
pub(super) fn handovers(writes: &[Write]) -> usize {
    let mut takes: Vec<&Write> = writes
        .iter()
        .filter(|write| write.what == What::Lease { holds: true } && write.taken == Some(true))
        .collect();
    takes.sort_by_key(|write| write.at);
    takes.windows(2).filter(|pair| pair[0].manager != pair[1].manager).count()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn lease(manager: usize, at: u64, holds: bool) -> Write {
        Write { manager, what: What::Lease { holds }, at: Duration::from_secs(at), taken: Some(true) }
    }

    fn act(manager: usize, at: u64) -> Write {
        let what = What::Act("PATCH /x".to_owned());
        Write { manager, what, at: Duration::from_secs(at), taken: Some(true) }
    }

    fn refused(write: Write) -> Write {
        Write { taken: Some(false), ..write }
    }

    fn unanswered(write: Write) -> Write {
        Write { taken: None, ..write }
    }

    #[rstest]
    #[case::the_holder_acts(vec![lease(0, 0, true), act(0, 14), lease(0, 14, true), act(0, 20)], 0)]
    #[case::after_it_ran_out(vec![lease(0, 0, true), act(0, 15)], 1)]
    #[case::after_another_took_it(vec![lease(0, 0, true), lease(1, 15, true), act(1, 15), act(0, 16)], 1)]
    #[case::after_a_release(vec![lease(0, 0, true), lease(0, 3, false), act(0, 4)], 1)]
    #[case::before_anybody_had_it(vec![act(0, 0), lease(0, 1, true)], 1)]
    #[case::a_renewal_that_was_refused(vec![lease(0, 0, true), refused(lease(0, 10, true)), act(0, 16)], 1)]
    #[case::a_renewal_without_an_answer(vec![lease(0, 0, true), unanswered(lease(0, 10, true)), act(0, 16)], 1)]
    #[case::an_act_that_was_refused_is_one(vec![lease(0, 0, true), lease(1, 15, true), refused(act(0, 16))], 1)]
    #[case::in_any_order(vec![act(0, 14), lease(0, 0, true)], 0)]
    fn only_the_holder_of_the_lease_may_act(#[case] writes: Vec<Write>, #[case] expected: usize) {
        let found = violations(&writes, Duration::from_secs(15));
        assert_eq!(found.len(), expected, "{found:?}");
    }

    #[test]
    fn renewals_are_no_handovers() {
        let writes = [lease(0, 0, true), lease(0, 3, true), lease(1, 20, true), refused(lease(0, 21, true))];
        assert_eq!(handovers(&writes), 1);
    }
}
