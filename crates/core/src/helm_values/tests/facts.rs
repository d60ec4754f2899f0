//! What real Flux was seen to do with single values.

use rstest::rstest;

use super::*;

#[rstest]
#[case::arn(
    r"serviceAccount.annotations.eks\.amazonaws\.com/role-arn",
    "arn:aws:iam::1234:role/x",
    json!({ "serviceAccount": { "annotations": { "eks.amazonaws.com/role-arn": "arn:aws:iam::1234:role/x" } } })
)]
#[case::index("a[1].b", "x", json!({ "a": [null, { "b": "x" }] }))]
#[case::account("v", "123456789012", json!({ "v": 123_456_789_012_i64 }))]
#[case::leading_zero("v", "012345678901", json!({ "v": "012345678901" }))]
#[case::fraction("v", "1.31", json!({ "v": "1.31" }))]
#[case::truth("v", "true", json!({ "v": true }))]
#[case::capital_falsehood("v", "FALSE", json!({ "v": false }))]
#[case::long_s("v", "falſe", json!({ "v": false }))]
#[case::null("v", "null", json!({ "v": null }))]
#[case::quoted("v", "\"123\"", json!({ "v": "123" }))]
#[case::injection("v", "a,evil.x=1", json!({ "v": "a", "evil": { "x": 1 } }))]
#[case::escaped_comma("v", r"a\,b", json!({ "v": "a,b" }))]
#[case::list("v", "{a,b}", json!({ "v": ["a", "b"] }))]
#[case::typed_list("v", "{1,true,x}", json!({ "v": [1, true, "x"] }))]
#[case::empty_list("v", "{}", json!({ "v": [""] }))]
#[case::json_list_of_one("v", "[\"a\"]", json!({ "v": "[\"a\"]" }))]
#[case::line_break("v", "abc\n", json!({ "v": "abc\n" }))]
#[case::empty("v", "", json!({ "v": "" }))]
#[case::backslash("v", r"a\b", json!({ "v": "ab" }))]
#[case::base64("v", "a=b==", json!({ "v": "a=b==" }))]
#[case::comma_at_the_end("v", "a,", json!({ "v": "a" }))]
#[case::one_quote("v", "\"", json!({ "v": "" }))]
#[case::quotes_of_two_kinds("v", "\"'a'\"", json!({ "v": "a" }))]
#[case::quoted_list("v", "'{1}'", json!({ "v": ["1"] }))]
fn a_value_becomes_what_flux_makes_of_it(#[case] path: &str, #[case] value: &str, #[case] expected: Value) {
    assert_eq!(values(&json!({}), &[reference(path, value)]), Ok(expected));
}

#[rstest]
#[case::number("123")]
#[case::truth("true")]
#[case::comma("a,b")]
#[case::everything(r#"{"a": [1, 2]}\"#)]
#[case::quoted("'a'")]
#[case::empty("")]
fn a_literal_value_stays_as_it_is(#[case] value: &str) {
    assert_eq!(values(&json!({}), &[literal("a.b", value)]), Ok(json!({ "a": { "b": value } })));
}

/// Helm leaves these out without a word.
#[rstest]
#[case::dot_first(".v", "x", json!({}))]
#[case::index_first("[0]", "x", json!({}))]
#[case::dot_after_index("v[0].", "x", json!({ "v": [{}] }))]
#[case::nothing_for_a_key_in_a_list("v[0].a", "", json!({ "v": [] }))]
#[case::open_index("v", "a,b[1", json!({ "v": "a" }))]
#[case::index_without_value("v", "a,b[1]", json!({ "v": "a", "b": [] }))]
#[case::dot_without_value("v", "a,b.=", json!({ "v": "a" }))]
fn what_helm_loses_is_lost(#[case] path: &str, #[case] value: &str, #[case] expected: Value) {
    assert_eq!(values(&json!({}), &[reference(path, value)]), Ok(expected));
}

#[test]
fn bytes_that_are_no_text_are_one_character_each() {
    let found = preview(&json!({}), &[reference("v", "x")], |_, _, _| Some(Cow::Borrowed(b"a\xe2\x82z")));
    assert_eq!(found, Ok(json!({ "v": "a\u{fffd}\u{fffd}z" })));
}

/// Flux reads them as floats, and a path as a whole number.
#[test]
fn numbers_are_those_of_flux() {
    let large = 9_007_199_254_740_993_i64;
    let found = values(&json!({ "inline": large, "two": 2.0 }), &[reference("set", "9007199254740993")]);
    assert_eq!(found, Ok(json!({ "inline": 9_007_199_254_740_992_i64, "two": 2, "set": large })));
}
