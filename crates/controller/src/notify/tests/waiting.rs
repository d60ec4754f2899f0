//! News that waits.

use std::time::Duration;

use futures::FutureExt;
use tokio::time::advance;

use super::receiver::{counted, failure_of, receiver, to};
use crate::metrics::Metrics;
use crate::notify::queue::{Letter, Pushed, Queue};
use crate::notify::{MOST_WAITING, Notifier};

fn letter(number: usize) -> Letter {
    Letter::new(failure_of(&number.to_string()))
}

#[tokio::test(start_paused = true)]
async fn when_too_much_waits_the_oldest_is_lost_and_told_once_a_minute() {
    let queue = Queue::new(3);
    for number in 0..3 {
        assert_eq!(queue.push(letter(number)), Pushed::Kept);
    }

    assert_eq!(queue.push(letter(3)), Pushed::OldestLost { untold: Some(1) });
    assert_eq!(queue.push(letter(4)), Pushed::OldestLost { untold: None });
    advance(Duration::from_secs(61)).await;
    assert_eq!(queue.push(letter(5)), Pushed::OldestLost { untold: Some(2) });

    for number in 3..6 {
        assert_eq!(queue.next().await.news.addon, number.to_string());
    }
    assert!(queue.next().now_or_never().is_none());
}

#[tokio::test]
async fn whoever_waits_for_news_gets_what_comes_later() {
    let queue = Queue::new(3);
    let (letter, _) = tokio::join!(queue.next(), async { queue.push(letter(1)) });
    assert_eq!(letter.news.addon, "1");
}

#[tokio::test]
async fn a_receiver_that_never_answers_holds_nobody_up() {
    let (patience, end) = std::sync::mpsc::channel::<()>();
    let (place, mut heard) = receiver(move |_, _| {
        let _ = end.recv();
        Ok(())
    });
    let metrics = Metrics::new();
    let (notifier, carrying) = Notifier::start(Some(to(&format!("http://{place}/"), None)), metrics.clone());
    let carrying = tokio::spawn(carrying);
    notifier.tell(failure_of("flux"));
    heard.recv().await.unwrap();

    for _ in 0..MOST_WAITING + 5 {
        notifier.tell(failure_of("karpenter"));
    }

    assert_eq!(counted(&metrics), [0, 0, 5]);
    carrying.abort();
    drop(patience);
}

#[tokio::test]
async fn where_nobody_is_to_be_told_news_is_not_kept() {
    let metrics = Metrics::new();
    let (notifier, carrying) = Notifier::start(None, metrics.clone());

    for _ in 0..MOST_WAITING + 5 {
        notifier.tell(failure_of("flux"));
    }

    assert_eq!(counted(&metrics), [0, 0, 0]);
    assert!(carrying.now_or_never().is_none());
}
