//! What cannot be brought to a cluster, and what is said of it.

use rstest::rstest;

use super::*;

#[rstest]
#[case::a_text("just text", "is a text, not an object; write it with `apiVersion`, `kind` and `metadata`")]
#[case::a_number("42", "is a number, not an object; write it with `apiVersion`, `kind` and `metadata`")]
#[case::a_truth_value(
    "yes",
    "is a truth value, not an object; write it with `apiVersion`, `kind` and `metadata`"
)]
#[case::no_api_version(
    "kind: Pod\nmetadata: {name: a}",
    "has no `apiVersion`; write it, for example `apps/v1`"
)]
#[case::empty_api_version(
    "apiVersion: ''\nkind: Pod\nmetadata: {name: a}",
    "has no `apiVersion`; write it, for example `apps/v1`"
)]
#[case::number_as_api_version(
    "apiVersion: 1\nkind: Pod\nmetadata: {name: a}",
    "`apiVersion` is a number, not a text; put it in quotes"
)]
#[case::api_version_that_climbs(
    "apiVersion: ../../api/v1\nkind: Pod\nmetadata: {name: a}",
    "has an `apiVersion` `../../api/v1` that is none; write it as for example `v1` or `apps/v1`"
)]
#[case::api_version_of_three_parts(
    "apiVersion: apps/v1/pods\nkind: Pod\nmetadata: {name: a}",
    "has an `apiVersion` `apps/v1/pods` that is none; write it as for example `v1` or `apps/v1`"
)]
#[case::no_kind("apiVersion: v1\nmetadata: {name: a}", "has no `kind`; write it, for example `Deployment`")]
#[case::list_as_kind(
    "apiVersion: v1\nkind: [Pod]\nmetadata: {name: a}",
    "`kind` is a list, not a text; put it in quotes"
)]
#[case::kind_with_a_slash(
    "apiVersion: v1\nkind: pods/x\nmetadata: {name: a}",
    "has a `kind` `pods/x` that is none; write it as for example `Deployment`"
)]
#[case::no_metadata(
    "apiVersion: v1\nkind: Pod",
    "has no `metadata.name`; write it, for example `name: demo` below `metadata:`"
)]
#[case::name_that_is_not_indented(
    "apiVersion: v1\nkind: Pod\nmetadata:\nname: a",
    "has no `metadata.name`; write it, for example `name: demo` below `metadata:`"
)]
#[case::metadata_is_a_list(
    "apiVersion: v1\nkind: Pod\nmetadata:\n- name: a",
    "`metadata` is a list, not a mapping; write `metadata:` and below it `name: …`, indented"
)]
#[case::generated_name(
    "apiVersion: batch/v1\nkind: Job\nmetadata:\n  generateName: check-",
    "has `metadata.generateName` and no `metadata.name`, and every delivery would make one more object; write a name"
)]
#[case::name_is_a_number(
    "apiVersion: v1\nkind: Pod\nmetadata: {name: 1234}",
    "`metadata.name` is a number, not a text; put it in quotes"
)]
#[case::name_is_a_word_of_yaml(
    "apiVersion: v1\nkind: Pod\nmetadata: {name: on}",
    "`metadata.name` is a truth value, not a text; put it in quotes"
)]
#[case::name_with_a_slash(
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a/b}",
    "has a `metadata.name` `a/b` that cannot be a name; use letters, digits, hyphens and dots, 253 at most"
)]
#[case::name_that_climbs(
    "apiVersion: v1\nkind: Pod\nmetadata: {name: ..}",
    "has a `metadata.name` `..` that cannot be a name; use letters, digits, hyphens and dots, 253 at most"
)]
#[case::name_with_a_percent_sign(
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a%2fb}",
    "has a `metadata.name` `a%2fb` that cannot be a name; use letters, digits, hyphens and dots, 253 at most"
)]
#[case::name_with_a_query(
    "apiVersion: v1\nkind: Pod\nmetadata: {name: 'a?force=true'}",
    "has a `metadata.name` `a?force=true` that cannot be a name; use letters, digits, hyphens and dots, 253 at most"
)]
#[case::name_with_a_line_break(
    "apiVersion: v1\nkind: Pod\nmetadata: {name: \"a\\nb`c\"}",
    "has a `metadata.name` `a?b'c` that cannot be a name; use letters, digits, hyphens and dots, 253 at most"
)]
#[case::namespace_with_a_slash(
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: a/b}",
    "has a `metadata.namespace` `a/b` that cannot be a name; use letters, digits, hyphens and dots, 253 at most"
)]
#[case::namespace_is_a_number(
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: 7}",
    "`metadata.namespace` is a number, not a text; put it in quotes"
)]
#[case::list_without_items(
    "apiVersion: v1\nkind: List",
    "is a List without `items`; write the objects there"
)]
#[case::items_are_a_mapping(
    "apiVersion: v1\nkind: List\nitems: {a: b}",
    "`items` is a mapping, not a list; write each item with a dash"
)]
fn what_is_no_object_is_told_with_its_document(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(sentences(text), [format!("document 1, line 1: {expected}")]);
}

#[rstest]
#[case::tab("a: 1\n\tb: 2\n", 6, "at `a: 1` (while scanning a plain scalar, found a tab)")]
#[case::colon_in_a_value("a: b: c\n", 6, "at `a: b: c` (mapping values are not allowed in this context)")]
#[case::open_bracket("a: [1, 2\nb: 3\n", 7, "at `b: 3` (illegal placement of ':' indicator)")]
#[case::open_quote("a: \"b\n", 7, "(invalid indentation in multiline quoted scalar)")]
#[case::two_keys_at_odds(
    "a:\n  b: 1\n c: 2\n",
    8,
    "at `c: 2` (while parsing a block mapping, did not find expected key)"
)]
#[case::unknown_alias("a: *nobody\n", 6, "at `a: *nobody` (reference to unknown value)")]
#[case::two_documents_of_json(
    "{\"a\": 1}\n{\"b\": 2}\n",
    7,
    "at `{\"b\": 2}` (did not find expected <document start>)"
)]
#[case::endless_json(
    "[{\"apiVersion\": \"v1\",\n",
    6,
    "at `[{\"apiVersion\": \"v1\",` (unclosed bracket '{')"
)]
#[case::infinity("a: .inf\n", 6, "at `a: .inf` (value '.inf' is not a finite number)")]
#[case::template("a: {{ .Values.name }}\n", 6, "at `a: {{ .Values.name }}` (expected string scalar)")]
#[case::control_character("a: \u{1}\n", 6, "at `a: ?` (unexpected character: '\\u{1}')")]
#[case::directive_without_a_document(
    "%YAML 1.2\na: b\n",
    6,
    "at `%YAML 1.2` (missing explicit document end marker before directive)"
)]
fn what_is_no_yaml_is_told_with_its_line(#[case] text: &str, #[case] line: usize, #[case] what: &str) {
    assert_eq!(
        sentences(format!("{}---\n{text}", named("first"))),
        [format!("document 2, line {line}: cannot be read as YAML {what}; correct it there")]
    );
}

#[test]
fn a_key_that_is_there_twice_is_told_where_it_is_there_again() {
    let text = format!("---\n{}data:\n  a: b\n  c: d\n  a: e\n", named("first"));
    let expected = "document 1, line 9: has the same key `a` twice in one mapping; remove one of them";
    assert_eq!(sentences(text), [expected]);
}

#[test]
fn one_broken_document_of_five_hides_none_of_the_others() {
    let text = [
        &named("one"),
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: two\ndata:\n  a: b: c\n",
        &named("three"),
        "kind: ConfigMap\nmetadata:\n  name: a/b\n",
        &named("five"),
    ];
    assert_eq!(
        sentences(text.join("---\n")),
        [
            "document 2, line 11: cannot be read as YAML at `a: b: c` \
             (mapping values are not allowed in this context); correct it there",
            "document 4, line 18: has no `apiVersion`; write it, for example `apps/v1`",
            "document 4, line 18: has a `metadata.name` `a/b` that cannot be a name; \
             use letters, digits, hyphens and dots, 253 at most",
        ]
    );
}

#[test]
fn every_key_is_read_even_if_another_is_broken() {
    let data = BTreeMap::from([
        ("a.yaml".to_owned(), b"a: b: c".to_vec()),
        ("b.yaml".to_owned(), vec![0xff, 0xfe]),
        ("c.yaml".to_owned(), b"kind: Pod\napiVersion: v1\n".to_vec()),
    ]);
    let problems = parse(ResourceKind::ConfigMap, "flux", &data).unwrap_err();
    assert_eq!(
        problems.to_string(),
        "ConfigMap `flux`, key `a.yaml`, document 1, line 1: cannot be read as YAML at `a: b: c` \
         (mapping values are not allowed in this context); correct it there. \
         ConfigMap `flux`, key `b.yaml`: is not UTF-8 text; give manifests as YAML or JSON. \
         ConfigMap `flux`, key `c.yaml`, document 1, line 1: \
         has no `metadata.name`; write it, for example `name: demo` below `metadata:`"
    );
}

#[test]
fn what_nobody_reads_to_its_end_is_counted() {
    let problems = read("just text\n---\n".repeat(25)).unwrap_err();
    assert_eq!(problems.all().len(), 25);
    assert!(problems.to_string().ends_with(". And 5 more"), "{problems}");
}
