//! Clients of managers that are listened to, and that can be cut off.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use capt_testkit::verb_and_resource;
use http::Request;
use kube::Client;
use kube::client::Body;
use tokio_util::sync::CancellationToken;

/// What was asked for since it was taken last, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noted(Arc<Mutex<Vec<Asked>>>);

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) verb: &'static str,
    /// With its subresource.
    pub(crate) resource: String,
}

/// What becomes of a client after so many requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Life {
    pub(crate) requests: usize,
    /// Whether no further request reaches the API server then, as if the process had been killed.
    pub(crate) cut_off: bool,
}

impl Noted {
    /// The same client, which is listened to from here on.
    pub(crate) fn listen(&self, client: Client) -> Client {
        self.listen_for(client, Life { requests: usize::MAX, cut_off: false }).0
    }

    /// As [`Self::listen`], with a token that is cancelled when the client's life is over.
    pub(crate) fn listen_for(&self, client: Client, life: Life) -> (Client, CancellationToken) {
        let (noted, over) = (self.clone(), CancellationToken::new());
        let ends = over.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let is_over = noted.note(&request) > life.requests;
            if is_over {
                ends.cancel();
            }
            let client = client.clone();
            async move {
                if is_over && life.cut_off {
                    std::future::pending::<()>().await;
                }
                client.send(request).await
            }
        });
        (Client::new(service, "default"), over)
    }

    /// Answers with how many there are now.
    fn note(&self, request: &Request<Body>) -> usize {
        let mut all = self.0.lock().unwrap();
        all.push(asked(request));
        all.len()
    }

    /// What was asked for so far, but for watches and the lists that these begin with: an API server may end a watch at any
    /// time.
    pub(crate) fn all(&self) -> Vec<Asked> {
        let mut rest = self.0.lock().unwrap().clone();
        while let Some(at) = rest.iter().position(|asked| asked.verb == "watch") {
            let watch = rest.remove(at);
            let begins = |asked: &Asked| asked.verb == "list" && asked.resource == watch.resource;
            if let Some(list) = rest[..at].iter().rposition(begins) {
                rest.remove(list);
            }
        }
        rest
    }

    /// From here on it is noted anew.
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap().clear();
    }
}

/// How often each was asked for.
pub(crate) fn counts(asked: &[Asked]) -> BTreeMap<(String, &'static str), usize> {
    let mut counts = BTreeMap::new();
    for Asked { verb, resource } in asked {
        *counts.entry((resource.clone(), *verb)).or_default() += 1;
    }
    counts
}

fn asked(request: &Request<Body>) -> Asked {
    let (verb, resource) = verb_and_resource(request.method(), request.uri(), request.headers());
    Asked { verb, resource }
}
