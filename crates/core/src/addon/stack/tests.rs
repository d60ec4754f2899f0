use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::*;

fn stamp() -> Stamp {
    Stamp { generation: Some(2), now: Time(Timestamp::from_second(9).unwrap()) }
}

fn spec(addons: &Value) -> AddonStackSpec {
    serde_json::from_value(json!({ "clusterSelector": { "matchLabels": { "a": "b" } }, "addons": addons }))
        .unwrap()
}

fn binding(state: &str) -> AddonStackBindingStatus {
    let time = Time(Timestamp::from_second(1).unwrap());
    serde_json::from_value(json!({
        "state": state, "conditions": [],
        "addons": [{ "name": "flux", "state": state, "reason": "X", "since": time }],
    }))
    .unwrap()
}

fn told(spec: &AddonStackSpec, members: &[(&str, Option<AddonStackBindingStatus>)]) -> String {
    let members: Vec<_> =
        members.iter().map(|(cluster, status)| Member { cluster, status: status.as_ref() }).collect();
    let status = status(None, spec, &members, false, &stamp());
    let ready = crate::condition::find(&status.conditions, "Ready").unwrap();
    let counts: Vec<_> = status
        .addons
        .iter()
        .map(|one| format!("{} {}/{}/{}/{}", one.name, one.ready, one.progressing, one.waiting, one.failed))
        .collect();
    format!(
        "{}/{} {} | {} of {} ready, {} failed | {}",
        ready.status,
        ready.reason,
        ready.message,
        status.ready,
        status.clusters,
        status.failed,
        counts.join(", ")
    )
}

#[test]
fn a_stack_counts_its_clusters() {
    let spec = spec(&json!([{ "name": "flux", "gateLabel": "x" }]));
    assert_eq!(
        told(&spec, &[]),
        "True/NoClusters the selector matches no Cluster of this namespace | 0 of 0 ready, 0 failed | flux 0/0/0/0"
    );
    assert_eq!(
        told(&spec, &[("a", Some(binding("Ready"))), ("b", None), ("c", Some(binding("WaitingForReady")))]),
        "False/AddonNotReady on its way in `b`, `c` | 1 of 3 ready, 0 failed | flux 1/1/1/0"
    );
    let failing = ["a", "b", "c", "d", "e"].map(|name| (name, Some(binding("Failed"))));
    assert_eq!(
        told(&spec, &failing),
        "False/AddonFailed stuck in `a`, `b`, `c` and 2 more | 0 of 5 ready, 5 failed | flux 0/0/0/5"
    );
    assert_eq!(
        told(&spec, &[("a", Some(binding("Ready")))]),
        "True/AddonsReady  | 1 of 1 ready, 0 failed | flux 1/0/0/0"
    );
}

#[test]
fn a_circle_is_told_whatever_the_clusters_say() {
    let spec = spec(&json!([
        { "name": "a", "dependsOn": ["b"], "gateLabel": "x" },
        { "name": "b", "dependsOn": ["a"], "gateLabel": "y" },
    ]));
    let told = told(&spec, &[]);
    assert!(
        told.starts_with("False/DependencyCycle add-ons wait for each other in a circle (`a` → `b` → `a`)"),
        "{told}"
    );
}
