//! Credentials that are kept for a while.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use aws_credential_types::Credentials;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Mutex;

use crate::error::Error;
use crate::identity::Role;
use crate::mint::session_end;

/// Credentials that last longer than this are good for every token. Those without an end are looked for again after it.
const GOOD: SignedDuration = SignedDuration::from_mins(15);
/// How long to be content with credentials that end sooner, because nobody has better ones.
const CONTENT: SignedDuration = SignedDuration::from_mins(1);
/// How long a failure is answered with itself.
const FAILED: SignedDuration = SignedDuration::from_secs(10);
/// How many assumed roles are kept.
const MOST: usize = 4096;

/// The credentials of one identity. One asks for them while the others wait.
#[derive(Default)]
pub(super) struct Session(Mutex<Option<Held>>);

struct Held {
    answer: Result<Credentials, Error>,
    asked_at: Timestamp,
}

impl Session {
    /// What is kept, or what `ask` comes to. Credentials that still last outlive a failure to get new ones.
    pub(super) async fn credentials(
        &self,
        ask: impl Future<Output = Result<Credentials, Error>> + Send,
    ) -> Result<Credentials, Error> {
        let mut held = self.0.lock().await;
        if let Some(held) = held.as_ref().filter(|held| held.serves(Timestamp::now())) {
            return held.answer.clone();
        }
        let mut answer = ask.await;
        let asked_at = Timestamp::now();
        if answer.is_err()
            && let Some(before) = held.take().filter(|held| held.lasts(asked_at))
        {
            answer = before.answer;
        }
        *held = Some(Held { answer: answer.clone(), asked_at });
        answer
    }

    pub(super) async fn forget(&self) {
        *self.0.lock().await = None;
    }
}

impl Held {
    /// Whether it is answered without asking.
    fn serves(&self, now: Timestamp) -> bool {
        let age = now.duration_since(self.asked_at);
        if age.is_negative() {
            return false;
        }
        match &self.answer {
            Err(_) => age < FAILED,
            Ok(credentials) => match session_end(credentials) {
                None => age < GOOD,
                Some(end) => end.duration_since(now) > GOOD || (age < CONTENT && end > now),
            },
        }
    }

    /// Whether it can be used a while longer.
    fn lasts(&self, now: Timestamp) -> bool {
        self.answer.as_ref().is_ok_and(|credentials| {
            session_end(credentials).is_none_or(|end| end.duration_since(now) > CONTENT)
        })
    }
}

/// The sessions of assumed roles; those that were not asked for the longest make room for others.
#[derive(Default)]
pub(super) struct Sessions(std::sync::Mutex<Kept>);

#[derive(Default)]
struct Kept {
    asked: u64,
    sessions: HashMap<(Role, String), (u64, Arc<Session>)>,
}

impl Sessions {
    pub(super) fn session(&self, role: &Role, region: &str) -> Arc<Session> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.session((role.clone(), region.to_owned()), MOST)
    }
}

impl Kept {
    fn session(&mut self, key: (Role, String), most: usize) -> Arc<Session> {
        self.asked += 1;
        if self.sessions.len() >= most && !self.sessions.contains_key(&key) {
            let oldest =
                self.sessions.iter().min_by_key(|(_, (asked, _))| *asked).map(|(key, _)| key.clone());
            oldest.map(|key| self.sessions.remove(&key));
        }
        let (asked, session) = self.sessions.entry(key).or_default();
        *asked = self.asked;
        session.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use rstest::rstest;

    use super::*;

    fn credentials(key: &str, seconds: Option<i64>) -> Credentials {
        let end = seconds.map(|seconds| (Timestamp::now() + SignedDuration::from_secs(seconds)).into());
        Credentials::new(key, "secret", None, end, "test")
    }

    fn held(answer: Result<Credentials, Error>, age: i64) -> Held {
        Held { answer, asked_at: Timestamp::now() - SignedDuration::from_secs(age) }
    }

    #[rstest]
    #[case::long(Some(3600), 1800, true)]
    #[case::endless(None, 60, true)]
    #[case::endless_for_a_while(None, 901, false)]
    #[case::about_to_end(Some(600), 90, false)]
    #[case::about_to_end_but_just_asked(Some(600), 30, true)]
    #[case::over(Some(-1), 30, false)]
    #[case::from_the_future(Some(3600), -30, false)]
    fn credentials_are_asked_for_before_they_end(
        #[case] lasts: Option<i64>,
        #[case] age: i64,
        #[case] serves: bool,
    ) {
        assert_eq!(held(Ok(credentials("a", lasts)), age).serves(Timestamp::now()), serves);
    }

    #[rstest]
    #[case::just_now(2, true)]
    #[case::a_while_ago(11, false)]
    fn a_failure_is_answered_with_itself_for_a_while(#[case] age: i64, #[case] serves: bool) {
        assert_eq!(held(Err(Error::InvalidRole), age).serves(Timestamp::now()), serves);
    }

    #[rstest]
    #[case::that_still_last(300, true)]
    #[case::that_do_not(30, false)]
    #[tokio::test]
    async fn only_credentials_that_last_outlive_a_failure(#[case] last: i64, #[case] outlive: bool) {
        let session = Session(Mutex::new(Some(held(Ok(credentials("old", Some(last))), 90))));

        let answer = session.credentials(ready(Err(Error::InvalidRole))).await;

        assert_eq!(answer.is_ok(), outlive);
    }

    #[test]
    fn the_session_nobody_asks_for_makes_room() {
        let key = |name: &str| (Role { arn: name.to_owned(), external_id: None }, "eu-west-1".to_owned());
        let mut kept = Kept::default();
        let first = kept.session(key("a"), 2);
        let second = kept.session(key("b"), 2);
        kept.session(key("a"), 2);

        kept.session(key("c"), 2);

        assert!(Arc::ptr_eq(&first, &kept.session(key("a"), 2)));
        assert!(!Arc::ptr_eq(&second, &kept.session(key("b"), 2)));
        assert_eq!(kept.sessions.len(), 2);
    }
}
