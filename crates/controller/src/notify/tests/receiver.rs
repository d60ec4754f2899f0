//! A receiver that answers as it was told, and the news that tests tell it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use capt_api::addon_stack::StepState;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::metrics::Metrics;
use crate::notify::news::{Event, News};
use crate::options::Notifications;

/// What a receiver heard.
pub(super) struct Heard {
    pub(super) head: String,
    pub(super) body: String,
}

impl Heard {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub(super) fn addon(&self) -> String {
        let line: Value = serde_json::from_str(&self.body).unwrap();
        line["addon"].as_str().unwrap().to_owned()
    }
}

/// Listens on a port of its own and gives each request to `answer`, with its number. Ends with the test's process.
pub(super) fn receiver(
    answer: impl Fn(usize, &mut TcpStream) -> std::io::Result<()> + Send + 'static,
) -> (String, UnboundedReceiver<Heard>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let place = listener.local_addr().unwrap().to_string();
    let (sender, heard) = unbounded_channel();
    thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            if sender.send(hear(&stream)).is_err() {
                return;
            }
            // Whoever has heard enough hangs up.
            let _ = answer(number, &mut stream);
        }
    });
    (place, heard)
}

fn hear(stream: &TcpStream) -> Heard {
    let mut reader = BufReader::new(stream);
    let mut lines = String::new();
    while !lines.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut lines).unwrap(), 0, "a request has an end");
    }
    let heard = Heard { head: lines, body: String::new() };
    let length: u64 = heard.header("content-length").unwrap().parse().unwrap();
    let mut body = String::new();
    reader.take(length).read_to_string(&mut body).unwrap();
    Heard { body, ..heard }
}

pub(super) fn status(stream: &mut TcpStream, status: u16) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 {status} Whatever\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}

/// Notifications to this address.
pub(super) fn to(url: &str, key: Option<&str>) -> Notifications {
    Notifications { webhook: url.parse().unwrap(), key: key.map(Into::into) }
}

/// News of the failure of an add-on.
pub(super) fn failure_of(addon: &str) -> News {
    News {
        time: time("2026-01-02T03:09:05Z"),
        namespace: "team-a".to_owned(),
        cluster: "prod-1".to_owned(),
        stack: "base".to_owned(),
        addon: addon.to_owned(),
        event: Event::Failed,
        state: StepState::Failed,
        reason: "ObjectRefused".to_owned(),
        message: "the cluster refused NodePool `default`".to_owned(),
        failures: 3,
        since: time("2026-01-02T03:04:05Z"),
    }
}

pub(super) fn time(text: &str) -> Time {
    Time(text.parse().unwrap())
}

/// How often the webhook was told, was to be told again, and was not told.
pub(super) fn counted(metrics: &Metrics) -> [u64; 3] {
    let text = metrics.encode().unwrap();
    ["Sent", "Retried", "Dropped"].map(|result| {
        let start = format!(r#"capt_addon_notifications_total{{result="{result}"}} "#);
        text.lines().find_map(|line| line.strip_prefix(&start)).map_or(0, |count| count.parse().unwrap())
    })
}

/// Far more than a request to this machine takes.
pub(super) const WITHIN: Duration = Duration::from_secs(30);
