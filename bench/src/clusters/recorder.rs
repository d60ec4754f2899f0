//! Clients that are listened to: what was asked for, by whom, and what was written.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use capt_testkit::verb_and_resource;
use http::header::CONTENT_TYPE;
use http::{Method, Request};
use kube::Client;
use kube::client::Body;

const PAUSE: Duration = Duration::from_millis(10);

/// Whose client it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// CAPT's manager.
    Manager,
    /// Whoever makes clusters and runs Terraform.
    Others,
}

/// What was asked for, and answered, since it was taken last.
#[derive(Clone, Default)]
pub(crate) struct Recorder(Arc<Recorded>);

#[derive(Default)]
struct Recorded {
    sent: Arc<AtomicUsize>,
    answered: Mutex<Vec<Asked>>,
}

/// A request that was answered.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// A request that follows from another was sent later, but may be answered earlier.
    pub(crate) sent: usize,
    pub(crate) who: Who,
    pub(crate) verb: &'static str,
    /// With its subresource.
    pub(crate) resource: String,
    pub(crate) succeeded: bool,
    /// What was written.
    pub(crate) written: Option<Written>,
}

/// A write, so that it can be made again.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) method: Method,
    /// Path and query.
    pub(crate) path: String,
    pub(crate) content_type: String,
    pub(crate) body: Vec<u8>,
}

impl Asked {
    pub(crate) fn is_event(&self) -> bool {
        self.resource == "events"
    }

    pub(crate) fn is_watch(&self) -> bool {
        self.verb == "watch"
    }

    pub(crate) fn is_lease(&self) -> bool {
        self.resource == "leases"
    }
}

impl Recorder {
    /// Another, whose requests have their place in the same order.
    pub(crate) fn beside(&self) -> Self {
        Self(Arc::new(Recorded { sent: Arc::clone(&self.0.sent), ..Recorded::default() }))
    }

    /// The same client, which is listened to from here on.
    pub(crate) fn listen(&self, client: Client, who: Who) -> Client {
        let recorder = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (client, recorder) = (client.clone(), recorder.clone());
            async move {
                let sent = recorder.0.sent.fetch_add(1, Ordering::SeqCst);
                let (parts, body) = request.into_parts();
                let body = body.collect_bytes().await?;
                let content_type = parts.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
                let content_type = content_type.unwrap_or_default().to_owned();
                let (verb, resource) = verb_and_resource(&parts.method, &parts.uri, &parts.headers);
                let written = (parts.method != Method::GET).then(|| Written {
                    method: parts.method.clone(),
                    path: parts.uri.to_string(),
                    content_type,
                    body: body.to_vec(),
                });
                let answer = client.send(Request::from_parts(parts, Body::from(body))).await;
                let succeeded = answer.as_ref().is_ok_and(|answer| answer.status().is_success());
                recorder.lock().push(Asked { sent, who, verb, resource, succeeded, written });
                answer
            }
        });
        Client::new(service, "default")
    }

    /// What was asked for, in order; from here on it is noted anew.
    pub(crate) fn take(&self) -> Vec<Asked> {
        let mut all = std::mem::take(&mut *self.lock());
        all.sort_unstable_by_key(|asked| asked.sent);
        all
    }

    /// How much was asked for by the manager.
    pub(crate) fn count(&self, counts: impl Fn(&Asked) -> bool) -> usize {
        self.lock().iter().filter(|asked| asked.who == Who::Manager && counts(asked)).count()
    }

    /// Waits until the manager has asked for nothing for so long.
    pub(crate) async fn quiet(&self, duration: Duration) {
        let count = || self.count(|asked| !asked.is_lease());
        let (mut last, mut since) = (count(), Instant::now());
        while since.elapsed() < duration {
            tokio::time::sleep(PAUSE).await;
            if count() != last {
                (last, since) = (count(), Instant::now());
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Asked>> {
        // The list is changed by single calls that cannot panic half-way.
        self.0.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How often each was asked for.
pub(crate) fn table<'asked>(all: impl IntoIterator<Item = &'asked Asked>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for Asked { verb, resource, .. } in all {
        *counts.entry(format!("{verb} {resource}")).or_default() += 1;
    }
    counts
}
