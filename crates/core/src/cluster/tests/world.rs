//! Clusters and their parts, as tests need them.

use capt_api::Cluster;
use capt_api::capi::ClusterStatus;
use capt_api::endpoint::Endpoint;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta, Time};
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use crate::cluster::decide::{Step, decide};
use crate::cluster::observed::{Observed, Part, Referent, Role, Wanted, wanted};
use crate::cluster::status::{Report, status};
use crate::standing::standing;

pub(super) fn at(second: i64) -> Time {
    Time(Timestamp::from_second(second).unwrap())
}

/// A Cluster that refers to `demo` of both kinds, changed by a merge into it.
pub(super) fn cluster(change: Value) -> Cluster {
    let mut object = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
        "metadata": { "name": "demo", "namespace": "a", "uid": "1", "generation": 2,
            "finalizers": ["cluster.cluster.x-k8s.io"] },
        "spec": {
            "infrastructureRef": { "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "CAPTCluster", "name": "demo" },
            "controlPlaneRef": { "apiGroup": "controlplane.cluster.x-k8s.io", "kind": "CAPTControlPlane", "name": "demo" },
        },
    });
    merge(&mut object, change);
    serde_json::from_value(object).unwrap()
}

fn merge(object: &mut Value, change: Value) {
    match (object, change) {
        (Value::Object(object), Value::Object(change)) => {
            for (key, value) in change {
                merge(object.entry(key).or_insert(Value::Null), value);
            }
        }
        (object, change) => *object = change,
    }
}

pub(super) fn deleting() -> Value {
    json!({ "metadata": { "deletionTimestamp": "2026-01-01T00:00:00Z" } })
}

/// Metadata of a part, with the Clusters that own it as pairs of name and uid.
pub(super) fn metadata(owners: &[(&str, &str)], going: bool) -> ObjectMeta {
    let owner = |(name, uid): &(&str, &str)| json!({ "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": name, "uid": uid });
    let owners: Vec<_> = owners.iter().map(owner).collect();
    let mut metadata = json!({
        "name": "demo", "namespace": "a", "uid": "7", "resourceVersion": "70", "ownerReferences": owners,
        "labels": { "cluster.x-k8s.io/cluster-name": "demo" },
    });
    if going {
        metadata["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    }
    serde_json::from_value(metadata).unwrap()
}

/// A part that is the Cluster's own.
pub(super) fn part() -> Part {
    Part { metadata: metadata(&[("demo", "1")], false), ..Part::default() }
}

pub(super) fn going() -> Part {
    Part { metadata: metadata(&[("demo", "1")], true), ..part() }
}

/// A part that was there once, with this endpoint.
pub(super) fn once(host: &str, port: i32) -> Part {
    Part { once: true, endpoint: Some(Endpoint { host: host.to_owned(), port }), ..part() }
}

pub(super) fn says(mut part: Part, type_: &str, truth: &str, reason: &str, message: &str) -> Part {
    part.conditions.push(Condition {
        type_: type_.to_owned(),
        status: truth.to_owned(),
        reason: reason.to_owned(),
        message: message.to_owned(),
        observed_generation: Some(1),
        last_transition_time: at(5),
    });
    part
}

pub(super) fn missing() -> Referent {
    Referent::Missing { name: "demo".to_owned() }
}

/// What is seen of a Cluster with these parts.
pub(super) fn seen(cluster: &Cluster, network: Referent, control_plane: Referent) -> Observed {
    let referent = |role, given: Referent| match wanted(cluster, role) {
        Wanted::Nothing => Referent::NotNamed,
        Wanted::Unsupported(why) => Referent::Unsupported(why),
        Wanted::Object(_) => given,
    };
    Observed {
        standing: standing(&cluster.metadata, Some(cluster)),
        network: referent(Role::Network, network),
        control_plane: referent(Role::ControlPlane, control_plane),
    }
}

pub(super) fn step(cluster: &Cluster, network: Referent, control_plane: Referent) -> Step {
    decide(cluster, &seen(cluster, network, control_plane))
}

/// The status of a Cluster with these parts, at the tenth second.
pub(super) fn told(cluster: &Cluster, network: Referent, control_plane: Referent) -> Option<ClusterStatus> {
    let seen = seen(cluster, network, control_plane);
    let step = decide(cluster, &seen);
    status(Report { cluster, seen: &seen, step: &step, done: true, now: &at(10) })
}

/// `status reason` and the message of a condition.
pub(super) fn condition(status: &ClusterStatus, type_: &str) -> (String, String) {
    let condition = status.conditions.iter().find(|condition| condition.type_ == type_).unwrap();
    (format!("{} {}", condition.status, condition.reason), condition.message.clone())
}
