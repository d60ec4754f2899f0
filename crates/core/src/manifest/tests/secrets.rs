//! Nothing of a Secret shows.

use rstest::rstest;

use super::*;

const MARKER: &str = "MARKER";

#[rstest]
#[case::no_yaml("a: MARKER: b", "document 1, line 1: cannot be read as YAML; correct it there")]
#[case::no_quote_at_the_end("a: \"MARKER", "document 1, line 1: cannot be read as YAML; correct it there")]
#[case::unknown_alias("a: *MARKER", "document 1, line 1: cannot be read as YAML; correct it there")]
#[case::same_key_twice(
    "MARKER: 1\nMARKER: 2",
    "document 1, line 2: has the same key twice in one mapping; remove one of them"
)]
#[case::text(
    "MARKER",
    "document 1, line 1: is a text, not an object; write it with `apiVersion`, `kind` and `metadata`"
)]
#[case::name(
    "apiVersion: v1\nkind: Secret\nmetadata: {name: MARKER/x}",
    "document 1, line 1: has a `metadata.name` that cannot be a name; use letters, digits, hyphens and dots, 253 at most"
)]
#[case::kind(
    "apiVersion: v1\nkind: MARKER/x\nmetadata: {name: x}",
    "document 1, line 1: has a `kind` that is none; write it as for example `Deployment`"
)]
#[case::api_version(
    "apiVersion: MARKER\nkind: Secret\nmetadata: {name: x}",
    "document 1, line 1: has an `apiVersion` that is none; write it as for example `v1` or `apps/v1`"
)]
fn what_is_wrong_in_a_secret_is_told_without_its_content(#[case] text: &str, #[case] expected: &str) {
    let data = BTreeMap::from([("k".to_owned(), text)]);
    let problems = parse(ResourceKind::Secret, "s", &data).unwrap_err();
    assert_eq!(problems.to_string(), format!("Secret `s`, key `k`, {expected}"));
    assert!(!format!("{problems:?}").contains(MARKER));
}

#[test]
fn manifests_do_not_show_in_debug_output() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\nstringData: {a: MARKER}";
    let manifests = parse(ResourceKind::Secret, "s", &BTreeMap::from([("k".to_owned(), text)])).unwrap();
    assert!(!format!("{manifests:?}").contains(MARKER));
}
