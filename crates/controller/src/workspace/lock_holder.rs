//! Whether the holder of a lock on a state is dead: looked up where that can be proved, and never guessed.

use capt_core::workspace::lock::{Holder, Lock};
use capt_core::workspace::observed::BegunRecord;
use capt_core::workspace::runner::{
    Question, Starter, is_dead, is_out_of_service, node_of, question, suspects,
};
use capt_terraform::{Identity, machine};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{Api, Client};

use super::Terraform;
use super::place::Place;
use super::state;
use crate::error::Error;

/// Finds out about the holder of the lock that was in the way of a run.
///
/// Who holds it is taken from the lock itself, where that can be read: what Terraform printed of it has passed the redactor,
/// and a module can print anything.
pub(super) async fn judge(
    lock: &mut Lock,
    begun: &BegunRecord,
    client: &Client,
    place: &Place,
    is_state_here: bool,
    terraform: &Terraform,
) -> Result<(), Error> {
    if is_state_here
        && let Some(found) = state::lock_holder(client, place).await?
        && found.id == lock.id
        && let Some(who) = found.who
    {
        lock.who = who;
    }
    if is_holder_dead(lock, begun, client, place, terraform).await? {
        lock.holder = Holder::Dead;
    }
    Ok(())
}

/// Whether everybody who may hold a lock is known to be dead.
pub(super) async fn is_holder_dead(
    lock: &Lock,
    begun: &BegunRecord,
    client: &Client,
    place: &Place,
    terraform: &Terraform,
) -> Result<bool, Error> {
    let suspects = suspects(lock, begun);
    for starter in &suspects {
        if !is_starter_dead(starter, client, place, terraform).await? {
            return Ok(false);
        }
    }
    Ok(!suspects.is_empty())
}

/// Whether one who began an apply is known to be dead.
pub(super) async fn is_starter_dead(
    starter: &Starter,
    client: &Client,
    place: &Place,
    terraform: &Terraform,
) -> Result<bool, Error> {
    let options = &terraform.options;
    let asked = question(starter, &options.runner, (&options.home_namespace, &options.host));
    let pods: Api<Pod> = Api::namespaced(client.clone(), &options.home_namespace);
    let doing = |pod: &str| format!("looking for pod `{pod}`, which holds a lock");
    Ok(match asked {
        Question::None => false,
        Question::Dead => true,
        Question::PodName(pod) => pods.get_metadata_opt(pod).await.map_err(Error::api(doing(pod)))?.is_none(),
        Question::Pod(pod) => {
            let found = pods.get_opt(&pod.name).await.map_err(Error::api(doing(&pod.name)))?;
            let began = starter.runner.as_ref().and_then(|runner| Some(runner.process.as_ref()?.started_at));
            is_dead(pod, began, found.as_ref())
                || is_node_dead(found.as_ref().and_then(node_of), client).await?
        }
        Question::Process(manager) => {
            let us = std::process::id();
            let lives = manager.process != us && machine::is_there(manager.process, manager.process_start);
            let uid = place.workspace_uid.clone();
            !lives && !blocking(move || may_hold_lock(uid)).await
        }
        Question::PidNamespace(namespace) => {
            let namespace = namespace.to_owned();
            !blocking(move || machine::is_pid_namespace_in_use(&namespace)).await
        }
    })
}

async fn is_node_dead(node: Option<&str>, client: &Client) -> Result<bool, Error> {
    let Some(node) = node else { return Ok(false) };
    let nodes: Api<Node> = Api::all(client.clone());
    let doing = format!("looking for node `{node}`, whose pod holds a lock");
    match nodes.get_opt(node).await.map_err(Error::api(doing)) {
        Ok(found) => Ok(found.is_none_or(|node| is_out_of_service(&node))),
        // A manager of one namespace may not be allowed to look.
        Err(error) if error.is_forbidden() => Ok(false),
        Err(error) => Err(error),
    }
}

/// What is no identity has no run.
fn may_hold_lock(uid: String) -> bool {
    Identity::try_from(uid).is_ok_and(|identity| machine::may_hold_lock(&identity))
}

/// A look through the processes of a machine takes a while. One that breaks off proves nothing.
async fn blocking(look: impl FnOnce() -> bool + Send + 'static) -> bool {
    tokio::task::spawn_blocking(look).await.unwrap_or(true)
}
