//! Whether objects in a cluster are ready.
//!
//! The rules are those of kstatus, which Flux and others go by. Where kstatus would call something ready that does no work yet,
//! we wait: for a Job until it is complete, for a load balancer until it has an address, for the replicas of a `StatefulSet`
//! that is updated by hand, for the first word of Flux. A Pod that ended badly has failed. A Pod that no node takes has not:
//! nodes may be on their way.

mod apis;
mod batch;
mod core_group;
pub mod expression;
mod flux;
mod generic;
mod object;
mod workload;

#[cfg(test)]
mod tests;

use capt_api::addon_stack::ReadinessCheck;
use serde_json::Value;

use self::expression::Expression;
use self::object::Object;
use crate::condition::cut;

/// How much of a message is told: much of it is other people's text.
const LONGEST_MESSAGE: usize = 300;

/// How many objects a summary names.
const NAMED: usize = 3;

/// Where an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It is as it was asked for, and works.
    Current,
    /// It is on its way.
    InProgress,
    /// It is being deleted.
    Terminating,
    /// It does not get there unless something changes.
    Failed,
}

/// Where an object is, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// Where it is.
    pub state: State,
    /// What is waited for, or what went wrong.
    pub message: String,
}

impl Health {
    fn new(state: State, message: &str) -> Self {
        Self { state, message: cut(message, LONGEST_MESSAGE) }
    }

    fn current() -> Self {
        Self::new(State::Current, "it is ready")
    }

    fn in_progress(message: &str) -> Self {
        Self::new(State::InProgress, message)
    }

    fn failed(message: &str) -> Self {
        Self::new(State::Failed, message)
    }

    fn terminating() -> Self {
        Self::new(State::Terminating, "it is being deleted")
    }
}

/// Whether an object is ready, by the rules for its kind. What is of the wrong type in it counts as absent.
pub fn health(object: &Value) -> Health {
    let object = Object::new(object);
    if object.is_marked_for_deletion() {
        return Health::terminating();
    }
    if flux::has_no_status(object) {
        return Health::current();
    }
    generic::not_observed(object)
        .or_else(|| generic::standard_conditions(object))
        .or_else(|| by_kind(object))
        .unwrap_or_else(|| generic::ready_or_available(object))
}

fn by_kind(object: Object<'_>) -> Option<Health> {
    let health = match object.group_and_kind() {
        ("apps", "Deployment") => workload::deployment(object),
        ("apps", "ReplicaSet") => workload::replica_set(object),
        ("apps", "StatefulSet") => workload::stateful_set(object),
        ("apps", "DaemonSet") => workload::daemon_set(object),
        ("batch", "Job") => batch::job(object),
        ("", "Pod") => batch::pod(object),
        ("", "PersistentVolumeClaim") => core_group::persistent_volume_claim(object),
        ("", "Service") => core_group::service(object),
        ("", "Namespace") => core_group::namespace(object),
        ("policy", "PodDisruptionBudget") => Health::current(),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => apis::custom_resource_definition(object),
        ("apiregistration.k8s.io", "APIService") => apis::api_service(object),
        (group, kind) if flux::reports_ready(group, kind) => flux::ready(object),
        _ => return None,
    };
    Some(health)
}

/// Whether what a check names is ready: by its expression if it has one, else by the rules for its kind.
pub fn check(check: &ReadinessCheck, object: Option<&Value>) -> Health {
    let Some(object) = object else {
        return Health::in_progress("it does not exist yet");
    };
    let Some(expression) = &check.expression else {
        return health(object);
    };
    if Object::new(object).is_marked_for_deletion() {
        return Health::terminating();
    }
    match Expression::parse(expression).and_then(|expression| expression.evaluate(object)) {
        Ok(true) => Health::current(),
        Ok(false) => Health::in_progress("its expression is not true yet"),
        Err(problem) => Health::failed(&problem.to_string()),
    }
}

/// Where several objects are together: the worst of them, with the names of those that are to blame.
pub fn summary(results: &[(String, Health)]) -> Health {
    let worst = results.iter().map(|(_, health)| health.state).max().unwrap_or(State::Current);
    let to_blame = |state: State| match worst {
        State::Failed => state == State::Failed,
        State::Current | State::InProgress | State::Terminating => state != State::Current,
    };
    let blamed: Vec<_> = results.iter().filter(|(_, health)| to_blame(health.state)).collect();
    if blamed.is_empty() {
        return Health { state: worst, message: "all is ready".to_owned() };
    }
    let named = blamed.iter().take(NAMED).map(|(label, health)| format!("{label}: {}", health.message));
    let more = blamed.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("and {more} more"));
    let message = named.chain(more).collect::<Vec<_>>().join("; ");
    Health { state: worst, message }
}
