use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use serde_json::Value;

use crate::{capt, printed};

fn documents(arguments: &[&str]) -> Vec<CustomResourceDefinition> {
    let text = printed(capt().arg("crds").args(arguments));
    assert!(text.starts_with("---\n"));
    serde_saphyr::from_multiple(&text).unwrap()
}

fn names(crds: &[CustomResourceDefinition]) -> Vec<String> {
    crds.iter().map(ResourceExt::name_any).collect()
}

#[test]
fn all_own_kinds_are_printed_in_order() {
    insta::assert_yaml_snapshot!(names(&documents(&[])), @"
    - addonstackbindings.addons.cluster.x-k8s.io
    - addonstacks.addons.cluster.x-k8s.io
    - captclusters.infrastructure.cluster.x-k8s.io
    - captclustertemplates.infrastructure.cluster.x-k8s.io
    - captcontrolplanes.controlplane.cluster.x-k8s.io
    - captcontrolplanetemplates.controlplane.cluster.x-k8s.io
    - workspacetemplateapplies.infrastructure.cluster.x-k8s.io
    - workspacetemplates.infrastructure.cluster.x-k8s.io
    ");
}

#[test]
fn own_kinds_name_their_contract_and_no_other() {
    // Stacks of add-ons follow no contract: Cluster API does not look at them.
    let is_bound = |crd: &CustomResourceDefinition| crd.spec.group != "addons.cluster.x-k8s.io";
    for crd in documents(&[]).into_iter().filter(is_bound) {
        let contracts: Vec<_> =
            crd.labels().iter().filter(|(key, _)| key.starts_with("cluster.x-k8s.io/")).collect();
        let expected = ("cluster.x-k8s.io/v1beta2".to_owned(), "v1beta1".to_owned());
        assert_eq!(contracts, [(&expected.0, &expected.1)], "{}", crd.name_any());
    }
}

#[test]
fn kinds_of_others_are_printed_only_when_asked_for() {
    let own = names(&documents(&[]));
    let all = names(&documents(&["--include", "terraform,cluster-api"]));

    let added: Vec<_> = all.iter().filter(|name| !own.contains(name)).collect();
    insta::assert_yaml_snapshot!(added, @"
    - clusterresourcesetbindings.addons.cluster.x-k8s.io
    - clusterresourcesets.addons.cluster.x-k8s.io
    - clusters.cluster.x-k8s.io
    - providerconfigs.tf.upbound.io
    - workspaces.tf.upbound.io
    ");
}

#[test]
fn a_kind_asked_for_twice_is_printed_once() {
    let once = documents(&["--include", "terraform"]);
    let twice = documents(&["--include", "terraform", "--include=terraform"]);

    assert_eq!(names(&once), names(&twice));
}

#[test]
fn json_is_one_list_of_the_same_definitions() {
    let list: Value = serde_json::from_str(&printed(capt().args(["crds", "--output", "json"]))).unwrap();
    let items: Vec<CustomResourceDefinition> = serde_json::from_value(list["items"].clone()).unwrap();

    assert_eq!((&list["apiVersion"], &list["kind"]), (&Value::from("v1"), &Value::from("List")));
    assert_eq!(items, documents(&[]));
}
