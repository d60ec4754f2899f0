//! What references lead to, and whose it is.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use rstest::rstest;
use serde_json::json;

use super::world::{cluster, metadata, part};
use crate::cluster::observed::{Part, Referent, Role, Wanted, wanted};

#[rstest]
#[case::of_another_kind("infrastructure.cluster.x-k8s.io", "AWSCluster")]
#[case::of_another_group("example.com", "CAPTCluster")]
#[case::of_the_other_role("controlplane.cluster.x-k8s.io", "CAPTControlPlane")]
#[case::written_in_lower_case("infrastructure.cluster.x-k8s.io", "captcluster")]
#[case::with_a_version("infrastructure.cluster.x-k8s.io/v1beta1", "CAPTCluster")]
fn what_capt_cannot_look_after_is_told_with_a_way_out(#[case] group: &str, #[case] kind: &str) {
    let cluster = cluster(json!({ "spec": { "infrastructureRef": { "apiGroup": group, "kind": kind } } }));
    let Wanted::Unsupported(why) = wanted(&cluster, Role::Network) else { panic!("it is taken") };
    assert!(why.contains(kind) && why.contains("install Cluster API"), "{why}");
    assert!(why.contains("CAPTCluster (apiGroup infrastructure.cluster.x-k8s.io)"), "{why}");
}

#[test]
fn a_topology_takes_cluster_api_but_does_not_hide_what_it_made() {
    let change =
        json!({ "spec": { "topology": { "classRef": { "name": "x" } }, "infrastructureRef": null } });
    let cluster = cluster(change);
    let Wanted::Unsupported(why) = wanted(&cluster, Role::Network) else { panic!("it is taken") };
    assert!(why.contains("spec.topology") && why.contains("Cluster API"), "{why}");
    assert_eq!(wanted(&cluster, Role::ControlPlane), Wanted::Object("demo"));
}

#[test]
fn no_reference_asks_for_nothing() {
    let cluster = cluster(json!({ "spec": { "infrastructureRef": null } }));
    assert_eq!(wanted(&cluster, Role::Network), Wanted::Nothing);
}

#[rstest]
#[case::nobodys(&[], None)]
#[case::ours(&[("demo", "1")], None)]
#[case::ours_before_a_restore(&[("demo", "0")], None)]
#[case::of_another(&[("other", "2")], Some("other"))]
#[case::of_both(&[("other", "2"), ("demo", "1")], None)]
fn what_another_cluster_owns_is_its_own(#[case] owners: &[(&str, &str)], #[case] other: Option<&str>) {
    let part = Part { metadata: metadata(owners, false), ..Part::default() };
    let expected = match other {
        None => Referent::There(Box::new(part.clone())),
        Some(other) => Referent::OfOther { name: "demo".to_owned(), cluster: other.to_owned() },
    };
    assert_eq!(Referent::found(part, &cluster(json!({}))), expected);
}

#[rstest]
#[case::marked(metadata(&[("demo", "1")], false), true)]
#[case::without_an_owner(metadata(&[], false), false)]
#[case::with_an_owner_of_the_past(metadata(&[("demo", "0")], false), false)]
#[case::without_the_label(ObjectMeta { labels: None, ..metadata(&[("demo", "1")], false) }, false)]
fn a_part_is_marked_by_owner_and_label(#[case] metadata: ObjectMeta, #[case] marked: bool) {
    assert_eq!(Part { metadata, ..part() }.is_marked(&cluster(json!({}))), marked);
}
