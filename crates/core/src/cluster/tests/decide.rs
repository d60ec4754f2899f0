//! Step by step up and down.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use rstest::rstest;
use serde_json::{Value, json};

use super::world::{cluster, deleting, going, metadata, missing, once, part, step};
use crate::cluster::decide::{Step, Target};
use crate::cluster::observed::{Part, Referent, Role};
use crate::standing::Pause;

fn there(part: Part) -> Referent {
    Referent::There(Box::new(part))
}

fn target(role: Role) -> Target {
    Target {
        role,
        name: "demo".to_owned(),
        uid: Some("7".to_owned()),
        resource_version: Some("70".to_owned()),
    }
}

fn unmarked() -> Referent {
    there(Part { metadata: metadata(&[], false), ..Part::default() })
}

fn of_other() -> Referent {
    Referent::OfOther { name: "demo".to_owned(), cluster: "other".to_owned() }
}

fn unlisted() -> Referent {
    Referent::Unlisted { name: "demo".to_owned() }
}

#[rstest]
#[case::an_empty_host("", 443)]
#[case::no_port("api.example.com", 0)]
#[case::a_negative_port("api.example.com", -1)]
#[case::a_port_beyond_all_ports("api.example.com", 65_536)]
#[case::a_scheme("https://api.example.com", 443)]
#[case::a_path("api.example.com/x", 443)]
#[case::a_user("evil@api.example.com", 443)]
#[case::a_query("api.example.com?x", 443)]
#[case::a_blank("api.example.com evil", 443)]
#[case::a_line_break("api.example.com\nevil", 443)]
#[case::a_second_port("api.example.com:1", 443)]
fn an_endpoint_that_is_none_is_not_copied(#[case] host: &str, #[case] port: i32) {
    let taken = step(&cluster(json!({})), there(once("", 0)), there(once(host, port)));
    assert_eq!(taken, Step::Settled);
}

#[rstest]
#[case::a_name("api.example.com", 6443)]
#[case::an_address("192.0.2.1", 443)]
#[case::a_long_address("2001:db8::1", 443)]
fn an_endpoint_is_copied_once_its_part_was_there(#[case] host: &str, #[case] port: i32) {
    let offered = once(host, port);
    let endpoint = offered.endpoint.clone().unwrap();
    let early = Part { once: false, ..offered.clone() };
    assert_eq!(step(&cluster(json!({})), there(part()), there(early)), Step::Settled);
    let taken = step(&cluster(json!({})), there(part()), there(offered));
    assert_eq!(taken, Step::SetEndpoint(endpoint));
}

#[test]
fn the_networks_endpoint_comes_first_and_the_clusters_own_before_all() {
    let parts = || (there(once("network", 1)), there(once("control-plane", 2)));
    let (network, control_plane) = parts();
    let Step::SetEndpoint(endpoint) = step(&cluster(json!({})), network, control_plane) else {
        panic!("no endpoint is set")
    };
    assert_eq!(endpoint.host, "network");
    let own = cluster(json!({ "spec": { "controlPlaneEndpoint": { "host": "own", "port": 3 } } }));
    let (network, control_plane) = parts();
    assert_eq!(step(&own, network, control_plane), Step::Settled);
    let half = cluster(json!({ "spec": { "controlPlaneEndpoint": { "host": "", "port": 0 } } }));
    let (network, control_plane) = parts();
    assert!(matches!(step(&half, network, control_plane), Step::SetEndpoint(_)));
}

#[rstest]
#[case::held_first(json!({ "metadata": { "finalizers": [] } }), unmarked(), unmarked(), Step::Claim)]
#[case::the_network_is_marked(json!({}), unmarked(), unmarked(), Step::Mark(target(Role::Network)))]
#[case::then_the_control_plane(json!({}), there(part()), unmarked(), Step::Mark(target(Role::ControlPlane)))]
#[case::without_waiting_for_the_network(json!({}), missing(), unmarked(), Step::Mark(target(Role::ControlPlane)))]
#[case::what_is_not_there_is_not_marked(json!({}), missing(), unlisted(), Step::Settled)]
#[case::nor_what_belongs_to_others(json!({}), of_other(), of_other(), Step::Settled)]
#[case::nor_what_is_going(json!({}), there(Part { metadata: metadata(&[], true), ..part() }), missing(), Step::Settled)]
#[case::nor_what_cannot_be_read(
    json!({}),
    there(Part::unreadable(metadata(&[], false), "broken".to_owned())),
    missing(),
    Step::Settled
)]
#[case::paused(
    json!({ "metadata": { "finalizers": [] }, "spec": { "paused": true } }),
    unmarked(),
    unmarked(),
    Step::Pause(Pause { cluster: true, annotation: false, moving: false })
)]
#[case::paused_on_the_way_down(
    json!({ "metadata": { "deletionTimestamp": "2026-01-01T00:00:00Z", "annotations": { "cluster.x-k8s.io/paused": "" } } }),
    there(part()),
    there(part()),
    Step::Pause(Pause { cluster: false, annotation: true, moving: false })
)]
#[case::moved(
    json!({ "metadata": { "deletionTimestamp": "2026-01-01T00:00:00Z",
        "annotations": { "clusterctl.cluster.x-k8s.io/delete-for-move": "" } }, "spec": { "paused": true } }),
    there(part()),
    there(part()),
    Step::LetGo
)]
fn on_the_way_up(
    #[case] change: Value,
    #[case] network: Referent,
    #[case] control_plane: Referent,
    #[case] expected: Step,
) {
    assert_eq!(step(&cluster(change), network, control_plane), expected);
}

#[rstest]
#[case::the_control_plane_first(there(part()), there(part()), Step::Delete(target(Role::ControlPlane)))]
#[case::and_waited_for(there(part()), there(going()), Step::AwaitDeletion(target(Role::ControlPlane)))]
#[case::also_when_all_go_at_once(
    there(going()),
    there(going()),
    Step::AwaitDeletion(target(Role::ControlPlane))
)]
#[case::then_the_network(there(part()), missing(), Step::Delete(target(Role::Network)))]
#[case::and_waited_for_too(there(going()), missing(), Step::AwaitDeletion(target(Role::Network)))]
#[case::then_the_cluster(missing(), missing(), Step::Finish)]
#[case::what_was_never_marked_goes_too(missing(), unmarked(), Step::Delete(target(Role::ControlPlane)))]
#[case::what_belongs_to_others_stays(of_other(), of_other(), Step::Finish)]
#[case::what_is_not_listed_is_not_gone(
    there(part()),
    unlisted(),
    Step::AwaitListing { role: Role::ControlPlane, name: "demo".to_owned() }
)]
#[case::nor_is_a_network(unlisted(), missing(), Step::AwaitListing { role: Role::Network, name: "demo".to_owned() })]
#[case::what_cannot_be_read_goes_too(
    there(Part::unreadable(metadata(&[("demo", "1")], false), "broken".to_owned())),
    missing(),
    Step::Delete(target(Role::Network))
)]
fn on_the_way_down(#[case] network: Referent, #[case] control_plane: Referent, #[case] expected: Step) {
    assert_eq!(step(&cluster(deleting()), network, control_plane), expected);
}

#[test]
fn a_cluster_that_refers_to_nothing_we_know_goes_at_once() {
    let mut change = deleting();
    change["spec"] =
        json!({ "controlPlaneRef": { "kind": "KubeadmControlPlane" }, "infrastructureRef": null });
    assert_eq!(step(&cluster(change), missing(), missing()), Step::Finish);
}

#[test]
fn a_part_that_lost_its_label_is_marked_again() {
    let bare = Part { metadata: ObjectMeta { labels: None, ..metadata(&[("demo", "1")], false) }, ..part() };
    assert_eq!(step(&cluster(json!({})), there(bare), missing()), Step::Mark(target(Role::Network)));
}
