//! Whole files of values.

use rstest::rstest;

use super::*;

#[rstest]
#[case::empty("", json!({}))]
#[case::comment("# nothing\n", json!({}))]
#[case::null("null", json!({}))]
#[case::mapping("a: {b: [1, x]}", json!({ "a": { "b": [1, "x"] } }))]
#[case::json("{\"a\": 1}", json!({ "a": 1 }))]
#[case::older_words("a: yes\nb: 0644\n", json!({ "a": true, "b": 420 }))]
#[case::first_document_only("a: 1\n---\nb: 2\n", json!({ "a": 1 }))]
#[case::key_twice("a: 1\na: 2\n", json!({ "a": 2 }))]
fn a_file_is_read_as_flux_reads_it(#[case] content: &str, #[case] expected: Value) {
    assert_eq!(values(&json!(null), &[reference("", content)]), Ok(expected));
}

#[rstest]
#[case::text(b"MARKER", FileFlaw::NotMapping)]
#[case::list(b"- MARKER", FileFlaw::NotMapping)]
#[case::number(b"123", FileFlaw::NotMapping)]
#[case::no_yaml(b"a: b: MARKER", FileFlaw::NotYaml)]
#[case::no_text(b"a: MARKER\xff", FileFlaw::NotText)]
fn a_file_that_is_none_is_told_without_repeating_it(#[case] content: &[u8], #[case] expected: FileFlaw) {
    let problem = preview(&json!({}), &[reference("", "k")], |_, _, _| Some(Cow::Borrowed(content)));
    let problem = problem.unwrap_err();
    assert_eq!(
        problem.to_string(),
        format!(
            "the key `k` of Secret `values` {expected}; write a mapping there, or add a targetPath to put the value at"
        )
    );
}

#[test]
fn aliases_do_not_make_much_of_little() {
    let lines =
        (1..20).map(|number| format!("a{number}: &a{number} [*a{0}, *a{0}, *a{0}, *a{0}]\n", number - 1));
    let file = format!("a0: &a0 [x, x, x, x]\n{}", lines.collect::<String>());
    assert!(matches!(values(&json!({}), &[reference("", &file)]), Err(Problem::File { .. })));
}
