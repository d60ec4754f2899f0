//! Where two JSON values differ.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

/// A place where two values differ.
#[derive(Debug, PartialEq)]
pub(super) struct Difference {
    path: String,
    theirs: Option<Value>,
    ours: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), Value::to_string);
        write!(
            formatter,
            "{} is {} with the real CRD, but {} with ours",
            self.path,
            shown(&self.theirs),
            shown(&self.ours)
        )
    }
}

/// Every place where the values differ, as deep as possible.
pub(super) fn differences(theirs: &Value, ours: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    descend("", Some(theirs), Some(ours), &mut found);
    found
}

fn descend(path: &str, theirs: Option<&Value>, ours: Option<&Value>, found: &mut Vec<Difference>) {
    match (theirs, ours) {
        (theirs, ours) if theirs == ours => {}
        (Some(Value::Object(theirs)), Some(Value::Object(ours))) => {
            let keys: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
            for key in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                descend(&path, theirs.get(key), ours.get(key), found);
            }
        }
        (Some(Value::Array(theirs)), Some(Value::Array(ours))) if theirs.len() == ours.len() => {
            for (index, (theirs, ours)) in theirs.iter().zip(ours).enumerate() {
                descend(&format!("{path}[{index}]"), Some(theirs), Some(ours), found);
            }
        }
        (theirs, ours) => {
            found.push(Difference { path: path.to_owned(), theirs: theirs.cloned(), ours: ours.cloned() });
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::equal(json!({ "a": [1] }), json!({ "a": [1] }), &[])]
    #[case::deep(
        json!({ "a": { "b": [{ "c": 1 }] } }),
        json!({ "a": { "b": [{ "c": 2 }] } }),
        &["a.b[0].c is 1 with the real CRD, but 2 with ours"]
    )]
    #[case::one_side(
        json!({ "a": 1 }),
        json!({ "b": 1 }),
        &["a is 1 with the real CRD, but nothing with ours", "b is nothing with the real CRD, but 1 with ours"]
    )]
    #[case::another_length(json!([1]), json!([1, 2]), &[" is [1] with the real CRD, but [1,2] with ours"])]
    fn differences_are_found_as_deep_as_possible(
        #[case] theirs: Value,
        #[case] ours: Value,
        #[case] expected: &[&str],
    ) {
        let found: Vec<_> = differences(&theirs, &ours).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }
}
