//! Names of objects, digests of data, and what is not applied.

use rstest::rstest;
use serde_json::json;

use super::*;

#[rstest]
#[case::in_a_namespace(
    json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "b", "namespace": "a" } }),
    "Deployment `a/b`",
    "apps"
)]
#[case::without_a_namespace(
    json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "b" } }),
    "Namespace `b`",
    ""
)]
#[case::with_an_empty_namespace(
    json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "b", "namespace": "" } }),
    "Secret `b`",
    ""
)]
#[case::nothing_at_all(json!(null), " ``", "")]
fn objects_are_named_as_people_name_them(#[case] object: Value, #[case] name: &str, #[case] group: &str) {
    let key = ObjectKey::of(&object);
    assert_eq!((key.to_string().as_str(), key.group()), (name, group));
}

#[test]
fn a_key_is_read_as_it_was_written() {
    let key = ObjectKey {
        api_version: "apps/v1".to_owned(),
        kind: "Deployment".to_owned(),
        namespace: None,
        name: "b".to_owned(),
    };
    let written = serde_json::to_value(&key).unwrap();
    assert_eq!(written, json!({ "apiVersion": "apps/v1", "kind": "Deployment", "name": "b" }));
    assert_eq!(serde_json::from_value::<ObjectKey>(written).unwrap(), key);
}

/// Digests that `sha256sum` gives for the same bytes.
#[rstest]
#[case::nothing(&[], "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")]
#[case::values_in_the_order_of_keys(
    &[("b", "c"), ("a", "ab")],
    "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
)]
#[case::keys_do_not_count(
    &[("x", "abc")],
    "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
)]
fn the_digest_is_that_of_cluster_api(#[case] data: &[(&str, &str)], #[case] expected: &str) {
    let data: BTreeMap<String, &str> = data.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect();
    assert_eq!(hash(&data), expected);
}

#[test]
fn what_an_api_server_wrote_is_not_applied() {
    let mut object = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "a",
            "uid": "1",
            "resourceVersion": "2",
            "generation": 3,
            "creationTimestamp": null,
            "managedFields": [],
            "selfLink": "/",
            "labels": { "uid": "stays" },
            "finalizers": ["stays"],
        },
        "spec": { "status": "stays" },
        "status": { "phase": "Running" },
    });
    strip(&mut object);
    assert_eq!(
        object,
        json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": { "name": "a", "labels": { "uid": "stays" }, "finalizers": ["stays"] },
            "spec": { "status": "stays" },
        })
    );
}

#[rstest]
#[case::nothing(json!(null))]
#[case::list(json!(["status"]))]
#[case::odd_metadata(json!({ "metadata": "uid" }))]
fn odd_objects_are_left_as_they_are(#[case] object: Value) {
    let mut stripped = object.clone();
    strip(&mut stripped);
    assert_eq!(stripped, object);
}
