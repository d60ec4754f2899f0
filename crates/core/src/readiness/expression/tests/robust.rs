//! No text and no object does harm.

use proptest::prelude::*;

use super::*;

const PIECES: [&str; 64] = [
    "self",
    ".status",
    ".a",
    "[0]",
    "['a']",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "?",
    "&&",
    "||",
    "!",
    "-",
    "+",
    "*",
    "/",
    "%",
    "==",
    "!=",
    "<",
    ">=",
    " in ",
    "true",
    "false",
    "null",
    "1",
    "0xff",
    "1u",
    "2.5",
    "9223372036854775807",
    "-9223372036854775808",
    "'a'",
    "\"b\"",
    "'",
    "r'\\'",
    "b'\\377'",
    "'\\u00e9'",
    "'''",
    "`a`",
    "é",
    " ",
    "\n",
    "//",
    "has(self.a)",
    "self.a.all(x, ",
    "self.a.exists(x, ",
    "self.a.map(x, ",
    "self.a.filter(x, ",
    "self.a.exists_one(x, ",
    "x",
    "size(",
    "string(",
    "int(",
    "double(",
    ".startsWith(",
    ".contains(",
    "type(",
    "{'a': 1}",
    "@result",
];

fn expression() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 1..24).prop_map(|pieces| pieces.concat())
}

/// Expressions that can be parsed, of any types.
fn sound() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(
        &[
            "self",
            "self.a",
            "self.status",
            "1",
            "0",
            "-1",
            "2.5",
            "1u",
            "'a'",
            "b'a'",
            "true",
            "null",
            "[]",
            "{}",
            "9223372036854775807",
            "(-9223372036854775807 - 1)",
            "int",
            "double('NaN')",
        ][..],
    );
    leaf.prop_map(ToOwned::to_owned).prop_recursive(4, 24, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            (two, prop::sample::select(&["+", "-", "*", "/", "%", "==", "<", ">=", " in ", "&&", "||"][..]))
                .prop_map(|((left, right), operator)| format!("({left}{operator}{right})")),
            (inner.clone(), prop::sample::select(&["!", "-"][..]))
                .prop_map(|(of, operator)| format!("{operator}({of})")),
            (
                inner.clone(),
                prop::sample::select(
                    &["size", "int", "uint", "double", "string", "bool", "bytes", "type", "dyn"][..]
                )
            )
                .prop_map(|(of, function)| format!("{function}({of})")),
            (inner.clone(), inner.clone(), prop::sample::select(&["contains", "startsWith", "endsWith"][..]))
                .prop_map(|(of, with, function)| format!("{of}.{function}({with})")),
            (
                inner.clone(),
                inner.clone(),
                prop::sample::select(&["all", "exists", "exists_one", "map", "filter"][..])
            )
                .prop_map(|(of, with, function)| format!("{of}.{function}(x, {with} == x)")),
            (inner.clone(), inner.clone()).prop_map(|(of, at)| format!("{of}[{at}]")),
            (inner.clone(), inner.clone()).prop_map(|(key, value)| format!("{{{key}: {value}}}")),
            (inner.clone(), inner.clone()).prop_map(|(one, two)| format!("[{one}, {two}]")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
            inner.prop_map(|of| format!("{of}.a")),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
    ];
    let tree = leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("a|b|status", inner, 0..4)
                .prop_map(|fields| fields.into_iter().collect()),
        ]
    });
    (tree.clone(), tree).prop_map(|(a, status)| json!({"a": a, "status": status}))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
        let _ = Expression::parse(&text);
    }

    #[test]
    fn any_pieces_are_read_or_refused_and_worked_out_or_not(text in expression(), object in object()) {
        let _ = evaluate(&text, &object);
    }

    #[test]
    fn any_sound_expression_is_worked_out_or_not(text in sound(), object in object()) {
        let expression = Expression::parse(&text);
        prop_assert!(expression.is_ok(), "{}: {:?}", text, expression);
        let _ = evaluate(&text, &object);
    }
}
