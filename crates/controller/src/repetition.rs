//! The same thing, said again and again with growing pauses.

use std::time::Duration;

use tokio::time::Instant;

/// How long after the first time something is said again; then twice as long, and so on.
const FIRST_PAUSE: Duration = Duration::from_secs(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(10 * 60);

/// Remembers what was said last, and when.
#[derive(Debug, Default)]
pub(crate) struct Repetition(Option<Said>);

#[derive(Debug)]
struct Said {
    words: String,
    next: Instant,
    pause: Duration,
}

impl Repetition {
    /// Whether this is to be said now: what is new is, what was said is after a pause.
    pub(crate) fn is_due(&mut self, words: &str) -> bool {
        let now = Instant::now();
        let pause = match &self.0 {
            Some(said) if said.words == words && now < said.next => return false,
            Some(said) if said.words == words => (said.pause * 2).min(LONGEST_PAUSE),
            Some(_) | None => FIRST_PAUSE,
        };
        self.0 = Some(Said { words: words.to_owned(), next: now + pause, pause });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often something was said in so many seconds, when it is tried every second.
    async fn said(repetition: &mut Repetition, words: &str, seconds: u64) -> usize {
        let mut count = 0;
        for _ in 0..seconds {
            count += usize::from(repetition.is_due(words));
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        count
    }

    #[tokio::test(start_paused = true)]
    async fn the_same_is_said_ever_more_rarely_and_something_new_at_once() {
        let mut repetition = Repetition::default();

        assert_eq!(said(&mut repetition, "a", 10).await, 1);
        assert_eq!(said(&mut repetition, "a", 60).await, 2);
        assert_eq!(said(&mut repetition, "b", 1).await, 1);
        assert_eq!(said(&mut repetition, "b", 86_400).await, 148);
    }
}
