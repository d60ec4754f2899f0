//! What the conditions say.

use rstest::rstest;
use serde_json::{Value, json};

use super::world::{at, cluster, condition, deleting, going, missing, once, part, says, told};
use crate::cluster::observed::{Part, Referent};

fn there(part: Part) -> Referent {
    Referent::There(Box::new(part))
}

fn was_there() -> Value {
    json!({ "status": { "initialization": { "infrastructureProvisioned": true, "controlPlaneInitialized": true } } })
}

fn going_and_was_there() -> Value {
    json!({ "metadata": deleting()["metadata"], "status": was_there()["status"] })
}

#[rstest]
#[case::ready(json!({}), there(says(part(), "Ready", "True", "NetworkReady", "m")), "True NetworkReady", "m")]
#[case::not_ready(json!({}), there(says(part(), "Ready", "False", "NetworkNotReady", "m")), "False NetworkNotReady", "m")]
#[case::an_odd_status(json!({}), there(says(part(), "Ready", "Maybe", "X", "m")), "Unknown X", "m")]
#[case::no_reason(json!({}), there(says(once("", 0), "Ready", "True", "", "m")), "True Ready", "m")]
#[case::silent(json!({}), there(part()), "False NotReady", "status.initialization.provisioned is false")]
#[case::silent_but_there(json!({}), there(once("", 0)), "True Ready", "")]
#[case::missing(json!({}), missing(), "False ObjectDoesNotExist", "CAPTCluster `demo` does not exist")]
#[case::lost(was_there(), missing(), "False ObjectDeleted", "while the cluster still exists")]
#[case::taken_down(
    going_and_was_there(),
    missing(),
    "False ObjectDeleted",
    "CAPTCluster `demo` has been deleted"
)]
#[case::not_listed(json!({}), Referent::Unlisted { name: "demo".to_owned() }, "Unknown ReferenceNotFound", "waiting for the kind")]
#[case::of_another(
    json!({}),
    Referent::OfOther { name: "demo".to_owned(), cluster: "other".to_owned() },
    "False ReferenceNotOwned",
    "belongs to Cluster `other` and is left alone: name another one in spec.infrastructureRef"
)]
#[case::unreadable(json!({}), there(Part::unreadable(part().metadata, "broken".to_owned())), "Unknown Unreadable", "broken")]
#[case::unsupported(
    json!({ "spec": { "infrastructureRef": { "kind": "AWSCluster" } } }),
    missing(),
    "False ReferenceUnsupported",
    "install Cluster API"
)]
#[case::not_named(json!({ "spec": { "infrastructureRef": null } }), missing(), "True Ready", "no spec.infrastructureRef")]
fn the_network_is_told_as_it_is(
    #[case] change: Value,
    #[case] network: Referent,
    #[case] expected: &str,
    #[case] message: &str,
) {
    let told = told(&cluster(change), network, there(part())).unwrap();
    let (said, text) = condition(&told, "InfrastructureReady");
    assert_eq!(said, expected);
    assert!(text.contains(message), "{text}");
}

#[rstest]
#[case::available(
    there(says(part(), "Available", "True", "ControlPlaneReady", "")),
    "True ControlPlaneReady",
    "False NotInitialized"
)]
#[case::silent(there(part()), "False NotAvailable", "False NotInitialized")]
#[case::initialized(there(once("", 0)), "True Available", "True Initialized")]
#[case::missing(missing(), "False ObjectDoesNotExist", "Unknown ObjectDoesNotExist")]
#[case::not_listed(Referent::Unlisted { name: "demo".to_owned() }, "Unknown ReferenceNotFound", "Unknown ReferenceNotFound")]
fn the_control_plane_is_told_as_it_is(
    #[case] control_plane: Referent,
    #[case] available: &str,
    #[case] initialized: &str,
) {
    let told = told(&cluster(json!({})), missing(), control_plane).unwrap();
    assert_eq!(condition(&told, "ControlPlaneAvailable").0, available);
    assert_eq!(condition(&told, "ControlPlaneInitialized").0, initialized);
}

#[test]
fn without_a_control_plane_nothing_can_be_available() {
    let bare = cluster(json!({ "spec": { "infrastructureRef": null, "controlPlaneRef": null } }));
    let told = told(&bare, missing(), missing()).unwrap();
    assert_eq!(condition(&told, "ControlPlaneAvailable").0, "False ObjectDoesNotExist");
    assert_eq!(condition(&told, "Available").0, "False NotAvailable");
}

#[rstest]
#[case::yes("True", "True ProbeSucceeded", "m")]
#[case::no("False", "False ProbeFailed", "m")]
#[case::nobody_knows("Unknown", "Unknown ProbeFailed", "m")]
fn the_probe_is_the_control_planes(#[case] truth: &str, #[case] expected: &str, #[case] message: &str) {
    let control_plane = says(part(), "Reachable", truth, "X", "m");
    let told = told(&cluster(json!({})), missing(), there(control_plane)).unwrap();
    assert_eq!(condition(&told, "RemoteConnectionProbe"), (expected.to_owned(), message.to_owned()));
}

#[test]
fn an_endpoint_that_cannot_be_used_is_told_by_the_probe() {
    let told = told(&cluster(json!({})), missing(), there(once("evil@example.com", 443))).unwrap();
    let (said, message) = condition(&told, "RemoteConnectionProbe");
    assert_eq!(said, "False ProbeFailed");
    assert!(message.starts_with("CAPTControlPlane `demo`: `spec.controlPlaneEndpoint`"), "{message}");
    assert!(!message.contains("evil"), "{message}");
}

#[rstest]
#[case::yes("True", "True RollingOut")]
#[case::no("False", "False NotRollingOut")]
#[case::nobody_knows("Unknown", "Unknown RollingOutUnknown")]
fn a_roll_out_is_the_control_planes(#[case] truth: &str, #[case] expected: &str) {
    let control_plane = says(part(), "RollingOut", truth, "X", "m");
    let told = told(&cluster(json!({})), missing(), there(control_plane)).unwrap();
    assert_eq!(condition(&told, "RollingOut").0, expected);
}

#[rstest]
#[case::the_control_plane(
    there(part()),
    there(part()),
    "WaitingForControlPlaneDeletion",
    "CAPTControlPlane `demo`"
)]
#[case::still(there(part()), there(going()), "WaitingForControlPlaneDeletion", "CAPTControlPlane `demo`")]
#[case::the_network(there(going()), missing(), "WaitingForInfrastructureDeletion", "CAPTCluster `demo`")]
#[case::the_kind(
    Referent::Unlisted { name: "demo".to_owned() },
    missing(),
    "WaitingForInfrastructureDeletion",
    "nobody knows whether `demo` is gone"
)]
fn a_deletion_says_what_it_waits_for(
    #[case] network: Referent,
    #[case] control_plane: Referent,
    #[case] reason: &str,
    #[case] message: &str,
) {
    let told = told(&cluster(deleting()), network, control_plane).unwrap();
    let (said, text) = condition(&told, "Deleting");
    assert_eq!(said, format!("True {reason}"));
    assert!(text.contains(message), "{text}");
    assert_eq!(condition(&told, "Available").0, "False NotAvailable");
}

fn healthy() -> (Referent, Referent) {
    let network = says(once("", 0), "Ready", "True", "NetworkReady", "");
    let control_plane = says(once("h", 1), "Available", "True", "ControlPlaneReady", "");
    (there(network), there(says(control_plane, "Reachable", "True", "Reachable", "")))
}

fn with_gate(polarity: &str, truth: Option<&str>) -> Value {
    let conditions: Vec<_> = truth
        .map(|truth| json!({ "type": "Gate", "status": truth, "reason": "X", "message": "m\nn", "lastTransitionTime": "2026-01-01T00:00:00Z" }))
        .into_iter()
        .collect();
    json!({
        "spec": { "availabilityGates": [{ "conditionType": "Gate", "polarity": polarity }] },
        "status": { "conditions": conditions },
    })
}

#[rstest]
#[case::nothing_else(json!({}), "True Available", "")]
#[case::a_gate_that_holds(with_gate("Positive", Some("True")), "True Available", "* Gate:\n  m\n  n")]
#[case::a_gate_that_does_not(with_gate("Positive", Some("False")), "False NotAvailable", "* Gate:\n  m\n  n")]
#[case::a_gate_that_must_be_false(
    with_gate("Negative", Some("False")),
    "True Available",
    "* Gate:\n  m\n  n"
)]
#[case::and_is_not(with_gate("Negative", Some("True")), "False NotAvailable", "* Gate:\n  m\n  n")]
#[case::an_unknown_gate(
    with_gate("Positive", Some("Unknown")),
    "Unknown AvailableUnknown",
    "* Gate:\n  m\n  n"
)]
#[case::nobody_has_reported(
    with_gate("Positive", None),
    "Unknown AvailableUnknown",
    "* Gate: Condition not yet reported"
)]
#[case::itself(
    json!({ "spec": { "availabilityGates": [{ "conditionType": "Available" }] } }),
    "Unknown AvailableUnknown",
    "* Available: spec.availabilityGates names Available itself: take it out"
)]
fn a_cluster_is_available_when_all_agree(
    #[case] change: Value,
    #[case] expected: &str,
    #[case] message: &str,
) {
    let (network, control_plane) = healthy();
    let told = told(&cluster(change), network, control_plane).unwrap();
    assert_eq!(condition(&told, "Available"), (expected.to_owned(), message.to_owned()));
}

#[test]
fn what_keeps_a_cluster_from_being_available_is_listed() {
    let told = told(&cluster(json!({})), missing(), there(part())).unwrap();
    let (said, message) = condition(&told, "Available");
    assert_eq!(said, "False NotAvailable");
    assert_eq!(
        message,
        "* RemoteConnectionProbe: Remote connection not established yet\n\
         * InfrastructureReady: CAPTCluster `demo` does not exist\n\
         * ControlPlaneAvailable: CAPTControlPlane status.initialization.controlPlaneInitialized is false"
    );
    assert_eq!(condition(&told, "WorkersAvailable").0, "True NoWorkers");
}

#[test]
fn on_the_way_down_gone_parts_are_no_issue() {
    let told = told(&cluster(going_and_was_there()), there(going()), missing()).unwrap();
    let message = condition(&told, "Available").1;
    assert!(message.contains("* Deleting:") && !message.contains("ControlPlaneAvailable"), "{message}");
}

#[test]
fn a_pause_tells_itself_and_leaves_the_rest() {
    let first = told(&cluster(json!({})), missing(), missing()).unwrap();
    let paused = json!({ "spec": { "paused": true }, "status": first, "metadata": { "annotations": { "cluster.x-k8s.io/paused": "" } } });
    let (network, control_plane) = healthy();
    let mut told = told(&cluster(paused), network, control_plane).unwrap();
    assert_eq!(
        condition(&told, "Paused"),
        (
            "True Paused".to_owned(),
            "Cluster spec.paused is set to true, Cluster has the cluster.x-k8s.io/paused annotation"
                .to_owned()
        )
    );
    let mut first = first;
    for status in [&mut first, &mut told] {
        status.conditions.retain(|condition| condition.type_ != "Paused");
    }
    assert_eq!(told, first);
}

#[test]
fn times_are_those_of_the_part_and_move_only_with_the_status() {
    let time = |status: &capt_api::capi::ClusterStatus, type_: &str| {
        status.conditions.iter().find(|entry| entry.type_ == type_).unwrap().last_transition_time.clone()
    };
    let network = || there(says(part(), "Ready", "False", "X", ""));
    let first = told(&cluster(json!({})), network(), missing()).unwrap();
    assert_eq!(time(&first, "InfrastructureReady"), at(5));
    assert_eq!(time(&first, "Available"), at(10));
    let mut early = first.clone();
    for entry in &mut early.conditions {
        entry.last_transition_time = at(1);
    }
    let again = told(&cluster(json!({ "status": early })), network(), missing()).unwrap();
    assert_eq!(time(&again, "Available"), at(1));
}
