//! Delivery to a real receiver. Time stands still while a request is under way, and leaps over pauses.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use capt_testkit::{TestCluster, eventually};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing_subscriber::util::SubscriberInitExt;

use super::receiver::{Heard, WITHIN, counted, failure_of, receiver, status, to};
use crate::metrics::Metrics;
use crate::notify::Notifier;
use crate::notify::post::{Answer, Post};
use crate::options::Notifications;

struct Telling {
    notifier: Notifier,
    metrics: Metrics,
    _carrying: JoinSet<()>,
}

impl Telling {
    fn start(options: Notifications) -> Self {
        let metrics = Metrics::new();
        let (notifier, carrying) = Notifier::start(Some(options), metrics.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(carrying);
        Self { notifier, metrics, _carrying: tasks }
    }

    async fn until_counted(&self, expected: [u64; 3]) {
        eventually("the count of what was told", async || {
            let counted = counted(&self.metrics);
            if counted == expected { Ok(()) } else { Err(format!("{counted:?}")) }
        })
        .await;
    }
}

async fn next(heard: &mut UnboundedReceiver<Heard>) -> Heard {
    heard.recv().await.unwrap()
}

/// HMAC-SHA256 as RFC 2104 writes it, for keys of one block at most.
fn hmac(key: &[u8], body: &[u8]) -> String {
    let pad = |with: u8| (0..64).map(move |place| key.get(place).copied().unwrap_or(0) ^ with);
    let inner = Sha256::new().chain_update(pad(0x36).collect::<Vec<_>>()).chain_update(body).finalize();
    let outer = Sha256::new().chain_update(pad(0x5c).collect::<Vec<_>>()).chain_update(inner).finalize();
    outer.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

#[tokio::test(start_paused = true)]
async fn news_is_told_once_in_one_signed_line() {
    let (place, mut heard) = receiver(|_, stream| status(stream, 204));
    let telling = Telling::start(to(&format!("http://me:secret@{place}/hooks?a=b"), Some("hunter2")));

    telling.notifier.tell(failure_of("karpenter"));

    let request = next(&mut heard).await;
    telling.until_counted([1, 0, 0]).await;
    assert!(request.head.starts_with("POST /hooks?a=b HTTP/1.1\r\n"), "{}", request.head);
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("x-capt-event"), Some("Failed"));
    assert_eq!(request.header("authorization"), Some("Basic bWU6c2VjcmV0"));
    let expected = format!("sha256={}", hmac(b"hunter2", request.body.as_bytes()));
    assert_eq!(request.header("x-capt-signature"), Some(expected.as_str()));
    let line = request.body.strip_suffix('\n').unwrap();
    assert!(!line.contains('\n'));
    assert_eq!(
        serde_json::from_str::<Value>(line).unwrap(),
        json!({
            "id": "20451551acf974b1",
            "time": "2026-01-02T03:09:05Z",
            "namespace": "team-a",
            "cluster": "prod-1",
            "stack": "base",
            "addon": "karpenter",
            "event": "Failed",
            "state": "Failed",
            "reason": "ObjectRefused",
            "message": "the cluster refused NodePool `default`",
            "failures": 3,
            "since": "2026-01-02T03:04:05Z",
        })
    );
    assert!(heard.try_recv().is_err(), "it is told once");
}

#[tokio::test(start_paused = true)]
async fn without_a_key_nothing_is_signed() {
    let (place, mut heard) = receiver(|_, stream| status(stream, 200));
    let telling = Telling::start(to(&format!("http://{place}"), None));

    telling.notifier.tell(failure_of("flux"));

    assert_eq!(next(&mut heard).await.header("x-capt-signature"), None);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_taken_now_is_told_again_before_anything_else() {
    let (place, mut heard) = receiver(|number, stream| status(stream, if number < 2 { 503 } else { 200 }));
    let telling = Telling::start(to(&format!("http://{place}/"), None));

    telling.notifier.tell(failure_of("flux"));
    telling.notifier.tell(failure_of("karpenter"));

    let mut told = Vec::new();
    for _ in 0..4 {
        told.push(next(&mut heard).await);
    }
    telling.until_counted([2, 2, 0]).await;
    let addons: Vec<_> = told.iter().map(Heard::addon).collect();
    assert_eq!(addons, ["flux", "flux", "flux", "karpenter"]);
    assert_eq!(told[0].body, told[2].body, "a receiver can tell that it is the same");
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_is_not_told_again() {
    let (place, mut heard) = receiver(|number, stream| status(stream, if number == 0 { 400 } else { 200 }));
    let telling = Telling::start(to(&format!("http://{place}/"), None));

    telling.notifier.tell(failure_of("flux"));
    telling.notifier.tell(failure_of("karpenter"));

    assert_eq!(next(&mut heard).await.addon(), "flux");
    assert_eq!(next(&mut heard).await.addon(), "karpenter");
    telling.until_counted([1, 0, 1]).await;
}

#[tokio::test(start_paused = true)]
async fn redirects_are_not_followed() {
    let (elsewhere, mut astray) = receiver(|_, stream| status(stream, 200));
    let (place, mut heard) = receiver(move |_, stream| {
        write!(stream, "HTTP/1.1 307 Go\r\nlocation: http://{elsewhere}/\r\ncontent-length: 0\r\n\r\n")
    });
    let telling = Telling::start(to(&format!("http://{place}/"), Some("hunter2")));

    telling.notifier.tell(failure_of("flux"));

    next(&mut heard).await;
    telling.until_counted([0, 0, 1]).await;
    assert!(astray.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_end_is_not_listened_to() {
    let (place, mut heard) = receiver(|_, stream| {
        write!(stream, "HTTP/1.1 200 OK\r\n\r\n")?;
        loop {
            stream.write_all(&[b'x'; 1024])?;
        }
    });
    let telling = Telling::start(to(&format!("http://{place}/"), None));

    telling.notifier.tell(failure_of("flux"));
    telling.notifier.tell(failure_of("karpenter"));

    next(&mut heard).await;
    assert_eq!(next(&mut heard).await.addon(), "karpenter");
    telling.until_counted([2, 0, 0]).await;
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_stays_away_is_asked_ever_more_rarely_until_the_news_is_old() {
    let (place, mut heard) = receiver(|_, stream| status(stream, 500));
    let telling = Telling::start(to(&format!("http://{place}/"), None));
    let started = Instant::now();

    telling.notifier.tell(failure_of("flux"));

    let mut times = Vec::new();
    while counted(&telling.metrics)[2] == 0 {
        match tokio::time::timeout(Duration::from_secs(400), heard.recv()).await {
            Ok(Some(_)) => times.push(started.elapsed().as_secs()),
            Ok(None) => panic!("the receiver ended"),
            Err(_) => {}
        }
    }
    assert_eq!(times[..11], [0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 811]);
    assert_eq!(times.last(), Some(&3511));
}

#[tokio::test]
async fn a_receiver_that_nobody_vouches_for_is_told_nothing_and_asked_again() {
    let cluster = TestCluster::shared().await;
    let post = Post::new(to(cluster.control_plane().url(), None), WITHIN);

    let answer = tokio::task::spawn_blocking(move || post.send(&failure_of("flux"))).await.unwrap();

    let Answer::Later(reason) = answer else { panic!("{answer:?}") };
    assert!(reason.contains("certificate"), "{reason}");
}

#[tokio::test]
async fn a_receiver_that_is_not_there_or_never_answers_is_asked_again() {
    let (_patience, end) = std::sync::mpsc::channel::<()>();
    let (place, _heard) = receiver(move |_, _| {
        let _ = end.recv();
        Ok(())
    });
    let silent = Post::new(to(&format!("http://{place}/"), None), Duration::from_millis(200));
    let absent = Post::new(to("http://127.0.0.1:1/", None), WITHIN);

    let answers = tokio::task::spawn_blocking(move || {
        [silent.send(&failure_of("flux")), absent.send(&failure_of("flux"))]
    });

    for answer in answers.await.unwrap() {
        assert!(matches!(answer, Answer::Later(_)), "{answer:?}");
    }
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn logs_tell_what_happened_and_no_secret() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone());
    let _guard = subscriber.with_max_level(tracing::Level::TRACE).set_default();
    let (place, _heard) = receiver(|number, stream| status(stream, if number == 0 { 503 } else { 403 }));
    let url = format!("http://me:s3cret@{place}/s3cret?token=s3cret");
    let telling = Telling::start(to(&url, Some("s3cret-key")));

    telling.notifier.tell(failure_of("flux"));

    telling.until_counted([0, 1, 1]).await;
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains(&format!("webhook=http://{place} reason=\"it answered with status 503\"")), "{log}");
    assert!(log.contains("status 403"), "{log}");
    assert!(!log.contains("s3cret"), "{log}");
}
