//! The cases: always the same ones.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde_json::{Value, json};

use super::case::{Case, Content, Entry, Object};
use super::{files, random};

const SEED: u64 = 20_261_116;
/// How many are made by chance.
const RANDOM: usize = 20_000;
const KINDS: [&str; 2] = ["Secret", "ConfigMap"];

/// Every file of values by itself, and combinations of everything.
pub(super) fn cases() -> Vec<Case> {
    let mut random = Rng::with_seed(SEED);
    let mut cases = Vec::new();
    for file in files::all() {
        cases.push(whole_file(json!(null), file, false));
        cases.push(whole_file(json!({ "a": { "b": "inline", "d": 1 } }), file, true));
    }
    cases.extend((0..RANDOM).map(|_| any(&mut random)));
    cases
}

fn whole_file(inline: Value, file: &str, and_path: bool) -> Case {
    let mut case = Case { inline, ..Case::default() };
    add(&mut case, Entry { kind: "Secret", ..Entry::default() }, Content(file.as_bytes().to_vec()));
    if and_path {
        let path = Entry { kind: "Secret", target_path: "a.b".to_owned(), ..Entry::default() };
        add(&mut case, path, Content(b"set".to_vec()));
    }
    case
}

fn any(random: &mut Rng) -> Case {
    let mut case = Case { inline: random::inline(random), ..Case::default() };
    for _ in 0..random.usize(1..4) {
        let is_file = random.usize(0..6) == 0;
        let target_path = if is_file { String::new() } else { random::path(random) };
        let content = if target_path.is_empty() { files::file(random) } else { random::value(random) };
        let entry = Entry {
            kind: KINDS[random.usize(0..2)],
            values_key: if random.bool() { "key".to_owned() } else { String::new() },
            target_path,
            optional: random.usize(0..4) == 0,
            literal: random.usize(0..3) == 0,
            ..Entry::default()
        };
        match random.usize(0..40) {
            0 => case.references.push(Entry { name: "missing".to_owned(), ..entry }),
            1 => {
                add(&mut case, entry, Content(content));
                case.objects.iter_mut().last().into_iter().for_each(|object| object.data.clear());
            }
            _ => add(&mut case, entry, Content(content)),
        }
    }
    case
}

/// Adds a reference with an object of its own.
fn add(case: &mut Case, entry: Entry, content: Content) {
    let name = format!("object-{}", case.objects.len());
    let key = if entry.values_key.is_empty() { "values.yaml" } else { &entry.values_key };
    let data = BTreeMap::from([(key.to_owned(), content)]);
    case.objects.push(Object { kind: entry.kind, name: name.clone(), data });
    case.references.push(Entry { name, ..entry });
}
