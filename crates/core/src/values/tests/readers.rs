//! Which `HelmReleases` read a Secret.

use rstest::rstest;

use super::*;
use crate::manifest::{Manifest, Place};

fn read(objects: impl IntoIterator<Item = Value>) -> Vec<Release> {
    let place = Place {
        kind: ResourceKind::ConfigMap,
        name: "a".to_owned(),
        key: "b".to_owned(),
        document: 1,
        item: None,
    };
    let manifests: Vec<Manifest> =
        objects.into_iter().map(|object| Manifest { place: place.clone(), object }).collect();
    releases(&manifests)
}

fn helm_release(values_from: &Value) -> Value {
    json!({
        "apiVersion": "helm.toolkit.fluxcd.io/v2beta1",
        "kind": "HelmRelease",
        "metadata": { "name": "karpenter", "namespace": "karpenter" },
        "spec": { "valuesFrom": values_from },
    })
}

#[rstest]
#[case::nothing(json!(null))]
#[case::text(json!("Secret"))]
#[case::odd_entries(json!([null, 1, "x", {}, [], { "kind": "Secret" }, { "kind": "Secret", "name": 7 }]))]
#[case::config_map(json!([{ "kind": "ConfigMap", "name": "demo", "valuesKey": "a" }]))]
fn what_reads_no_secret_is_no_reader(#[case] values_from: Value) {
    assert_eq!(read([helm_release(&values_from)])[0].references, []);
}

#[rstest]
#[case::another_kind(json!({ "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "Other", "metadata": { "name": "a" } }))]
#[case::another_group(json!({ "apiVersion": "helm.cattle.io/v1", "kind": "HelmRelease", "metadata": { "name": "a" } }))]
#[case::nothing(json!(null))]
fn what_is_no_helm_release_is_passed_over(#[case] object: Value) {
    assert_eq!(read([object]), []);
}

#[test]
fn references_are_read_as_flux_reads_them() {
    let object = helm_release(&json!([
        { "kind": "Secret", "name": "demo" },
        { "kind": "Secret", "name": "demo", "valuesKey": "cluster_name", "targetPath": "settings.clusterName" },
        { "kind": "Secret", "name": "demo", "valuesKey": "a", "targetPath": "", "literal": "true" },
        { "kind": "Secret", "name": "demo", "valuesKey": "b", "targetPath": "c", "literal": true },
    ]));
    let reference = |key: &str, target_path: Option<&str>, literal| Reference {
        kind: ResourceKind::Secret,
        name: "demo".to_owned(),
        key: key.to_owned(),
        target_path: target_path.map(str::to_owned),
        optional: false,
        literal,
    };
    let expected = Release {
        api_version: "helm.toolkit.fluxcd.io/v2beta1".to_owned(),
        namespace: "karpenter".to_owned(),
        name: "karpenter".to_owned(),
        references: vec![
            reference("values.yaml", None, false),
            reference("cluster_name", Some("settings.clusterName"), false),
            reference("a", None, false),
            reference("b", Some("c"), true),
        ],
    };
    assert_eq!(read([object]), [expected]);
}

#[test]
fn a_release_without_a_namespace_is_in_the_default_one() {
    let mut object = helm_release(&json!([]));
    object["metadata"] = json!({ "name": "a" });
    assert_eq!(read([object])[0].key().to_string(), "HelmRelease `default/a`");
}

#[test]
fn consumers_are_those_that_read_the_secret_in_its_namespace() {
    let elsewhere = Release { namespace: "other".to_owned(), ..release("x", Some("a"), true) };
    let mut another_secret = release("y", Some("a"), true);
    another_secret.references[0].name = "other".to_owned();
    let mut another_key = release("a", Some("a"), true);
    another_key.references[0].key = "other".to_owned();
    let readers = [release("b", None, false), elsewhere, another_secret, another_key.clone(), another_key];
    let consumers: Vec<String> =
        for_readers("demo", &readers).unwrap().consumers.iter().map(ToString::to_string).collect();
    assert_eq!(consumers, ["HelmRelease `karpenter/a`", "HelmRelease `karpenter/b`"]);
}
