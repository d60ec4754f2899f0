//! Tells a webhook of every add-on that failed in a cluster, or recovered there.
//!
//! Each piece of news is one POST with one line: a JSON object (broken up here to be readable) and a line break. `id` is the
//! same whenever the same is told again, so that a receiver can pass over what it has seen.
//!
//! ```text
//! POST /hooks/capt HTTP/1.1
//! Content-Type: application/json
//! X-Capt-Event: Failed
//! X-Capt-Signature: sha256=<hexadecimal HMAC-SHA256 of the body with the key; left out where there is no key>
//!
//! {"addon":"karpenter","cluster":"prod-1","event":"Failed","failures":3,"id":"20451551acf974b1","message":"the cluster refused
//! NodePool `default`","namespace":"team-a","reason":"ObjectRefused","since":"2026-01-02T03:04:05Z","stack":"base",
//! "state":"Failed","time":"2026-01-02T03:09:05Z"}
//! ```
//!
//! `event` is `Failed` or `Recovered`, `since` is when the add-on came into `state`, `time` is when this was noticed, and
//! `failures` counts failed attempts in a row.
//!
//! News is told in order, one piece at a time. What the receiver cannot take now (5xx, 429, 408, no answer, no connection) is
//! tried again with growing pauses for an hour; what it refuses is dropped and logged. News waits in memory: it is lost when the
//! manager ends, and the oldest is lost when there is too much of it. Status, Events and metrics tell all of it in any case.

mod carry;
mod news;
mod post;
mod queue;

use std::future;
use std::sync::Arc;

use futures::future::Either;
use tracing::warn;

pub(crate) use news::{News, news};

use self::carry::carry;
use self::post::Post;
use self::queue::{Letter, Pushed, Queue};
use crate::metrics::{Metrics, Notification};
use crate::options::Notifications;

/// How much news waits.
const MOST_WAITING: usize = 1000;

/// Where news is handed in.
#[derive(Clone)]
pub(crate) struct Notifier {
    /// Nothing where nobody wants to be told.
    queue: Option<Arc<Queue>>,
    metrics: Metrics,
}

impl Notifier {
    /// A notifier, and what carries its news as long as it is polled. It never ends by itself, also where nobody is told.
    pub(crate) fn start(
        options: Option<Notifications>,
        metrics: Metrics,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let Some(options) = options else {
            return (Self { queue: None, metrics }, Either::Left(future::pending()));
        };
        let queue = Arc::new(Queue::new(MOST_WAITING));
        let carrying = carry(Arc::clone(&queue), Arc::new(Post::new(options, post::WITHIN)), metrics.clone());
        (Self { queue: Some(queue), metrics }, Either::Right(carrying))
    }

    /// Hands in news. It neither waits nor fails; when too much waits, the oldest is lost.
    pub(crate) fn tell(&self, news: News) {
        let Some(queue) = &self.queue else { return };
        match queue.push(Letter::new(news)) {
            Pushed::Kept => {}
            Pushed::OldestLost { untold } => {
                self.metrics.notified(Notification::Dropped);
                if let Some(count) = untold {
                    warn!(
                        count,
                        "the webhook is told too slowly; the oldest news of add-ons was dropped, see their status instead"
                    );
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
