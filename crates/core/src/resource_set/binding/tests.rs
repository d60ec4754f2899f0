use capt_api::resource_set::{ClusterResourceSetBindingSpec, ClusterResourceSetSpec, ResourceKind};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use rstest::rstest;
use serde_json::json;

use super::*;

fn set(name: &str, uid: &str) -> ClusterResourceSet {
    let spec: ClusterResourceSetSpec = serde_json::from_value(json!({
        "clusterSelector": { "matchLabels": { "a": "b" } }, "resources": [{ "kind": "ConfigMap", "name": "x" }],
    }))
    .unwrap();
    let mut set = ClusterResourceSet::new(name, spec);
    set.metadata.uid = Some(uid.to_owned());
    set
}

fn resource(name: &str) -> ResourceBinding {
    ResourceBinding {
        kind: ResourceKind::ConfigMap,
        name: name.to_owned(),
        hash: Some("sha256:a".to_owned()),
        last_applied_time: None,
        applied: true,
    }
}

fn entry(set: &str, resources: &[&str]) -> ResourceSetBinding {
    ResourceSetBinding {
        cluster_resource_set_name: set.to_owned(),
        resources: resources.iter().map(|name| resource(name)).collect(),
    }
}

fn owner(set: &str, uid: &str) -> OwnerReference {
    OwnerReference {
        api_version: "addons.cluster.x-k8s.io/v1beta2".to_owned(),
        kind: "ClusterResourceSet".to_owned(),
        name: set.to_owned(),
        uid: uid.to_owned(),
        ..OwnerReference::default()
    }
}

fn binding(owners: Vec<OwnerReference>, bindings: Vec<ResourceSetBinding>) -> ClusterResourceSetBinding {
    let spec = ClusterResourceSetBindingSpec { cluster_name: "c".to_owned(), bindings };
    let mut binding = ClusterResourceSetBinding::new("c", spec);
    binding.metadata.owner_references = Some(owners);
    binding
}

#[test]
fn a_new_binding_has_the_set_as_owner_but_not_as_controller() {
    let edit = put(None, &set("mine", "1"), &[resource("x")]);
    assert_eq!(edit, Edit::Write { owners: vec![owner("mine", "1")], bindings: vec![entry("mine", &["x"])] });
    assert_eq!(put(None, &set("mine", "1"), &[]), Edit::Nothing);
}

#[test]
fn the_entries_of_other_sets_stay() {
    let present = binding(vec![owner("other", "9")], vec![entry("other", &["y"])]);
    let edit = put(Some(&present), &set("mine", "1"), &[resource("x")]);
    assert_eq!(
        edit,
        Edit::Write {
            owners: vec![owner("other", "9"), owner("mine", "1")],
            bindings: vec![entry("other", &["y"]), entry("mine", &["x"])],
        }
    );
    let both = binding(
        vec![owner("other", "9"), owner("mine", "1")],
        vec![entry("other", &["y"]), entry("mine", &["x"])],
    );
    assert_eq!(put(Some(&both), &set("mine", "1"), &[resource("x")]), Edit::Nothing, "nothing has changed");
    assert_eq!(
        forget(&both, &set("mine", "1")),
        Edit::Write { owners: vec![owner("other", "9")], bindings: vec![entry("other", &["y"])] }
    );
}

#[test]
fn a_binding_without_entries_goes() {
    let present = binding(vec![owner("mine", "1")], vec![entry("mine", &["x"])]);
    assert_eq!(forget(&present, &set("mine", "1")), Edit::Delete);
    assert_eq!(put(Some(&present), &set("mine", "1"), &[]), Edit::Delete);
    assert_eq!(forget(&present, &set("other", "2")), Edit::Nothing);
}

#[rstest]
#[case::its_own(vec![owner("mine", "1")], 1)]
#[case::of_a_set_that_is_gone(vec![], 0)]
#[case::of_an_earlier_set_of_this_name(vec![owner("mine", "0")], 0)]
fn what_an_earlier_set_of_the_same_name_brought_does_not_count(
    #[case] owners: Vec<OwnerReference>,
    #[case] expected: usize,
) {
    let present = binding(owners, vec![entry("other", &["y", "z"]), entry("mine", &["x"])]);
    let mine = set("mine", "1");
    assert_eq!(entries(&present, &mine).len(), expected);
    assert!(names(&present, &mine));
    let edit = put(Some(&present), &mine, &[resource("x")]);
    assert_eq!(edit == Edit::Nothing, expected == 1, "the owner is put right");
}

#[rstest]
#[case::made_later(Some(5), Some(6), true)]
#[case::in_the_same_second(Some(5), Some(5), true)]
#[case::of_an_earlier_cluster(Some(5), Some(4), false)]
#[case::unknown(None, Some(4), true)]
fn a_binding_that_is_older_than_its_cluster_is_of_another(
    #[case] cluster_made: Option<i64>,
    #[case] binding_made: Option<i64>,
    #[case] expected: bool,
) {
    let at = |second: i64| Time(Timestamp::from_second(second).unwrap());
    let mut cluster = Cluster::new("c", capt_api::capi::ClusterSpec::default());
    cluster.metadata.creation_timestamp = cluster_made.map(at);
    let mut present = binding(vec![], vec![]);
    present.metadata.creation_timestamp = binding_made.map(at);
    assert_eq!(is_of(&present, &cluster), expected);
    present.metadata.deletion_timestamp = Some(at(9));
    assert!(!is_of(&present, &cluster), "it is on its way out");
}
