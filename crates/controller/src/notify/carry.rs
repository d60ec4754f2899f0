//! Carries news to the webhook, one piece after the other.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tracing::{debug, warn};

use super::news::News;
use super::post::{Answer, Post};
use super::queue::{Letter, Queue};
use crate::metrics::{Metrics, Notification};

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(5 * 60);

/// For how long news is worth telling.
const WORTH_TELLING: Duration = Duration::from_secs(3600);

/// Carries news for ever.
pub(super) async fn carry(queue: Arc<Queue>, post: Arc<Post>, metrics: Metrics) {
    let mut carrier = Carrier { post, metrics, pause: FIRST_PAUSE };
    loop {
        let letter = queue.next().await;
        carrier.deliver(letter).await;
    }
}

struct Carrier {
    post: Arc<Post>,
    metrics: Metrics,
    /// How long is waited after the next failure. It outlasts a letter: a receiver that is away is away for all of them.
    pause: Duration,
}

impl Carrier {
    /// Tells the news until it is taken, refused or old.
    async fn deliver(&mut self, letter: Letter) {
        let letter = Arc::new(letter);
        loop {
            let reason = match self.ask(&letter).await {
                Answer::Taken => {
                    self.pause = FIRST_PAUSE;
                    self.metrics.notified(Notification::Sent);
                    let News { cluster, addon, .. } = &letter.news;
                    debug!(cluster, addon, event = letter.news.event.as_str(), "the webhook was told");
                    return;
                }
                Answer::Refused(reason) => {
                    self.pause = FIRST_PAUSE;
                    return self.give_up(&letter, &reason);
                }
                Answer::Later(reason) => reason,
            };
            let next = Instant::now() + self.pause;
            if next > letter.handed_in + WORTH_TELLING {
                return self.give_up(&letter, &reason);
            }
            self.metrics.notified(Notification::Retried);
            warn!(
                webhook = %self.post.webhook(),
                reason,
                seconds = self.pause.as_secs(),
                "the webhook could not be told of an add-on; trying again"
            );
            sleep_until(next).await;
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Asks in a thread of its own, as asking blocks.
    async fn ask(&self, letter: &Arc<Letter>) -> Answer {
        let (post, letter) = (Arc::clone(&self.post), Arc::clone(letter));
        let asked = tokio::task::spawn_blocking(move || post.send(&letter.news)).await;
        asked.unwrap_or_else(|error| Answer::Later(error.to_string()))
    }

    fn give_up(&self, letter: &Letter, reason: &str) {
        self.metrics.notified(Notification::Dropped);
        let News { namespace, cluster, stack, addon, event, .. } = &letter.news;
        warn!(
            webhook = %self.post.webhook(),
            reason,
            namespace,
            cluster,
            stack,
            addon,
            event = event.as_str(),
            "the webhook was not told of an add-on, and is not asked again"
        );
    }
}
