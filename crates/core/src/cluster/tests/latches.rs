//! Phases, and what stays true once it was.

use rstest::rstest;
use serde_json::{Value, json};

use super::world::{at, cluster, deleting, going, missing, once, part, seen, told};
use crate::cluster::decide::decide;
use crate::cluster::observed::{Part, Referent};
use crate::cluster::status::{Report, is_told, status};

fn there(part: Part) -> Referent {
    Referent::There(Box::new(part))
}

fn with_endpoint() -> Value {
    json!({ "spec": { "controlPlaneEndpoint": { "host": "h", "port": 1 } } })
}

#[rstest]
#[case::refers_to_nothing(json!({ "spec": { "infrastructureRef": null, "controlPlaneRef": null } }), missing(), "Pending")]
#[case::waits_for_its_parts(json!({}), missing(), "Provisioning")]
#[case::has_only_an_endpoint(with_endpoint(), there(part()), "Provisioning")]
#[case::has_only_a_network(json!({}), there(once("", 0)), "Provisioning")]
#[case::has_both(with_endpoint(), there(once("", 0)), "Provisioned")]
#[case::needs_no_network(
    json!({ "spec": { "infrastructureRef": null, "controlPlaneEndpoint": { "host": "h", "port": 1 } } }),
    missing(),
    "Provisioned"
)]
#[case::goes(deleting(), there(once("", 0)), "Deleting")]
fn the_phase_follows_network_and_endpoint(
    #[case] change: Value,
    #[case] network: Referent,
    #[case] phase: &str,
) {
    let told = told(&cluster(change), network, there(part())).unwrap();
    assert_eq!(told.phase.as_deref(), Some(phase));
}

#[rstest]
#[case::not_yet(json!({}), there(part()), there(part()), [None, None])]
#[case::both(json!({}), there(once("", 0)), there(once("", 0)), [Some(true), Some(true)])]
#[case::kept_when_a_part_says_otherwise(
    json!({ "status": { "initialization": { "infrastructureProvisioned": true, "controlPlaneInitialized": true } } }),
    there(part()),
    missing(),
    [Some(true), Some(true)]
)]
#[case::not_by_what_is_going(json!({}), there(Part { once: true, ..going() }), missing(), [None, None])]
#[case::true_without_a_network(json!({ "spec": { "infrastructureRef": null } }), missing(), missing(), [Some(true), None])]
#[case::not_for_another_kind_of_network(
    json!({ "spec": { "infrastructureRef": { "kind": "AWSCluster" } } }),
    missing(),
    missing(),
    [None, None]
)]
#[case::a_false_is_not_taken_for_a_latch(
    json!({ "status": { "initialization": { "infrastructureProvisioned": false } } }),
    there(part()),
    missing(),
    [None, None]
)]
fn what_was_there_once_stays_so(
    #[case] change: Value,
    #[case] network: Referent,
    #[case] control_plane: Referent,
    #[case] expected: [Option<bool>; 2],
) {
    let told = told(&cluster(change), network, control_plane).unwrap().initialization.unwrap_or_default();
    assert_eq!([told.infrastructure_provisioned, told.control_plane_initialized], expected);
}

#[test]
fn zones_and_versions_are_copied() {
    let zone = |name: &str| serde_json::from_value(json!({ "name": name, "controlPlane": true })).unwrap();
    let network = Part { failure_domains: vec![zone("b"), zone("a")], ..once("", 0) };
    let version = serde_json::from_value(json!({ "version": "v1.34.2" })).unwrap();
    let control_plane = Part { versions: vec![version], ..part() };
    let first = told(&cluster(json!({})), there(network.clone()), there(control_plane)).unwrap();
    let names: Vec<_> = first.failure_domains.iter().map(|zone| zone.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(first.control_plane.as_ref().unwrap().versions[0].version, "v1.34.2");

    // They stay while the network has no say, and go when it says so.
    let later = cluster(json!({ "status": first }));
    assert_eq!(told(&later, missing(), missing()).unwrap().failure_domains.len(), 2);
    let bare = Part { failure_domains: Vec::new(), ..network };
    assert_eq!(told(&later, there(bare), missing()).unwrap().failure_domains.len(), 0);
}

#[test]
fn the_generation_counts_as_observed_only_when_all_was_done() {
    let cluster = cluster(json!({ "status": { "observedGeneration": 1 } }));
    let seen = seen(&cluster, there(part()), there(part()));
    let step = decide(&cluster, &seen);
    let observed = |done| {
        let report = Report { cluster: &cluster, seen: &seen, step: &step, done, now: &at(1) };
        status(report).unwrap().observed_generation
    };
    assert_eq!((observed(false), observed(true)), (Some(1), Some(2)));
}

#[test]
fn a_status_is_told_once_whatever_others_add_to_it() {
    let first = told(&cluster(json!({})), there(part()), there(part())).unwrap();
    assert!(!is_told(&cluster(json!({})), &first));
    let mut stored = first.clone();
    stored.conditions.reverse();
    let foreign = json!({ "type": "AddonsReady", "status": "True", "reason": "x", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z" });
    stored.conditions.push(serde_json::from_value(foreign).unwrap());
    let later = cluster(json!({ "status": stored }));
    let again = told(&later, there(part()), there(part())).unwrap();
    assert!(is_told(&later, &again));
    assert!(
        again.conditions.iter().all(|condition| condition.type_ != "AddonsReady"),
        "only ours is written"
    );
}
