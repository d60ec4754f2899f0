//! Clients that are listened to: what was asked for, by whom, and what was written.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http::header::CONTENT_TYPE;
use http::{Method, Request};
use kube::Client;
use kube::client::Body;

const PAUSE: Duration = Duration::from_millis(10);

/// Whose client it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// CAPT's manager.
    Manager,
    /// Whoever makes clusters and runs Terraform.
    Others,
}

/// What was asked for, and answered, since it was taken last.
#[derive(Clone, Default)]
pub(super) struct Recorder(Arc<Recorded>);

#[derive(Default)]
struct Recorded {
    sent: AtomicUsize,
    answered: Mutex<Vec<Asked>>,
}

/// A request that was answered.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// A request that follows from another was sent later, but may be answered earlier.
    sent: usize,
    pub(super) who: Who,
    pub(super) verb: &'static str,
    /// With its subresource.
    pub(super) resource: String,
    pub(super) succeeded: bool,
    /// What was written.
    pub(super) written: Option<Written>,
}

/// A write, so that it can be made again.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) method: Method,
    /// Path and query.
    pub(super) path: String,
    pub(super) content_type: String,
    pub(super) body: Vec<u8>,
}

impl Asked {
    pub(super) fn is_event(&self) -> bool {
        self.resource == "events"
    }

    pub(super) fn is_watch(&self) -> bool {
        self.verb == "watch"
    }

    pub(super) fn is_lease(&self) -> bool {
        self.resource == "leases"
    }
}

impl Recorder {
    /// The same client, which is listened to from here on.
    pub(super) fn listen(&self, client: Client, who: Who) -> Client {
        let recorder = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (client, recorder) = (client.clone(), recorder.clone());
            async move {
                let sent = recorder.0.sent.fetch_add(1, Ordering::SeqCst);
                let (parts, body) = request.into_parts();
                let body = body.collect_bytes().await?;
                let content_type = parts.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
                let content_type = content_type.unwrap_or_default().to_owned();
                let (verb, resource) = classify(&parts.method, &parts.uri, &content_type);
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
    pub(super) fn take(&self) -> Vec<Asked> {
        let mut all = std::mem::take(&mut *self.lock());
        all.sort_unstable_by_key(|asked| asked.sent);
        all
    }

    /// How much was asked for by the manager.
    pub(super) fn count(&self, counts: impl Fn(&Asked) -> bool) -> usize {
        self.lock().iter().filter(|asked| asked.who == Who::Manager && counts(asked)).count()
    }

    /// Waits until the manager has asked for nothing for so long.
    pub(super) async fn quiet(&self, duration: Duration) {
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
pub(super) fn table<'asked>(all: impl IntoIterator<Item = &'asked Asked>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for Asked { verb, resource, .. } in all {
        *counts.entry(format!("{verb} {resource}")).or_default() += 1;
    }
    counts
}

fn classify(method: &Method, uri: &http::Uri, content_type: &str) -> (&'static str, String) {
    let parts: Vec<_> = uri.path().split('/').filter(|part| !part.is_empty()).collect();
    // `api/v1` or `apis/group/version`, then `namespaces/name` where there is one.
    let rest = parts.get(if parts.first() == Some(&"api") { 2 } else { 3 }..).unwrap_or_default();
    let rest = if rest.len() > 2 && rest[0] == "namespaces" { &rest[2..] } else { rest };
    let watches = uri.query().is_some_and(|query| query.contains("watch=true"));
    let verb = match *method {
        Method::GET if watches => "watch",
        Method::GET if rest.len() > 1 => "get",
        Method::GET => "list",
        Method::POST => "create",
        Method::PATCH if content_type == "application/apply-patch+yaml" => "apply",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ => "replace",
    };
    let resource = rest.iter().enumerate().filter(|(index, _)| *index != 1).map(|(_, part)| *part);
    (verb, resource.collect::<Vec<_>>().join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const APPLY: &str = "application/apply-patch+yaml";

    fn told(method: &Method, uri: &str, content_type: &str) -> String {
        let (verb, resource) = classify(method, &uri.parse().unwrap(), content_type);
        format!("{verb} {resource}")
    }

    #[test]
    fn requests_are_told_apart_by_verb_and_resource() {
        let secrets = "/api/v1/namespaces/default/secrets";
        assert_eq!(told(&Method::GET, secrets, ""), "list secrets");
        assert_eq!(told(&Method::GET, &format!("{secrets}?watch=true"), ""), "watch secrets");
        assert_eq!(told(&Method::GET, &format!("{secrets}/one"), ""), "get secrets");
        assert_eq!(told(&Method::PATCH, &format!("{secrets}/one?force=true"), APPLY), "apply secrets");
        assert_eq!(told(&Method::PATCH, &format!("{secrets}/one"), ""), "patch secrets");
        assert_eq!(told(&Method::GET, "/api/v1/namespaces/default", ""), "get namespaces");
        let workspaces = "/apis/tf.upbound.io/v1beta1/workspaces/one";
        assert_eq!(told(&Method::PATCH, &format!("{workspaces}/status"), APPLY), "apply workspaces/status");
        assert_eq!(told(&Method::DELETE, workspaces, ""), "delete workspaces");
    }
}
