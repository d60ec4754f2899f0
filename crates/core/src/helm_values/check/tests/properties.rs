//! What holds for every release.

use std::borrow::Cow;

use proptest::prelude::*;

use super::*;
use crate::helm_values::path::Segment;
use crate::helm_values::preview;

const VALUE: &str = "value of the reference";

fn path() -> impl Strategy<Value = String> {
    let pieces = vec!["a", "b", "c", ".a", ".b", ".c", "[0]", "[1]", "[2]", ".a.b"];
    prop::collection::vec(prop::sample::select(pieces), 1..5).prop_map(|pieces| pieces.concat())
}

fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(json!(null)), Just(json!("x")), Just(json!(1))];
    leaf.prop_recursive(3, 24, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::btree_map(prop::sample::select(vec!["a", "b", "c"]), inner, 0..3).prop_map(
                |entries| entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            ),
        ]
    })
}

fn value_at<'tree>(tree: &'tree Value, path: &TargetPath) -> Option<&'tree Value> {
    let pointer: String = path
        .segments()
        .iter()
        .map(|segment| match segment {
            Segment::Key(key) => format!("/{key}"),
            Segment::Index(index) => format!("/{index}"),
        })
        .collect();
    tree.pointer(&pointer)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever would be lost or refused has an error; what is only warned of comes where it should.
    #[test]
    fn without_an_error_every_value_is_where_its_path_leads(
        inline in tree(),
        paths in prop::collection::vec(path(), 1..4),
    ) {
        let entries: Vec<Value> = paths.iter().map(|path| at(path)).collect();
        let spec = json!({ "values": inline, "valuesFrom": entries });
        let findings = check(&release(&spec), &Surroundings::default());
        if findings.iter().any(|finding| finding.severity() == Severity::Error) {
            return Ok(());
        }
        let references: Vec<Reference> = entries.iter().filter_map(Reference::read).collect();
        let result = preview(&spec["values"], &references, |_, _, _| Some(Cow::Borrowed(VALUE.as_bytes())));
        let result = result.unwrap();
        let replaced = findings.iter().any(|finding| matches!(finding.problem, Problem::OverReference { .. }));
        for path in paths.iter().filter(|_| !replaced) {
            let path = TargetPath::parse(path).unwrap();
            prop_assert_eq!(value_at(&result, &path), Some(&json!(VALUE)));
        }
    }

    #[test]
    fn what_is_told_to_be_written_is_taken(text in "[a-z.\\[\\]\"'/ 0-9]{1,20}") {
        let (_, problems) = grammar::check(&text);
        for problem in problems {
            if let Problem::PathCharacter { instead: Some(instead), .. }
            | Problem::PathGrammar { instead: Some(instead), .. } = problem
            {
                let (path, _) = grammar::check(&instead);
                prop_assert!(path.is_some());
            }
        }
    }
}
