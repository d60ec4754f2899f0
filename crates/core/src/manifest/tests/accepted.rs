//! What real manifests look like.

use rstest::rstest;
use serde_json::json;

use super::*;

#[test]
fn keys_are_read_in_order_and_documents_in_theirs() {
    let data = BTreeMap::from([
        ("10-second.yaml".to_owned(), format!("{}---\n{}", named("b"), named("c"))),
        ("00-first.yaml".to_owned(), named("a")),
    ]);
    let manifests = parse(ResourceKind::ConfigMap, "flux", &data).unwrap();
    let places: Vec<String> =
        manifests.iter().map(|manifest| format!("{} in {}", manifest.key(), manifest.place)).collect();
    assert_eq!(
        places,
        [
            "ConfigMap `a` in ConfigMap `flux`, key `00-first.yaml`, document 1",
            "ConfigMap `b` in ConfigMap `flux`, key `10-second.yaml`, document 1",
            "ConfigMap `c` in ConfigMap `flux`, key `10-second.yaml`, document 2",
        ]
    );
}

/// Cluster API fails with "EOF" on anything shorter than 32 bytes.
#[rstest]
#[case::nothing("")]
#[case::blanks(" \n\t\n")]
#[case::a_comment("# later")]
#[case::a_marker("---")]
#[case::markers("---\n---\n# nothing\n---\n...\n")]
#[case::a_directive_and_a_marker("%YAML 1.1\n---\n")]
#[case::null("null")]
#[case::tilde("---\n~\n")]
#[case::empty_list("[]")]
#[case::list_of_nothing("kind: List\napiVersion: v1\nitems: []")]
#[case::list_of_nothing_as_go_writes_it("kind: List\napiVersion: v1\nitems: null")]
fn nothing_is_no_problem(#[case] text: &str) {
    assert_eq!(objects(text), Vec::<Value>::new());
}

#[rstest]
#[case::with_its_document("---\n{}")]
#[case::with_a_comment_at_the_marker("--- # Source: chart\n{}")]
#[case::after_a_comment("# Copyright\n\n---\n{}")]
#[case::after_a_directive("%YAML 1.1\n---\n{}")]
#[case::after_a_tag_directive("%TAG !e! tag:example.com,2000:\n---\n{}")]
#[case::with_an_end("---\n{}...\n")]
#[case::with_an_end_and_a_directive("{}...\n%YAML 1.2\n---\n# nothing\n")]
#[case::with_a_marker_after_it("{}---")]
#[case::after_a_byte_order_mark("\u{feff}{}")]
#[case::after_a_byte_order_mark_and_a_marker("\u{feff}---\n{}")]
#[case::after_a_byte_order_mark_of_a_joined_file("# first\n\u{feff}---\n{}")]
#[case::after_a_byte_order_mark_below_the_marker("---\n\u{feff}{}")]
fn markers_and_marks_around_a_document_are_no_part_of_it(#[case] around: &str) {
    let expected = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" } });
    let text = around.replace("{}", &named("a"));
    for line_break in ["\n", "\r\n", "\r"] {
        assert_eq!(objects(text.replace('\n', line_break)), std::slice::from_ref(&expected));
    }
}

#[test]
fn content_may_follow_the_marker_in_its_line() {
    let text = "--- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n--- {apiVersion: v1, kind: Pod, metadata: {name: b}}";
    let names: Vec<_> = read(text).unwrap().iter().map(|manifest| manifest.key().name).collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn markers_inside_of_texts_are_text() {
    let text = format!("{}data:\n  a.yaml: |\n    b: 1\n    ---\n    ...\n    c: 2\n  d: ---e\n", named("a"));
    let data = json!({ "a.yaml": "b: 1\n---\n...\nc: 2\n", "d": "---e" });
    assert_eq!(objects(text)[0]["data"], data);
}

/// What kubectl would send, so that it is the same object whoever delivers it.
#[rstest]
#[case::octal("0644", json!(420))]
#[case::octal_of_today("0o644", json!(420))]
#[case::hexadecimal("0x1F", json!(31))]
#[case::underscores("1_000", json!(1000))]
#[case::yes("yes", json!(true))]
#[case::off("off", json!(false))]
#[case::quoted("'0644'", json!("0644"))]
#[case::quoted_word("\"yes\"", json!("yes"))]
#[case::nothing("", json!(null))]
#[case::version("1.10", json!(1.1))]
#[case::three_numbers("1.10.0", json!("1.10.0"))]
#[case::a_time("12:30:45", json!("12:30:45"))]
#[case::a_date("2026-11-15", json!("2026-11-15"))]
#[case::large("9007199254740993", json!(9_007_199_254_740_993_u64))]
#[case::placeholder("${CLUSTER_NAME}", json!("${CLUSTER_NAME}"))]
#[case::folded(">-\n    a\n    b", json!("a b"))]
fn values_are_read_as_kubernetes_reads_them(#[case] text: &str, #[case] expected: Value) {
    assert_eq!(objects(format!("{}data:\n  a: {text}\n", named("a")))[0]["data"]["a"], expected);
}

#[test]
fn aliases_are_what_they_stand_for() {
    let text = format!(
        "{}spec:\n  a: &labels {{app: x}}\n  b: *labels\n  c:\n    <<: *labels\n    more: z\n",
        named("a")
    );
    let spec = json!({ "a": { "app": "x" }, "b": { "app": "x" }, "c": { "app": "x", "more": "z" } });
    assert_eq!(objects(text)[0]["spec"], spec);
}

#[rstest]
#[case::plain(r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}"#)]
#[case::with_tabs(
    "{\n\t\"apiVersion\": \"v1\",\n\t\"kind\": \"Pod\",\n\t\"metadata\": {\n\t\t\"name\": \"a\"\n\t}\n}\n"
)]
#[case::with_tabs_after_a_marker(
    "---\n{\n\t\"apiVersion\": \"v1\",\n\t\"kind\": \"Pod\",\n\t\"metadata\": {\"name\": \"a\"}}\n"
)]
#[case::in_a_list(r#"[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}]"#)]
fn json_is_read_too(#[case] text: &str) {
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "a" } });
    assert_eq!(objects(text), [pod]);
}

#[test]
fn json_keeps_characters_that_it_has_to_escape() {
    let text = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"x":"\ud83d\ude00 \/ \u00e9"}"#;
    assert_eq!(objects(text)[0]["x"], "😀 / é");
}

#[rstest]
#[case::role("system:controller:x")]
#[case::person("admin@example.com")]
#[case::upper_case("Admin")]
#[case::placeholder("${CLUSTER_NAME}-karpenter")]
fn names_may_be_all_that_leads_nowhere_else(#[case] name: &str) {
    let text = format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: \"{name}\"}}\n"
    );
    assert_eq!(read(text).unwrap()[0].key().name, name);
}
