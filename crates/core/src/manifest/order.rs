//! The order in which objects are brought to a cluster.

use super::Manifest;

/// What others need, first: the order of Cluster API.
const FIRST: [&str; 12] = [
    "Namespace",
    "CustomResourceDefinition",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Secret",
    "ConfigMap",
    "ServiceAccount",
    "LimitRange",
    "Pod",
    "ReplicaSet",
    "Endpoints",
];

/// What stands between the API server and others, last: it would refuse them while what it leads to does not run.
const LAST: [&str; 3] = ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "APIService"];

/// Puts the objects into the order in which they are brought to a cluster. Those of equal rank stay as they are.
pub fn order(mut manifests: Vec<Manifest>) -> Vec<Manifest> {
    manifests.sort_by_key(|manifest| rank(manifest.object["kind"].as_str().unwrap_or_default()));
    manifests
}

fn rank(kind: &str) -> usize {
    let first = FIRST.iter().position(|other| *other == kind);
    first.unwrap_or(FIRST.len() + usize::from(LAST.contains(&kind)))
}
