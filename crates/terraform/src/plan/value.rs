//! Shows how attributes change.

use std::collections::BTreeSet;

use serde_json::Value;

use super::AttributeChange;
use super::read::Values;
use crate::redact::{REDACTED, Redactor};

/// Longer values are cut: nobody reads them in a summary.
const LONGEST: usize = 200;

/// The attributes of the first level whose values differ.
pub(super) fn attributes(values: &Values, redactor: &Redactor) -> Vec<AttributeChange> {
    let names: BTreeSet<&String> = [&values.before, &values.after, &values.after_unknown]
        .into_iter()
        .filter_map(Value::as_object)
        .flat_map(|fields| fields.keys())
        .collect();
    let shown = names.into_iter().filter_map(|name| {
        let (before, after) = (&values.before[name.as_str()], &values.after[name.as_str()]);
        let unknown = holds_true(&values.after_unknown[name.as_str()]);
        if before == after && !unknown {
            return None;
        }
        let hidden = |marks: &Value| *marks == Value::Bool(true) || holds_true(&marks[name.as_str()]);
        let after = if unknown {
            "(known after apply)".to_owned()
        } else {
            text(after, hidden(&values.after_sensitive), redactor)
        };
        Some(AttributeChange {
            name: name.clone(),
            before: text(before, hidden(&values.before_sensitive), redactor),
            after,
        })
    });
    shown.collect()
}

/// Whether a tree of marks marks anything.
fn holds_true(marks: &Value) -> bool {
    match marks {
        Value::Bool(mark) => *mark,
        Value::Array(items) => items.iter().any(holds_true),
        Value::Object(fields) => fields.values().any(holds_true),
        Value::Null | Value::Number(_) | Value::String(_) => false,
    }
}

fn text(value: &Value, hidden: bool, redactor: &Redactor) -> String {
    if hidden {
        return REDACTED.to_owned();
    }
    let text = redactor.redact(&value.to_string());
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
