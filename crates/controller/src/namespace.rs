//! The namespaces that the manager itself needs: for its Lease, and for what belongs to no other.
//!
//! A manager makes them where it may. Where it may not, it says in one sentence what to run, and goes on by itself.

use std::time::Duration;

use capt_api::names::FIELD_MANAGER;
use capt_core::cause::{answered, sentence};
use capt_core::name::is_namespace_name;
use futures::StreamExt;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::PostParams;
use kube::core::Status;
use kube::runtime::watcher::watch_object;
use kube::{Api, Client};
use tokio::sync::watch;
use tokio::time::timeout;
use tracing::{info, warn};

use crate::diagnostics::Readiness;
use crate::options::Options;
use crate::repetition::Repetition;

/// How long is waited between two looks, where nothing tells of a change.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// What an API server answers to whoever makes something in a namespace that is being deleted.
const TERMINATING: &str = "NamespaceTerminating";

/// Whether a namespace can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Presence {
    /// It is there, or nothing says that it is not.
    There,
    /// It was made.
    Created,
    /// It cannot be used; the sentence says why, and what to run.
    Missing(String),
}

/// Makes a namespace where it is missing and where we may.
async fn create_where_missing(client: &Client, name: &str) -> Result<Presence, kube::Error> {
    if !is_namespace_name(name) {
        return Ok(Presence::Missing(format!("`{name}` is no name of a namespace: give another one")));
    }
    let namespaces: Api<Namespace> = Api::all(client.clone());
    match namespaces.get_opt(name).await {
        Ok(Some(found)) if found.metadata.deletion_timestamp.is_some() => Ok(ending(name)),
        Ok(Some(_)) => Ok(Presence::There),
        Ok(None) => create(client, &namespaces, name, true).await,
        // Whoever may not look may still make it, or use it.
        Err(kube::Error::Api(status)) if status.is_forbidden() => {
            create(client, &namespaces, name, false).await
        }
        Err(error) => Err(error),
    }
}

async fn create(
    client: &Client,
    namespaces: &Api<Namespace>,
    name: &str,
    known: bool,
) -> Result<Presence, kube::Error> {
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some(name.to_owned());
    let parameters = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
    match namespaces.create(&parameters, &namespace).await {
        Ok(_) => Ok(Presence::Created),
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(Presence::There),
        Err(kube::Error::Api(status)) if known && status.code < 500 => Ok(missing(name, &status)),
        Err(kube::Error::Api(status)) if status.is_forbidden() => try_out(client, name, &status).await,
        Err(error) => Err(error),
    }
}

/// Whether something could be made in a namespace that we may neither read nor make: nothing is.
async fn try_out(client: &Client, name: &str, refusal: &Status) -> Result<Presence, kube::Error> {
    let leases: Api<Lease> = Api::namespaced(client.clone(), name);
    let mut lease = Lease::default();
    lease.metadata.generate_name = Some("capt-".to_owned());
    let parameters = PostParams { dry_run: true, ..PostParams::default() };
    match leases.create(&parameters, &lease).await {
        Err(kube::Error::Api(status)) if is_of_a_missing_namespace(&status) => Ok(missing(name, refusal)),
        Err(kube::Error::Api(status)) if is_of_an_ending_namespace(&status) => Ok(ending(name)),
        // What else is wrong is said where the Lease is taken.
        Ok(_) | Err(_) => Ok(Presence::There),
    }
}

fn missing(name: &str, refusal: &Status) -> Presence {
    Presence::Missing(format!(
        "namespace `{name}` does not exist, and this account cannot create it ({}); run `kubectl create namespace {name}`",
        answered(refusal)
    ))
}

fn ending(name: &str) -> Presence {
    Presence::Missing(format!(
        "namespace `{name}` is being deleted; CAPT waits until it is gone, then creates it again; if it stays, see `kubectl describe namespace {name}`"
    ))
}

/// Whether a refused write says that its namespace cannot be used.
pub(crate) fn is_lacking(error: &kube::Error) -> bool {
    let kube::Error::Api(status) = error else { return false };
    is_of_a_missing_namespace(status) || is_of_an_ending_namespace(status)
}

fn is_of_a_missing_namespace(status: &Status) -> bool {
    status.code == 404 && status.details.as_ref().is_some_and(|details| details.kind == "namespaces")
}

fn is_of_an_ending_namespace(status: &Status) -> bool {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    status.code == 403 && causes.into_iter().any(|cause| cause.reason == TERMINATING)
}

/// The namespaces that a manager needs.
pub(crate) struct Namespaces {
    client: Client,
    names: Vec<String>,
}

impl Namespaces {
    pub(crate) fn new(client: &Client, options: &Options) -> Self {
        let lease = options.leader_election.as_ref().map(|election| election.namespace.clone());
        let home = options.terraform.as_ref().map(|terraform| terraform.home_namespace.clone());
        let mut names: Vec<String> = lease.into_iter().chain(home).collect();
        names.dedup();
        Self { client: client.clone(), names }
    }

    /// Returns when all of them are there. What is waited for is told in the log and by the readiness probe.
    pub(crate) async fn exist(&self, readiness: &watch::Sender<Readiness>) {
        for name in &self.names {
            self.exists(name, readiness).await;
        }
    }

    async fn exists(&self, name: &str, readiness: &watch::Sender<Readiness>) {
        let mut repetition = Repetition::default();
        let mut pause = FIRST_PAUSE;
        loop {
            let why = match create_where_missing(&self.client, name).await {
                Ok(Presence::There) => return,
                Ok(Presence::Created) => return info!(namespace = name, "created the namespace"),
                Ok(Presence::Missing(why)) => why,
                Err(error) => format!("namespace `{name}` cannot be read: {}", sentence(&error)),
            };
            if repetition.is_due(&why) {
                warn!("{why}");
            }
            readiness.send_replace(Readiness::Waiting(why));
            self.await_change(name, pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Waits until the namespace changes, or for this long.
    async fn await_change(&self, name: &str, pause: Duration) {
        if !is_namespace_name(name) {
            return tokio::time::sleep(pause).await;
        }
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let changed = async {
            let mut seen = std::pin::pin!(watch_object(namespaces, name).skip(1));
            // A watch that fails would be begun again at once, and again.
            if !matches!(seen.next().await, Some(Ok(_))) {
                std::future::pending::<()>().await;
            }
        };
        let _ = timeout(pause, changed).await;
    }
}
