//! Finds the values that a plan calls sensitive somewhere: the same value may stand elsewhere without being called so.

use serde_json::Value;
use serde_json::value::RawValue;

use super::read::Values;
use crate::output::strings;

/// The texts that are called sensitive. What cannot be read is left out: its attribute is hidden as a whole.
pub(super) fn texts(values: &Values<'_>) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for (value, mark) in [(values.before, values.before_sensitive), (values.after, values.after_sensitive)] {
        if let (Some(value), Some(mark)) = (parsed(value), parsed(mark)) {
            marked(&value, &mark, &mut found);
        }
    }
    found
}

fn parsed(raw: Option<&RawValue>) -> Option<Value> {
    serde_json::from_str(raw?.get()).ok()
}

/// Marks have the shape of the value, down to where all of it is sensitive or nothing is.
fn marked(value: &Value, mark: &Value, found: &mut Vec<Vec<u8>>) {
    match (value, mark) {
        (_, Value::Bool(true)) => {
            found.extend(strings(&value.to_string()).into_iter().map(String::into_bytes));
        }
        (Value::Array(values), Value::Array(marks)) => {
            values.iter().zip(marks).for_each(|(value, mark)| marked(value, mark, found));
        }
        (Value::Object(values), Value::Object(marks)) => {
            for (name, mark) in marks {
                if let Some(value) = values.get(name) {
                    marked(value, mark, found);
                }
            }
        }
        _ => {}
    }
}
