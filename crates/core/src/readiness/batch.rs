//! What runs to an end, or by itself: Jobs and Pods.

use super::Health;
use super::object::Object;

/// A Job is ready when it is complete: those that wait for it wait for what it does.
pub(super) fn job(object: Object<'_>) -> Health {
    if object.holds("Complete") {
        return Health::current();
    }
    if let Some(failed) = object.condition("Failed").filter(|condition| condition.status() == "True") {
        return Health::failed(&failed.told("it has failed"));
    }
    if object.is_true("/spec/suspend") || object.holds("Suspended") {
        return Health::in_progress("it is suspended: set suspend to false in its spec to let it run");
    }
    if object.text("/status/startTime").is_none() {
        return Health::in_progress("it has not started yet");
    }
    let wanted =
        object.number("/spec/completions").or_else(|| object.number("/spec/parallelism")).unwrap_or(1);
    let succeeded = object.count("/status/succeeded");
    Health::in_progress(&format!("it is running: {succeeded} of {wanted} completions have succeeded"))
}

pub(super) fn pod(object: Object<'_>) -> Health {
    match object.text("/status/phase") {
        Some("Succeeded") => Health::current(),
        Some("Failed") => {
            let message = object.text("/status/message").or_else(|| object.text("/status/reason"));
            let message = message.map(|message| format!(": {message}")).unwrap_or_default();
            Health::failed(&format!("it has ended with a failure{message}"))
        }
        Some("Running") if object.holds("Ready") => Health::current(),
        Some("Running") => not_ready(object),
        Some("Pending") => pending(object),
        Some(phase) => Health::in_progress(&format!("its phase is {phase}")),
        None => Health::in_progress("it has not been seen by a scheduler yet"),
    }
}

fn pending(object: Object<'_>) -> Health {
    match object.condition("PodScheduled").filter(|condition| condition.status() == "False") {
        Some(unscheduled) => Health::in_progress(&unscheduled.told("no node has taken it yet")),
        None => not_ready(object),
    }
}

fn not_ready(object: Object<'_>) -> Health {
    let containers =
        || object.items("/status/initContainerStatuses").chain(object.items("/status/containerStatuses"));
    let waiting = containers().find_map(|container| {
        let reason = container.text("/state/waiting/reason")?;
        Some((container.text("/name").unwrap_or_default(), reason))
    });
    let crashing =
        containers().find(|container| container.text("/state/waiting/reason") == Some("CrashLoopBackOff"));
    match (crashing, waiting) {
        (Some(container), _) => {
            let name = container.text("/name").unwrap_or_default();
            Health::failed(&format!("its container {name} ends again and again"))
        }
        (None, Some((name, reason))) => {
            Health::in_progress(&format!("its container {name} has not started: {reason}"))
        }
        (None, None) => Health::in_progress("its containers are not ready yet"),
    }
}
