//! What is worth an Event.

use capt_api::Cluster;
use capt_api::names::Reason;
use rstest::rstest;
use serde_json::{Value, json};

use super::world::{at, cluster, deleting, missing, once, part, says, seen, told};
use crate::cluster::decide::decide;
use crate::cluster::observed::{Part, Referent};
use crate::cluster::status::{Report, notes, status};

fn there(part: Part) -> Referent {
    Referent::There(Box::new(part))
}

fn reasons(cluster: &Cluster, network: Referent, control_plane: Referent) -> Vec<(Reason, bool)> {
    let seen = seen(cluster, network, control_plane);
    let step = decide(cluster, &seen);
    let report = Report { cluster, seen: &seen, step: &step, done: true, now: &at(10) };
    let next = status(report).unwrap();
    notes(report, &next).into_iter().map(|note| (note.reason, note.warning)).collect()
}

fn available() -> (Referent, Referent) {
    let control_plane = says(once("h", 1), "Reachable", "True", "Reachable", "");
    (there(once("", 0)), there(control_plane))
}

#[rstest]
#[case::waiting_is_no_news(json!({}), &[])]
#[case::provisioned(json!({ "spec": { "controlPlaneEndpoint": { "host": "h", "port": 1 } } }), &[(Reason::Provisioned, false)])]
#[case::deleting(deleting(), &[(Reason::Deleting, false)])]
#[case::paused(json!({ "spec": { "paused": true } }), &[(Reason::Paused, false)])]
#[case::unsupported(
    json!({ "spec": { "controlPlaneRef": { "kind": "KubeadmControlPlane" } } }),
    &[(Reason::ReferenceUnsupported, true)]
)]
fn steps_and_trouble_are_told(#[case] change: Value, #[case] expected: &[(Reason, bool)]) {
    assert_eq!(reasons(&cluster(change), there(once("", 0)), there(part())), expected);
}

#[test]
fn what_was_told_is_not_told_again() {
    let change =
        json!({ "spec": { "infrastructureRef": { "kind": "AWSCluster" }, "controlPlaneRef": null } });
    let first = told(&cluster(change.clone()), missing(), missing()).unwrap();
    let mut later = change;
    later["status"] = json!(first);
    assert_eq!(reasons(&cluster(later), missing(), missing()), []);
}

#[test]
fn a_cluster_that_can_be_used_and_one_that_no_longer_can_are_news() {
    let (network, control_plane) = available();
    assert_eq!(reasons(&cluster(json!({})), network, control_plane), [(Reason::Available, false)]);
    let (network, control_plane) = available();
    let status = told(&cluster(json!({})), network, control_plane).unwrap();
    let later = cluster(json!({ "status": status }));
    let lost = reasons(&later, missing(), available().1);
    assert_eq!(lost, [(Reason::ObjectDeleted, true), (Reason::NotAvailable, false)]);
}

#[test]
fn the_end_of_a_pause_is_told() {
    let paused = cluster(json!({ "spec": { "paused": true } }));
    let status = told(&paused, missing(), missing()).unwrap();
    let later = cluster(json!({ "status": status }));
    assert_eq!(reasons(&later, missing(), missing()), [(Reason::NotPaused, false)]);
}
