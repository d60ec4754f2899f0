//! What Flux refuses, and what nobody means.

use rstest::rstest;

use super::*;

#[rstest]
#[case::name_without_value("v", "a,MARKER", Flaw::NoValue)]
#[case::json_list("v", "[\"a\",\"MARKER\"]", Flaw::NoValue)]
#[case::equals_sign_escaped(r"v\", "MARKER", Flaw::NoValue)]
#[case::comma_in_path("v,w", "MARKER", Flaw::NoValue)]
#[case::nothing_between_dots("v..w", "MARKER", Flaw::NoName)]
#[case::dot_at_the_end("v.", "MARKER", Flaw::NoName)]
#[case::no_number("v[x]", "MARKER", Flaw::Index)]
#[case::negative("v[-1]", "MARKER", Flaw::Index)]
#[case::too_large("v[65537]", "MARKER", Flaw::Index)]
#[case::larger_than_numbers_are("v[9223372036854775808]", "MARKER", Flaw::Index)]
#[case::after_index("v[0]w", "MARKER", Flaw::AfterIndex)]
#[case::open_list("v", "{MARKER", Flaw::OpenList)]
#[case::through_a_text("text.b", "MARKER", Flaw::NotMapping)]
#[case::through_null("null.b", "MARKER", Flaw::NotMapping)]
#[case::through_a_list("list.b", "MARKER", Flaw::NotMapping)]
#[case::index_of_a_text("text[0]", "MARKER", Flaw::NotList)]
#[case::index_of_an_item("list[0][0]", "MARKER", Flaw::NotList)]
#[case::by_injection("v", "a,v.b=MARKER", Flaw::NotMapping)]
fn what_helm_refuses_is_refused_without_repeating_it(
    #[case] path: &str,
    #[case] value: &str,
    #[case] expected: Flaw,
) {
    let inline = json!({ "text": "MARKER", "list": ["MARKER"], "null": null });
    let content = |_, _: &str, _: &str| Some(Cow::Borrowed(value.as_bytes()));
    let problem = preview(&inline, &[reference(path, "k")], content).unwrap_err();
    assert!(matches!(&problem, Problem::Path { flaw, .. } if *flaw == expected), "{problem:?}");
    assert!(!format!("{problem} {problem:?}").contains("MARKER"), "{problem:?}");
}

#[rstest]
#[case::thirty(30, true)]
#[case::one_more(31, false)]
fn a_path_has_at_most_thirty_dots(#[case] dots: usize, #[case] taken: bool) {
    let path = vec!["a"; dots + 1].join(".");
    assert_eq!(values(&json!({}), &[reference(&path, "x")]).is_ok(), taken);
}

#[test]
fn what_is_missing_is_told_with_its_name_and_key() {
    let problem = preview(&json!({}), &[reference("a", "role_arn")], |_, _, _| None).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "Secret `values` has no key `role_arn`, or does not exist; add it, or write `optional: true` beside the reference"
    );
}

#[test]
fn a_path_that_cannot_be_set_is_told() {
    let found =
        preview(&json!({ "a": 1 }), &[reference("a.b", "k")], |_, _, _| Some(Cow::Borrowed(b"MARKER")));
    assert_eq!(
        found.unwrap_err().to_string(),
        "the targetPath `a.b` with the value of the key `k` of Secret `values` runs through something that is not a \
         mapping; correct the path, or write `literal: true` if it is the value"
    );
}

#[rstest]
#[case::indexes_in_each_other(format!("x,a{}=1", "[0]".repeat(100_000)))]
#[case::indexes_and_names(format!("x,a{}=1", "[0].b".repeat(100_000)))]
#[case::large_lists(numbered(10_000, |number| format!("a{number}[65536]=1")))]
#[case::a_growing_list(numbered(60_000, |number| format!("a[{number}]=1")))]
fn a_hostile_value_costs_little(#[case] value: String) {
    let found = preview(&json!({}), &[reference("v", "k")], |_, _, _| Some(Cow::Borrowed(value.as_bytes())));
    assert!(matches!(found, Err(Problem::Path { flaw: Flaw::Limit(_), .. })));
}

fn numbered(count: usize, assignment: impl Fn(usize) -> String) -> String {
    (0..count).map(assignment).collect::<Vec<_>>().join(",")
}

#[test]
fn values_that_are_too_deep_are_refused() {
    let deep = (0..1_000).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(values(&json!({ "a": deep }), &[]), Err(Problem::Limit(Limit::Deep)));
}

#[test]
fn many_references_to_much_are_refused_in_time() {
    let inline: Value = (0..20_000).map(|number| (format!("k{number}"), json!({ "a": 1 }))).collect();
    let references = vec![reference("k1.b", "x"); 1_000];
    assert_eq!(values(&inline, &references), Err(Problem::Limit(Limit::Large)));
}
