//! What holds for every value that Flux reads.

use std::borrow::Cow;

use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;

use super::super::target_path::quoted;
use super::release;
use crate::helm_values::{effect, preview};

/// What Flux makes of the value, if it is a text.
fn flux(value: &str, literal: bool) -> Option<String> {
    let reference = release("a", Some("x"), literal).references.remove(0);
    let result = preview(&json!({}), &[reference], |_, _, _| Some(Cow::Borrowed(value.as_bytes()))).ok()?;
    result.as_object().filter(|values| values.len() == 1)?["x"].as_str().map(str::to_owned)
}

/// What real Flux was seen to do.
#[rstest]
#[case::arn("arn:aws:iam::1234:role/x", true)]
#[case::account("123456789012", false)]
#[case::leading_zero("012345678901", true)]
#[case::zero("0", false)]
#[case::zeros("00", true)]
#[case::negative("-5", false)]
#[case::positive("+5", false)]
#[case::negative_zero("-0", false)]
#[case::sign("-", true)]
#[case::larger_than_a_number_can_be("9223372036854775808", true)]
#[case::largest_number("9223372036854775807", false)]
#[case::fraction("1.31", true)]
#[case::exponent("1e3", true)]
#[case::lower_true("true", false)]
#[case::upper_false("FALSE", false)]
#[case::null("null", false)]
#[case::long_s("falſe", false)]
#[case::truth("truth", true)]
#[case::quoted("\"123\"", false)]
#[case::quoted_singly("'a'", false)]
#[case::one_quote("\"", false)]
#[case::quotes_that_differ("\"a'", true)]
#[case::quote_at_one_end("'a", true)]
#[case::comma("a,b", false)]
#[case::injection("a,evil.x=1", false)]
#[case::escaped_comma("a\\,b", false)]
#[case::list("{a,b}", false)]
#[case::open_brace("{", false)]
#[case::brace_inside("a{b}", true)]
#[case::json_list("[\"a\",\"b\"]", false)]
#[case::json_list_of_one("[\"a\"]", true)]
#[case::json_mapping("{\"a\": 1}", false)]
#[case::empty("", true)]
#[case::backslash("a\\b", false)]
#[case::base64("a=b==", true)]
#[case::url("https://a.example.com:443/x?y=z", true)]
#[case::blanks(" true ", true)]
fn values_that_come_through_are_told_from_those_that_do_not(#[case] value: &str, #[case] expected: bool) {
    assert_eq!(effect(value).is_none(), expected);
    assert_eq!(flux(value, false).as_deref() == Some(value), expected);
}

fn value() -> impl Strategy<Value = String> {
    let awkward = vec![
        "\"", "'", "\\", ",", "{", "}", "[", "]", "=", ".", "0", "1", "-", "true", "FALSE", "null", "a", " ",
        "\n", "ſ", "é",
    ];
    let piece = prop_oneof![
        6 => prop::sample::select(awkward).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_value_has_no_effect_but_itself_exactly_if_flux_gives_it_back(value in value()) {
        prop_assert_eq!(effect(&value).is_none(), flux(&value, false) == Some(value));
    }

    #[test]
    fn every_value_in_quotes_comes_back_as_it_was(value in value()) {
        prop_assert_eq!(flux(&quoted(&value), false), Some(value));
    }

    #[test]
    fn every_value_comes_back_as_it_was_where_flux_is_told_that_it_is_literal(value in value()) {
        prop_assert_eq!(flux(&value, true), Some(value));
    }
}
