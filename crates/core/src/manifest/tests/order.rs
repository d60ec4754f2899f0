//! The order of delivery, and objects that are there twice.

use serde_json::json;

use super::*;

fn object(api_version: &str, kind: &str, namespace: Option<&str>, name: &str) -> Value {
    json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": name, "namespace": namespace } })
}

#[test]
fn what_others_need_comes_first_and_what_could_refuse_others_last() {
    let kinds = [
        "ValidatingWebhookConfiguration",
        "Deployment",
        "APIService",
        "Endpoints",
        "ReplicaSet",
        "Pod",
        "LimitRange",
        "MutatingWebhookConfiguration",
        "Service",
        "ServiceAccount",
        "ConfigMap",
        "Secret",
        "PersistentVolumeClaim",
        "PersistentVolume",
        "StorageClass",
        "HelmRelease",
        "CustomResourceDefinition",
        "Namespace",
    ];
    let ordered = order(manifests(kinds.map(|kind| object("v1", kind, None, "a"))));
    let kinds: Vec<String> = ordered.iter().map(|manifest| manifest.key().kind).collect();
    assert_eq!(
        kinds,
        [
            "Namespace",
            "CustomResourceDefinition",
            "StorageClass",
            "PersistentVolume",
            "PersistentVolumeClaim",
            "Secret",
            "ConfigMap",
            "ServiceAccount",
            "LimitRange",
            "Pod",
            "ReplicaSet",
            "Endpoints",
            "Deployment",
            "Service",
            "HelmRelease",
            "ValidatingWebhookConfiguration",
            "APIService",
            "MutatingWebhookConfiguration",
        ]
    );
}

#[test]
fn objects_of_one_kind_stay_in_their_order() {
    let ordered = order(manifests(["b", "a", "c"].map(|name| object("v1", "Secret", None, name))));
    let names: Vec<String> = ordered.iter().map(|manifest| manifest.key().name).collect();
    assert_eq!(names, ["b", "a", "c"]);
}

#[test]
fn an_object_that_is_there_again_is_told_with_both_places() {
    let manifests = manifests([
        object("apps/v1", "Deployment", Some("a"), "x"),
        object("v1", "Secret", None, "x"),
        object("apps/v1beta1", "Deployment", Some("a"), "x"),
        object("apps/v1", "Deployment", Some("a"), "x"),
    ]);
    let sentences: Vec<String> = duplicates(&manifests).iter().map(ToString::to_string).collect();
    assert_eq!(
        sentences,
        [
            "Deployment `a/x` is there twice: in ConfigMap `flux`, key `flux.yaml`, document 1, \
             and in ConfigMap `flux`, key `flux.yaml`, document 3; remove one of them",
            "Deployment `a/x` is there twice: in ConfigMap `flux`, key `flux.yaml`, document 1, \
             and in ConfigMap `flux`, key `flux.yaml`, document 4; remove one of them",
        ]
    );
}

#[test]
fn no_namespace_is_the_namespace_default() {
    let given = object("v1", "Secret", Some("default"), "x");
    assert_eq!(duplicates(&manifests([object("v1", "Secret", None, "x"), given])).len(), 1);
}

#[test]
fn objects_that_differ_in_anything_are_not_the_same() {
    let manifests = manifests([
        object("apps/v1", "Deployment", Some("a"), "x"),
        object("apps/v1", "Deployment", Some("b"), "x"),
        object("apps/v1", "Deployment", Some("a"), "y"),
        object("apps/v1", "StatefulSet", Some("a"), "x"),
        object("example.com/v1", "Deployment", Some("a"), "x"),
    ]);
    assert_eq!(duplicates(&manifests), []);
}

#[test]
fn two_manifests_in_secrets_do_not_name_their_object() {
    let mut manifests = manifests([object("v1", "Secret", None, "x"), object("v1", "Secret", None, "x")]);
    for manifest in &mut manifests {
        manifest.place.kind = ResourceKind::Secret;
    }
    assert_eq!(
        duplicates(&manifests)[0].to_string(),
        "the same object is there twice: in Secret `flux`, key `flux.yaml`, document 1, \
         and in Secret `flux`, key `flux.yaml`, document 2; remove one of them"
    );
}
