//! What holds for every kind.

use super::Health;
use super::object::{Condition, Object};

const NOT_OBSERVED: &str = "its controller has not seen its latest change yet";

/// The verdict on an object whose controller speaks of an earlier state of it.
pub(super) fn not_observed(object: Object<'_>) -> Option<Health> {
    let generation = object.generation()?;
    let observed = object.number("/status/observedGeneration")?;
    (observed != generation).then(|| Health::in_progress(NOT_OBSERVED))
}

/// The verdict of the conditions by which a controller says that it is at work or stuck.
pub(super) fn standard_conditions(object: Object<'_>) -> Option<Health> {
    let holding = |type_| object.condition(type_).filter(|condition| condition.status() == "True");
    if let Some(reconciling) = holding("Reconciling") {
        return Some(Health::in_progress(&reconciling.told("it is being brought about")));
    }
    let stalled = holding("Stalled")?;
    Some(if stalled.is_outdated(object.generation()) {
        Health::in_progress(NOT_OBSERVED)
    } else {
        Health::failed(&stalled.told("it is stuck"))
    })
}

/// The verdict on an object of a kind that nothing is known of: it is ready unless it says that it is not.
pub(super) fn ready_or_available(object: Object<'_>) -> Health {
    let mut said = ["Ready", "Available"].into_iter().filter_map(|type_| {
        let condition = object.condition(type_)?;
        said(object, type_, condition)
    });
    said.next().unwrap_or_else(Health::current)
}

/// What a condition that is `True` when all is well says, if it says anything. It being `False` is no failure: most controllers
/// try again.
pub(super) fn said(object: Object<'_>, type_: &str, condition: Condition<'_>) -> Option<Health> {
    let outdated = condition.is_outdated(object.generation());
    match condition.status() {
        "True" | "False" | "Unknown" if outdated => Some(Health::in_progress(NOT_OBSERVED)),
        "True" => Some(Health::current()),
        status @ ("False" | "Unknown") => {
            Some(Health::in_progress(&condition.told(&format!("{type_} is {status}"))))
        }
        _ => None,
    }
}

/// The verdict of a condition without which the object is not ready.
pub(super) fn required(object: Object<'_>, type_: &str, missing: &str) -> Health {
    let condition = object.condition(type_);
    condition
        .and_then(|condition| said(object, type_, condition))
        .unwrap_or_else(|| Health::in_progress(missing))
}
