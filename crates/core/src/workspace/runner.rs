//! Who runs Terraform, named so that his end can be proved: by the kubelet's own word of a container, by a Pod or Node that is
//! gone, or by a process that is not there. A Lease that ran out proves nothing.

use k8s_openapi::api::core::v1::{ContainerState, Node, Pod};
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::lock::{Holder, Lock, machine};
use super::observed::BegunRecord;
use crate::name::is_object_name;

/// The kubelet tells times of a container in whole seconds, and notes a start a moment after it.
const TOLERANCE: SignedDuration = SignedDuration::from_secs(2);

/// The container of a manager in a Pod that has more than one.
const CONTAINER: &str = "manager";

/// The taint by which a person says that a Node is shut down.
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

/// So many that began an apply are remembered. With more, nobody knows any more who holds the lock.
const MOST_STARTERS: usize = 16;

/// Whoever began an apply, as it is on record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Starter {
    /// The machine that runs it: the pod's name in a cluster.
    pub host: String,
    /// The namespace that this pod is in, where it is known to be one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_namespace: Option<String>,
    /// The manager that runs it; missing on records of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<Runner>,
}

/// A manager that runs Terraform.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Runner {
    /// The Pod that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<PodOfRunner>,
    /// The process that it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessOfRunner>,
}

/// The Pod of a manager.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodOfRunner {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
}

/// The process of a manager.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessOfRunner {
    /// Names the machine, where it has a name that stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Names the time since the machine started last.
    pub boot: String,
    /// The processes that can see each other.
    pub pid_namespace: String,
    /// The process, within those.
    pub process: u32,
    /// When it began, in the kernel's own count.
    pub process_start: u64,
    /// When it began, by the machine's clock. A container begins no later.
    pub started_at: Timestamp,
    /// Whether it sees every process of its machine.
    pub sees_all: bool,
}

/// What would tell whether the holder of a lock is dead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question<'begun> {
    /// Nothing that can be asked from here.
    None,
    /// Nothing: it is known to be dead.
    Dead,
    /// What the API server says of this Pod.
    Pod(&'begun PodOfRunner),
    /// Whether a Pod of this name is there, in our namespace. An earlier version noted no more.
    PodName(&'begun str),
    /// Whether a process of the run, or the manager that began it, is there on this machine.
    Process(&'begun ProcessOfRunner),
    /// Whether any process is in this pid namespace of this machine.
    PidNamespace(&'begun str),
}

/// Everybody of whom a lock may be: whoever began an apply whose end is not on record, on the machine that the lock names.
pub fn suspects<'begun>(lock: &Lock, begun: &'begun BegunRecord) -> Vec<&'begun Starter> {
    let machine = machine(&lock.who).filter(|_| lock.holder == Holder::Unknown);
    let all = std::iter::once(&begun.by).chain(&begun.earlier);
    all.filter(|starter| machine == Some(&starter.host)).collect()
}

/// Whoever may still hold a lock when `now` begins an apply after `before`.
pub fn earlier(before: Option<&BegunRecord>, now: &Starter) -> Vec<Starter> {
    let Some(before) = before else { return Vec::new() };
    let all = before.earlier.iter().chain(std::iter::once(&before.by));
    let mut all: Vec<Starter> = all.filter(|starter| *starter != now).cloned().collect();
    all.dedup();
    if all.len() > MOST_STARTERS {
        // Of a stranger nothing can be proved.
        all.truncate(MOST_STARTERS);
        all.push(Starter { runner: None, pod_namespace: None, host: now.host.clone() });
        all.dedup();
    }
    all
}

/// What would tell whether one who began an apply is dead. `host` is what this machine calls itself, and `namespace` that of the
/// Pods that can be asked for.
pub fn question<'begun>(
    starter: &'begun Starter,
    us: &Runner,
    (namespace, host): (&str, &str),
) -> Question<'begun> {
    let Some(runner) = &starter.runner else {
        let beside_us = starter.pod_namespace.as_deref() == Some(namespace) && starter.host != host;
        let is_pod = beside_us && is_object_name(&starter.host);
        return if is_pod { Question::PodName(&starter.host) } else { Question::None };
    };
    match (&runner.pod, &us.pod) {
        (Some(pod), Some(ours)) if pod.uid == ours.uid => match (&runner.process, &us.process) {
            (Some(then), Some(now)) if is_same_container(then, now) => Question::Process(then),
            // A container takes all of its processes along, and a Pod has one of them at a time.
            (Some(_), Some(_)) => Question::Dead,
            _ => Question::None,
        },
        // A Pod of another namespace is another installation's, which cannot be asked for.
        (Some(pod), _) if pod.namespace == namespace && is_object_name(&pod.name) => Question::Pod(pod),
        (None, None) if starter.host == host => match (&runner.process, &us.process) {
            (Some(then), Some(now)) => process(then, now),
            _ => Question::None,
        },
        (Some(_) | None, _) => Question::None,
    }
}

/// Whether both can see each other. So can those of a container that was started again, where a Pod shares its processes.
fn is_same_container(then: &ProcessOfRunner, now: &ProcessOfRunner) -> bool {
    then.boot == now.boot && then.pid_namespace == now.pid_namespace
}

/// What tells of a process on what may be this machine. Two machines can have one name.
fn process<'begun>(then: &'begun ProcessOfRunner, now: &ProcessOfRunner) -> Question<'begun> {
    let is_same_machine = then.machine.is_some() && then.machine == now.machine;
    match () {
        () if then.boot != now.boot && is_same_machine => Question::Dead,
        () if then.boot != now.boot => Question::None,
        () if then.pid_namespace == now.pid_namespace => Question::Process(then),
        () if now.sees_all => Question::PidNamespace(&then.pid_namespace),
        () => Question::None,
    }
}

/// Whether a Pod says that its manager, which began at that time, is dead.
pub fn is_dead(runner: &PodOfRunner, started_at: Option<Timestamp>, pod: Option<&Pod>) -> bool {
    let Some(pod) = pod else { return true };
    if pod.metadata.uid.as_ref() != Some(&runner.uid) {
        return true;
    }
    let statuses =
        pod.status.as_ref().and_then(|status| status.container_statuses.as_deref()).unwrap_or_default();
    let container = match statuses {
        [only] => Some(only),
        several => several.iter().find(|container| container.name == CONTAINER),
    };
    let (Some(container), Some(started_at)) = (container, started_at) else { return false };
    let (state, last) = (container.state.as_ref(), container.last_state.as_ref());
    match state.and_then(|state| state.running.as_ref()) {
        Some(running) => {
            let latest = started_at.saturating_add(TOLERANCE).unwrap_or(Timestamp::MAX);
            running.started_at.as_ref().is_some_and(|since| since.0 > latest)
        }
        // One that ended after the manager began is its own, or a later one.
        None => [state, last].into_iter().flatten().filter_map(ended_at).any(|at| at >= started_at),
    }
}

fn ended_at(state: &ContainerState) -> Option<Timestamp> {
    Some(state.terminated.as_ref()?.finished_at.as_ref()?.0)
}

/// The Node that a Pod is on: where that is gone, so are its processes.
pub fn node_of(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.node_name.as_deref().filter(|name| is_object_name(name))
}

/// Whether a person has said that a Node is shut down: Kubernetes then detaches its volumes, and nothing runs there any more. A
/// Node that merely does not answer proves nothing.
pub fn is_out_of_service(node: &Node) -> bool {
    let taints = node.spec.as_ref().and_then(|spec| spec.taints.as_deref()).unwrap_or_default();
    taints.iter().any(|taint| taint.key == OUT_OF_SERVICE)
}

#[cfg(test)]
mod tests;
