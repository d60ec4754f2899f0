//! No object does harm.

use proptest::prelude::*;
use rstest::rstest;

use super::*;

const KINDS: [(&str, &str); 16] = [
    ("apps/v1", "Deployment"),
    ("apps/v1", "ReplicaSet"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("batch/v1", "Job"),
    ("v1", "Pod"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "Service"),
    ("v1", "Namespace"),
    ("policy/v1", "PodDisruptionBudget"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("apiregistration.k8s.io/v1", "APIService"),
    ("source.toolkit.fluxcd.io/v1", "HelmRepository"),
    ("source.toolkit.fluxcd.io/v1", "OCIRepository"),
    ("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
    ("example.com/v1", "Widget"),
];

/// Every field that a rule reads, and some texts that rules look for.
const FIELDS: [&str; 40] = [
    "metadata",
    "generation",
    "deletionTimestamp",
    "spec",
    "status",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "fullyLabeledReplicas",
    "currentReplicas",
    "currentRevision",
    "updateRevision",
    "observedGeneration",
    "conditions",
    "type",
    "reason",
    "message",
    "updateStrategy",
    "rollingUpdate",
    "partition",
    "progressDeadlineSeconds",
    "paused",
    "suspend",
    "completions",
    "parallelism",
    "succeeded",
    "startTime",
    "phase",
    "clusterIP",
    "loadBalancer",
    "ingress",
    "ip",
    "containerStatuses",
    "state",
    "waiting",
    "name",
    "desiredNumberScheduled",
    "numberReady",
    "currentNumberScheduled",
];
const TEXTS: [&str; 16] = [
    "",
    "True",
    "False",
    "Unknown",
    "Ready",
    "Available",
    "Progressing",
    "Stalled",
    "Reconciling",
    "Failed",
    "Running",
    "Pending",
    "OnDelete",
    "LoadBalancer",
    "CrashLoopBackOff",
    "oci",
];

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        prop_oneof![Just(i64::MIN), Just(i64::MAX), Just(-1), 0..4_i64].prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(&TEXTS[..]).prop_map(Value::from),
    ]
}

/// Trees of the fields that rules read, each of any type.
fn tree() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(5, 60, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(prop::sample::select(&FIELDS[..]), inner, 0..10)
                .prop_map(|fields| fields.into_iter().map(|(key, field)| (key.to_owned(), field)).collect()),
        ]
    })
}

#[rstest]
fn an_object_that_is_no_object_is_no_harm(
    #[values(json!(null), json!(1), json!("text"), json!([]), json!([{"kind": "Pod"}]), json!({}))]
    object: Value,
) {
    let _ = health(&object);
}

#[rstest]
fn what_is_of_the_wrong_type_counts_as_absent(
    #[values(json!("2"), json!(2.5), json!([2]), json!({"a": 2}), json!(true), json!(null))] wrong: Value,
) {
    let status = json!({
        "observedGeneration": wrong, "replicas": wrong, "readyReplicas": wrong, "conditions": [wrong, {"type": wrong}],
    });
    let mut odd = object("apps/v1", "Deployment", &json!({"replicas": wrong}), &status);
    odd["metadata"]["deletionTimestamp"] = if wrong.is_string() { Value::Null } else { wrong };
    assert_health(&odd, State::InProgress, "0 of 1 replicas exist");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_object_of_any_kind_gets_a_verdict(kind in 0..KINDS.len(), spec in tree(), status in tree(), metadata in tree()) {
        let mut odd = object(KINDS[kind].0, KINDS[kind].1, &spec, &status);
        if metadata.is_object() {
            odd["metadata"] = metadata;
        }
        let health = health(&odd);
        prop_assert!(!health.message.is_empty() && health.message.len() <= LONGEST_MESSAGE);
    }

    #[test]
    fn any_tree_gets_a_verdict(tree in tree()) {
        let _ = health(&tree);
    }
}
