//! Pieces of cases: paths, values and trees that have to do with each other, and what is hostile to readers of them.

use fastrand::Rng;
use serde_json::{Map, Value, json};

/// So few that paths and trees meet.
const KEYS: [&str; 9] = ["a", "b", "c", "a.b", "settings", "x/y-z", "0", "é", ""];
const ESCAPED_KEYS: [&str; 10] = [
    "a",
    "b",
    "c",
    r"a\.b",
    "settings",
    "x/y-z",
    "0",
    "é",
    r"\a",
    r"annotations.eks\.amazonaws\.com/role-arn",
];
const INDEXES: [&str; 12] = ["0", "0", "0", "1", "1", "2", "3", "007", "+1", "-1", "x", ""];
const LARGE_INDEXES: [&str; 4] = ["65536", "65537", "99999", "9223372036854775808"];
const HOSTILE: [&str; 22] = [
    ".",
    "..",
    "[",
    "]",
    "[0]",
    "[1",
    "=",
    ",",
    "\\",
    "\\\\",
    "{",
    "}",
    "\"",
    "'",
    " ",
    "\n",
    "\0",
    "ſ",
    "\u{feff}",
    "a",
    "-",
    "\u{1f600}",
];
const VALUES: [&str; 62] = [
    "",
    " ",
    "x",
    "arn:aws:iam::1234:role/x",
    "https://a.example.com:443/x?y=z",
    "a=b==",
    "true",
    "True",
    "FALSE",
    "falſe",
    "null",
    "NULL",
    "nulL ",
    "~",
    "0",
    "00",
    "007",
    "-0",
    "+0",
    "-5",
    "+5",
    "-",
    "123456789012",
    "012345678901",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "1.31",
    "1e3",
    "0x10",
    "1_000",
    "{",
    "}",
    "{}",
    "{a,b}",
    "{a,b},",
    "{a}b",
    "{a}b=c",
    "{a,{b}}",
    "{1,true,null,x}",
    r"{a\,b}",
    "a,b",
    "a,",
    ",",
    "a,b=1",
    "a,a.b=1",
    "a,b.c=1,b.d={x}",
    "a,b[1]=y",
    "a,b[1",
    "a,b[0]",
    "a,b[0].c",
    "a,b[0].c=",
    "a,b[0]=",
    "a,b[0][1]=z",
    "a,.b=1",
    "a,b.=1",
    "a,b..c=1",
    "a,b.=",
    "a\\",
    r"a\,b",
    "[\"a\",\"b\"]",
    "{\"a\": 1}",
];

fn one<'words>(random: &mut Rng, words: &[&'words str]) -> &'words str {
    words[random.usize(0..words.len())]
}

fn one_in(random: &mut Rng, chance: usize) -> bool {
    random.usize(0..chance) == 0
}

/// A target path: mostly one, sometimes spoilt.
pub(super) fn path(random: &mut Rng) -> String {
    let names = if one_in(random, 100) { random.usize(28..34) } else { random.usize(1..4) };
    let mut path = String::new();
    for position in 0..names {
        if position > 0 {
            path.push('.');
        }
        path.push_str(one(random, &ESCAPED_KEYS));
        while one_in(random, 4) {
            let index = if one_in(random, 300) { one(random, &LARGE_INDEXES) } else { one(random, &INDEXES) };
            path.extend(["[", index, "]"]);
        }
    }
    if one_in(random, 12) {
        spoil(random, &mut path);
    }
    path
}

fn spoil(random: &mut Rng, text: &mut String) {
    for _ in 0..random.usize(1..3) {
        let places: Vec<usize> = text.char_indices().map(|(place, _)| place).chain([text.len()]).collect();
        text.insert_str(places[random.usize(0..places.len())], one(random, &HOSTILE));
    }
}

/// A value: mostly one that somebody may have, sometimes spoilt, in quotes, or not even text.
pub(super) fn value(random: &mut Rng) -> Vec<u8> {
    let mut value = one(random, &VALUES).to_owned();
    match random.usize(0..24) {
        0 | 1 => spoil(random, &mut value),
        2 => value = format!("\"{value}\""),
        3 => value = format!("'{value}'"),
        4 => value = format!("{value},{}={}", path(random), one(random, &VALUES)),
        5 => value = (0..random.usize(0..8)).map(|_| one(random, &HOSTILE)).collect(),
        6 => value = format!("{}\n", value.repeat(random.usize(0..3))),
        _ => {}
    }
    let mut value = value.into_bytes();
    if one_in(random, 40) {
        let place = random.usize(0..=value.len());
        value.splice(place..place, [0xe2, 0x82]);
    }
    value
}

/// What `spec.values` may be.
pub(super) fn inline(random: &mut Rng) -> Value {
    match random.usize(0..20) {
        0 => Value::Null,
        1 => tree(random, 2),
        _ => mapping(random, 4),
    }
}

/// Any tree of at most this depth.
fn tree(random: &mut Rng, depth: usize) -> Value {
    match random.usize(0..if depth == 0 { 8 } else { 24 }) {
        0 => Value::Null,
        1 => json!(random.bool()),
        2 => json!(random.i64(-3..1000)),
        3 => number(random),
        4..=7 => json!(one(random, &VALUES)),
        8..=18 => mapping(random, depth - 1),
        _ => (0..random.usize(0..4)).map(|_| tree(random, depth - 1)).collect(),
    }
}

/// A mapping whose values are at most this deep.
pub(super) fn mapping(random: &mut Rng, depth: usize) -> Value {
    let entries = 0..random.usize(0..5);
    let entries = entries.map(|_| (one(random, &KEYS).to_owned(), tree(random, depth.saturating_sub(1))));
    Value::Object(entries.collect::<Map<String, Value>>())
}

/// Numbers that a float cannot be, or that are written in odd ways.
fn number(random: &mut Rng) -> Value {
    match random.usize(0..6) {
        0 => json!(random.i64(..)),
        1 => json!(random.u64(..)),
        2 => json!(random.f64()),
        3 => json!(1e21),
        4 => json!(-0.0),
        _ => json!(9_007_199_254_740_993_i64),
    }
}
