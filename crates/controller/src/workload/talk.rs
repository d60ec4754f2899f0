//! One conversation with a cluster: every request has a deadline and is counted.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use capt_core::condition::cut;
use capt_core::manifest::ObjectKey;
use http::Request;
use http::header::DATE;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::jiff::Timestamp;
use k8s_openapi::jiff::fmt::rfc2822::DateTimeParser;
use kube::client::Body;
use kube::core::{DynamicObject, Status, request};
use kube::discovery::{ApiResource, Scope};
use kube::{Api, Client};
use serde::de::DeserializeOwned;

use super::failure::LONGEST;
use super::{Failure, Workload};

/// Where objects are that do not say where.
pub(crate) const DEFAULT_NAMESPACE: &str = "default";

/// How soon it is asked again whether a definition is established, at first and at most.
const ASK_AGAIN: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// One conversation with a cluster.
pub(crate) struct Talk<'cluster> {
    workload: &'cluster Workload,
    requests: AtomicU32,
}

/// What a cluster answered.
pub(crate) struct Answer {
    /// Whether the object was not there before.
    pub(crate) created: bool,
    /// When it answered, by its own clock.
    pub(crate) at: Option<Timestamp>,
    /// How long that took.
    pub(crate) took: Duration,
    body: Vec<u8>,
}

impl Answer {
    /// Reads the answer. What is in it is not repeated in the error.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        let read = serde_json::from_slice(&self.body);
        read.map_err(|error| Failure::Unreadable(kube::Error::SerdeError(error)))
    }
}

impl<'cluster> Talk<'cluster> {
    pub(super) fn new(workload: &'cluster Workload) -> Self {
        Self { workload, requests: AtomicU32::new(0) }
    }

    /// How many requests there were so far.
    pub(crate) fn requests(&self) -> u32 {
        self.requests.load(Ordering::Relaxed)
    }

    /// The cluster's client. What is asked with it goes through [`Self::ask`].
    pub(crate) fn client(&self) -> Client {
        self.workload.client.clone()
    }

    /// How objects of a kind are reached; `None` where the cluster does not serve it.
    pub(crate) async fn resolve(
        &self,
        api_version: &str,
        kind: &str,
    ) -> Result<Option<(ApiResource, Scope)>, Failure> {
        self.workload.kinds.resolve(self, api_version, kind).await
    }

    /// Objects of the kind of one, where that one is; `None` where the cluster does not serve the kind.
    pub(crate) async fn beside(&self, key: &ObjectKey) -> Result<Option<Api<DynamicObject>>, Failure> {
        let found = self.resolve(&key.api_version, &key.kind).await?;
        Ok(found.map(|(resource, scope)| self.objects(&resource, &scope, key.namespace.as_deref())))
    }

    /// Objects of a kind, where one of this namespace is.
    pub(crate) fn objects(
        &self,
        resource: &ApiResource,
        scope: &Scope,
        namespace: Option<&str>,
    ) -> Api<DynamicObject> {
        match scope {
            Scope::Cluster => Api::all_with(self.client(), resource),
            Scope::Namespaced => {
                Api::namespaced_with(self.client(), namespace.unwrap_or(DEFAULT_NAMESPACE), resource)
            }
        }
    }

    /// Forgets how objects of a group and version are reached.
    pub(crate) fn forget(&self, api_version: &str) {
        self.workload.kinds.forget(api_version);
    }

    /// Waits for one request of the client's.
    pub(crate) async fn ask<T>(&self, request: impl Future<Output = kube::Result<T>>) -> Result<T, Failure> {
        self.count(1);
        let patience = self.patience();
        match tokio::time::timeout(patience, request).await {
            Ok(answered) => answered.map_err(|error| self.failure(error)),
            Err(_) => Err(Failure::Silent(patience)),
        }
    }

    /// What an error of the client means.
    pub(crate) fn failure(&self, error: kube::Error) -> Failure {
        Failure::new(error, &self.workload.secret)
    }

    /// Sends a request and takes the answer as it is.
    pub(crate) async fn send(
        &self,
        request: Result<Request<Vec<u8>>, request::Error>,
    ) -> Result<Answer, Failure> {
        let started = Instant::now();
        self.ask(async {
            let request = request.map_err(kube::Error::BuildRequest)?.map(Body::from);
            let response = self.workload.client.send(request).await?;
            let code = response.status();
            let date = response.headers().get(DATE).and_then(|date| date.to_str().ok());
            let at = date.and_then(|date| DateTimeParser::new().parse_timestamp(date).ok());
            let body = response.into_body().collect_bytes().await?.to_vec();
            if !code.is_success() {
                return Err(kube::Error::Api(status(code.as_u16(), &body).boxed()));
            }
            Ok(Answer { created: code.as_u16() == 201, at, took: started.elapsed(), body })
        })
        .await
    }

    /// How long a whole answer is waited for.
    pub(crate) fn patience(&self) -> Duration {
        self.workload.patience.request
    }

    /// Waits until a definition is established, and learns what it serves; otherwise tells why it is not.
    ///
    /// It is asked for again and again: whoever may bring a definition need not be allowed to watch definitions.
    pub(crate) async fn await_established(
        &self,
        name: &str,
        within: Duration,
    ) -> Result<Result<(), String>, Failure> {
        match tokio::time::timeout(within, self.settle(name)).await {
            Ok(settled) => settled,
            Err(_) => Ok(Err("is not established yet".to_owned())),
        }
    }

    async fn settle(&self, name: &str) -> Result<Result<(), String>, Failure> {
        let definitions: Api<CustomResourceDefinition> = Api::all(self.client());
        let (mut pause, longest) = ASK_AGAIN;
        loop {
            let Some(found) = self.ask(definitions.get_opt(name)).await? else {
                return Ok(Err("is gone".to_owned()));
            };
            if is_established(&found) {
                self.workload.kinds.learn(&found);
                return Ok(Ok(()));
            }
            if let Some(refusal) = refusal(&found) {
                return Ok(Err(format!("is not accepted: {}", cut(&refusal, LONGEST))));
            }
            tokio::time::sleep(pause).await;
            pause = pause.saturating_mul(2).min(longest);
        }
    }

    fn count(&self, requests: u32) {
        self.requests.fetch_add(requests, Ordering::Relaxed);
    }
}

/// What an API server says with an error; others say it as plain text.
fn status(code: u16, body: &[u8]) -> Status {
    match serde_json::from_slice::<Status>(body) {
        Ok(status) => status.with_code(code),
        Err(_) => Status::failure(&cut(String::from_utf8_lossy(body).trim(), LONGEST), "").with_code(code),
    }
}

fn is_established(definition: &CustomResourceDefinition) -> bool {
    condition(definition, "Established").is_some_and(|(status, _)| status == "True")
}

/// Why the names of a definition are not accepted, where that is so.
fn refusal(definition: &CustomResourceDefinition) -> Option<String> {
    let (status, message) = condition(definition, "NamesAccepted")?;
    (status == "False").then(|| message.to_owned())
}

fn condition<'found>(
    definition: &'found CustomResourceDefinition,
    type_: &str,
) -> Option<(&'found str, &'found str)> {
    let mut conditions = definition.status.as_ref()?.conditions.iter().flatten();
    let found = conditions.find(|condition| condition.type_ == type_)?;
    Some((&found.status, found.message.as_deref().unwrap_or_default()))
}
