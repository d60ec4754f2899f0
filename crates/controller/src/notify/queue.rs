//! News that waits to be told.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::news::News;

/// Loss is logged no more often than this.
const BETWEEN_WARNINGS: Duration = Duration::from_secs(60);

/// News, and since when it waits.
#[derive(Debug)]
pub(super) struct Letter {
    pub(super) news: News,
    pub(super) handed_in: Instant,
}

impl Letter {
    pub(super) fn new(news: News) -> Self {
        Self { news, handed_in: Instant::now() }
    }
}

/// What came of handing in a letter.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pushed {
    /// It waits.
    Kept,
    /// It waits, in the place of the oldest one.
    OldestLost {
        /// How many were lost since that was logged, if it is time to log it again.
        untold: Option<u64>,
    },
}

/// Letters in the order in which they came, as many as there is room for. One may take them out.
pub(super) struct Queue {
    most: usize,
    content: Mutex<Content>,
    arrived: Notify,
}

#[derive(Default)]
struct Content {
    letters: VecDeque<Letter>,
    untold: u64,
    told: Option<Instant>,
}

impl Queue {
    pub(super) fn new(most: usize) -> Self {
        Self { most, content: Mutex::default(), arrived: Notify::new() }
    }

    pub(super) fn push(&self, letter: Letter) -> Pushed {
        let mut content = self.lock();
        let now = letter.handed_in;
        content.letters.push_back(letter);
        let pushed = if content.letters.len() <= self.most {
            Pushed::Kept
        } else {
            content.letters.pop_front();
            Pushed::OldestLost { untold: content.lose(now) }
        };
        drop(content);
        self.arrived.notify_one();
        pushed
    }

    /// The oldest letter, as soon as there is one.
    pub(super) async fn next(&self) -> Letter {
        loop {
            let oldest = self.lock().letters.pop_front();
            match oldest {
                Some(letter) => return letter,
                None => self.arrived.notified().await,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Content> {
        // The content is changed by single calls that cannot panic half-way.
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Content {
    fn lose(&mut self, now: Instant) -> Option<u64> {
        self.untold += 1;
        if self.told.is_some_and(|told| now.duration_since(told) < BETWEEN_WARNINGS) {
            return None;
        }
        self.told = Some(now);
        Some(std::mem::take(&mut self.untold))
    }
}
