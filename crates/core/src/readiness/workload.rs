//! What keeps a number of Pods running.

use super::Health;
use super::object::Object;

/// What the API server fills in for "no deadline".
const NO_DEADLINE: i64 = i32::MAX as i64;

/// Says how many of those that are wanted are where they should be, if they are not all there.
fn missing(have: i64, want: i64, are: &str) -> Option<Health> {
    (have < want).then(|| Health::in_progress(&format!("{have} of {want} replicas {are}")))
}

fn left_over(have: i64, want: i64) -> Option<Health> {
    let left = have.saturating_sub(want);
    (left > 0).then(|| Health::in_progress(&format!("{left} of {have} replicas must still end")))
}

fn wanted(object: Object<'_>) -> i64 {
    object.number("/spec/replicas").unwrap_or(1)
}

/// Why no further replicas can be made, if its controller says so.
fn refused(object: Object<'_>) -> Option<Health> {
    let failure = object.condition("ReplicaFailure").filter(|condition| condition.status() == "True")?;
    Some(Health::in_progress(&failure.told("a replica cannot be made")))
}

pub(super) fn deployment(object: Object<'_>) -> Health {
    let progressing = object.condition("Progressing");
    if let Some(stuck) = progressing.filter(|condition| condition.reason() == "ProgressDeadlineExceeded") {
        return Health::failed(&stuck.told("its rollout has come no further for too long"));
    }
    let want = wanted(object);
    let [replicas, updated, available, ready] =
        ["replicas", "updatedReplicas", "availableReplicas", "readyReplicas"]
            .map(|field| object.count(&format!("/status/{field}")));
    let counted = missing(replicas, want, "exist")
        .or_else(|| missing(updated, want, "are up to date"))
        .map(|missing| refused(object).unwrap_or(missing))
        .or_else(|| left_over(replicas, want))
        .or_else(|| missing(ready, want, "are ready"))
        .or_else(|| missing(available, want, "are available"));
    if let Some(health) = counted {
        return health;
    }
    if want == 0 {
        return Health::current();
    }
    let has_deadline =
        object.number("/spec/progressDeadlineSeconds").is_some_and(|deadline| deadline != NO_DEADLINE);
    let rolled_out = progressing.is_some_and(|condition| {
        condition.status() == "True" && condition.reason() == "NewReplicaSetAvailable"
    });
    if has_deadline && !rolled_out {
        Health::in_progress(if object.is_true("/spec/paused") {
            "its rollout is paused: set paused to false in its spec to let it go on"
        } else {
            "its rollout is not complete yet"
        })
    } else if !object.holds("Available") {
        Health::in_progress("it is not available yet")
    } else {
        Health::current()
    }
}

pub(super) fn replica_set(object: Object<'_>) -> Health {
    let want = wanted(object);
    refused(object)
        .or_else(|| missing(object.count("/status/fullyLabeledReplicas"), want, "have all labels"))
        .or_else(|| missing(object.count("/status/readyReplicas"), want, "are ready"))
        .or_else(|| missing(object.count("/status/availableReplicas"), want, "are available"))
        .or_else(|| left_over(object.count("/status/replicas"), want))
        .unwrap_or_else(Health::current)
}

pub(super) fn stateful_set(object: Object<'_>) -> Health {
    let want = wanted(object);
    let replicas = object.count("/status/replicas");
    missing(replicas, want, "exist")
        .or_else(|| missing(object.count("/status/readyReplicas"), want, "are ready"))
        .or_else(|| left_over(replicas, want))
        .or_else(|| not_updated(object, want))
        .unwrap_or_else(Health::current)
}

/// Replicas below the partition keep their revision, and with `OnDelete` people decide when one is replaced.
fn not_updated(object: Object<'_>, want: i64) -> Option<Health> {
    if is_updated_by_hand(object) {
        return None;
    }
    if let Some(partition) = object.number("/spec/updateStrategy/rollingUpdate/partition") {
        let want = want.saturating_sub(partition);
        return missing(object.count("/status/updatedReplicas"), want, "are up to date");
    }
    missing(object.count("/status/currentReplicas"), want, "are up to date").or_else(|| {
        let differ = object.text("/status/currentRevision") != object.text("/status/updateRevision");
        differ.then(|| Health::in_progress("not all replicas have its latest revision yet"))
    })
}

fn is_updated_by_hand(object: Object<'_>) -> bool {
    object.text("/spec/updateStrategy/type") == Some("OnDelete")
}

pub(super) fn daemon_set(object: Object<'_>) -> Health {
    let observed = object.generation().and(object.number("/status/observedGeneration"));
    let Some(want) = observed.and(object.number("/status/desiredNumberScheduled")) else {
        return Health::in_progress("its controller has not seen it yet");
    };
    let missing = |field: &str, are: &str| {
        let have = object.count(&format!("/status/{field}"));
        (have < want).then(|| Health::in_progress(&format!("on {have} of {want} nodes it {are}")))
    };
    let outdated = || {
        let by_hand = is_updated_by_hand(object);
        missing("updatedNumberScheduled", "is up to date").filter(|_| !by_hand)
    };
    missing("currentNumberScheduled", "has a replica")
        .or_else(outdated)
        .or_else(|| missing("numberReady", "is ready"))
        .or_else(|| missing("numberAvailable", "is available"))
        .unwrap_or_else(Health::current)
}
