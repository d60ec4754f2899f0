//! Shows how attributes change.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use serde_json::value::RawValue;

use super::AttributeChange;
use super::read::Values;
use crate::redact::{REDACTED, Redactor};

/// Longer values are cut: nobody reads them in a summary.
const LONGEST: usize = 200;

type Fields<'text> = BTreeMap<String, &'text RawValue>;

/// The attributes of the first level whose values differ.
pub(super) fn attributes(values: &Values<'_>, redactor: &Redactor) -> Vec<AttributeChange> {
    let (before, after, unknown) =
        (fields(values.before), fields(values.after), fields(values.after_unknown));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).chain(unknown.keys()).collect();
    let shown = names.into_iter().filter_map(|name| {
        let (old, new) = (before.get(name).copied(), after.get(name).copied());
        let unknown = unknown.get(name).is_some_and(|marks| holds_true(marks));
        if same(old, new) && !unknown {
            return None;
        }
        let after = if unknown {
            "(known after apply)".to_owned()
        } else {
            text(new, is_hidden(values.after_sensitive, name), redactor)
        };
        let before = text(old, is_hidden(values.before_sensitive, name), redactor);
        Some(AttributeChange { name: name.clone(), before, after })
    });
    shown.collect()
}

/// The fields of an object; none of anything else.
fn fields(object: Option<&RawValue>) -> Fields<'_> {
    object.and_then(|object| serde_json::from_str(object.get()).ok()).unwrap_or_default()
}

/// One process wrote both, in the same way. What is missing is null.
fn same(before: Option<&RawValue>, after: Option<&RawValue>) -> bool {
    let text = |value: Option<&RawValue>| value.map_or("null".to_owned(), |value| value.get().to_owned());
    text(before) == text(after)
}

fn is_hidden(marks: Option<&RawValue>, name: &str) -> bool {
    marks.is_some_and(|marks| marks.get() == "true")
        || fields(marks).get(name).is_some_and(|marks| holds_true(marks))
}

/// Whether a tree of marks marks anything. One that cannot be read does: it is better to hide too much.
pub(super) fn holds_true(marks: &RawValue) -> bool {
    fn any(marks: &Value) -> bool {
        match marks {
            Value::Bool(mark) => *mark,
            Value::Array(items) => items.iter().any(any),
            Value::Object(fields) => fields.values().any(any),
            Value::Null | Value::Number(_) | Value::String(_) => false,
        }
    }
    serde_json::from_str(marks.get()).map_or(true, |marks: Value| any(&marks))
}

fn text(value: Option<&RawValue>, hidden: bool, redactor: &Redactor) -> String {
    if hidden {
        return REDACTED.to_owned();
    }
    let raw = value.map_or("null", RawValue::get);
    // Without the escapes that Go writes, where that is possible.
    let readable =
        serde_json::from_str::<Value>(raw).map_or_else(|_| raw.to_owned(), |value| value.to_string());
    let text = redactor.redact(&readable);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
