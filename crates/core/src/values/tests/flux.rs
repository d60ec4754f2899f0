//! A small model of how Flux reads a value, and what holds for every value.

use proptest::prelude::*;
use rstest::rstest;

use super::super::target_path::{quoted, survives};

/// What became of the value at the target path.
#[derive(Debug, PartialEq)]
enum Placed {
    /// This text.
    Text(String),
    /// A number, a truth value, nothing, or a list.
    Typed,
    /// More than one assignment, or an error.
    Astray,
}

/// A value in quotes is read as a text without the quotes at its ends; any other is read with types.
fn flux(value: &str) -> Placed {
    let between = |quote: char| value.starts_with(quote) && value.ends_with(quote);
    if between('"') || between('\'') {
        helm(value.trim_matches(['"', '\'']), false)
    } else {
        helm(value, true)
    }
}

/// What `literal: true` does: everything that means something is escaped first.
fn flux_literal(value: &str) -> Placed {
    let mut escaped = String::new();
    for character in value.chars() {
        if "\\,[]{}".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    helm(&escaped, false)
}

/// `helm --set path=value`.
fn helm(value: &str, typed: bool) -> Placed {
    if value.starts_with('{') {
        return Placed::Typed;
    }
    let mut text = String::new();
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            ',' if characters.as_str().is_empty() => break,
            ',' => return Placed::Astray,
            '\\' => text.extend(characters.next()),
            other => text.push(other),
        }
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(&text);
    let number = text == "0" || !text.starts_with('0') && !digits.is_empty() && text.parse::<i64>().is_ok();
    let word = ["true", "false", "null", "falſe"].contains(&text.to_lowercase().as_str());
    if typed && (number || word) { Placed::Typed } else { Placed::Text(text) }
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
    assert_eq!(survives(value), expected);
    assert_eq!(flux(value) == Placed::Text(value.to_owned()), expected);
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
    fn a_value_survives_exactly_if_flux_gives_it_back(value in value()) {
        prop_assert_eq!(survives(&value), flux(&value) == Placed::Text(value.clone()));
    }

    #[test]
    fn every_value_in_quotes_comes_back_as_it_was(value in value()) {
        prop_assert_eq!(flux(&quoted(&value)), Placed::Text(value));
    }

    #[test]
    fn every_value_comes_back_as_it_was_where_flux_is_told_that_it_is_literal(value in value()) {
        prop_assert_eq!(flux_literal(&value), Placed::Text(value));
    }
}
