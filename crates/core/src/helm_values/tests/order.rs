//! Who has the last word.

use rstest::rstest;

use super::*;

#[rstest]
#[case::two_paths(json!({}), &[("a", "x"), ("a", "y")], json!({ "a": "y" }))]
#[case::file_after_path(json!({}), &[("a", "x"), ("", "a: later")], json!({ "a": "later" }))]
#[case::path_after_file(json!({}), &[("", "a: {b: x, c: z}"), ("a.b", "y")], json!({ "a": { "b": "y", "c": "z" } }))]
#[case::later_file(json!({}), &[("", "a: {b: 1}"), ("", "a: {c: 2}")], json!({ "a": { "b": 1, "c": 2 } }))]
#[case::inline_after_file(json!({ "a": "x" }), &[("", "a: other")], json!({ "a": "x" }))]
#[case::inline_wins_at_the_top(json!({ "a": "x" }), &[("a", "y")], json!({ "a": "x" }))]
#[case::path_wins_below(json!({ "a": { "b": "x" } }), &[("a.b", "y")], json!({ "a": { "b": "y" } }))]
#[case::inline_wins_below_with_an_earlier_file(
    json!({ "a": { "b": "x" } }),
    &[("", "a: {c: z}"), ("a.b", "y")],
    json!({ "a": { "b": "x", "c": "z" } })
)]
#[case::inline_wins_over_the_second_path(
    json!({ "a": { "b": "x", "c": "x" } }),
    &[("a.b", "y"), ("a.c", "y")],
    json!({ "a": { "b": "y", "c": "x" } })
)]
#[case::path_wins_in_a_list(json!({ "a": ["x"] }), &[("a[0]", "y"), ("a[0]", "z")], json!({ "a": ["z"] }))]
#[case::inline_list_does_not_grow(json!({ "a": ["x"] }), &[("a[1]", "y")], json!({ "a": ["x"] }))]
#[case::path_makes_room_in_a_list(json!({ "a": ["x"] }), &[("a[0].b", "y")], json!({ "a": [{ "b": "y" }] }))]
#[case::what_is_no_mapping_is_passed_over(json!(["x"]), &[("a", "y")], json!({ "a": "y" }))]
fn values_come_in_the_order_of_flux(
    #[case] inline: Value,
    #[case] references: &[(&str, &str)],
    #[case] expected: Value,
) {
    let references: Vec<Reference> =
        references.iter().map(|(path, content)| reference(path, content)).collect();
    assert_eq!(values(&inline, &references), Ok(expected));
}

#[test]
fn what_may_be_missing_is_passed_over() {
    let optional = Reference { optional: true, ..reference("a", "x") };
    assert_eq!(preview(&json!({ "b": 1 }), &[optional], |_, _, _| None), Ok(json!({ "b": 1 })));
}
