//! Documents that hold several objects.

use rstest::rstest;
use serde_json::json;

use super::*;

/// Each object with the item that it is.
fn items(text: &str) -> Vec<(Option<usize>, String)> {
    read(text).unwrap().iter().map(|manifest| (manifest.place.item, manifest.key().to_string())).collect()
}

#[rstest]
#[case::list(
    "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n- {apiVersion: v1, kind: Pod, metadata: {name: b}}"
)]
#[case::array_of_json(r#"[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}},{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}}]"#)]
#[case::list_of_one_kind(
    "apiVersion: v1\nkind: PodList\nmetadata: {resourceVersion: '7'}\nitems:\n- metadata: {name: a}\n- metadata: {name: b}"
)]
fn each_item_is_a_manifest_with_its_number(#[case] text: &str) {
    assert_eq!(items(text), [(Some(1), "Pod `a`".to_owned()), (Some(2), "Pod `b`".to_owned())]);
}

#[test]
fn lists_in_lists_are_taken_apart_to_the_end() {
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "a" } });
    let inner = json!({ "apiVersion": "v1", "kind": "List", "items": [pod.clone(), [pod.clone()]] });
    let outer = json!({ "apiVersion": "v1", "kind": "List", "items": [pod, inner] });
    let numbers: Vec<_> = items(&outer.to_string()).into_iter().map(|(item, _)| item).collect();
    assert_eq!(numbers, [Some(1), Some(2), Some(2)]);
}

#[test]
fn a_kind_of_somebodys_own_may_be_called_a_list() {
    let text = "apiVersion: example.com/v1\nkind: AccessList\nmetadata: {name: a}\nspec: {items: [b]}";
    assert_eq!(items(text), [(None, "AccessList `a`".to_owned())]);
}

#[test]
fn an_item_of_one_kind_may_be_of_another() {
    let text = "apiVersion: apps/v1\nkind: DeploymentList\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}";
    assert_eq!(items(text), [(Some(1), "Pod `a`".to_owned())]);
}

/// Cluster API passes over a broken list of JSON and says that it was applied.
#[test]
fn a_broken_list_of_json_is_a_problem() {
    let text = r#"[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}, {"#;
    assert!(read(text).is_err());
}

#[test]
fn every_broken_item_is_told_with_its_number() {
    let text = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod}\n- null\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n- text\n";
    assert_eq!(
        sentences(text),
        [
            "document 1, item 1: has no `metadata.name`; write it, for example `name: demo` below `metadata:`",
            "document 1, item 2: is nothing, not an object; write it with `apiVersion`, `kind` and `metadata`",
            "document 1, item 4: is a text, not an object; write it with `apiVersion`, `kind` and `metadata`",
        ]
    );
}
