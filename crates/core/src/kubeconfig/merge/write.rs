//! A kubeconfig as text. Every text in it is quoted, so that no reader takes one for something else.

use std::fmt::Write as _;

use serde_json::Value;

use crate::kubeconfig::render::Quoted;

/// The document, with a line break at its end.
pub(super) fn document(tree: &Value) -> String {
    let mut text = String::new();
    block(tree, 0, &mut text);
    text
}

/// Writes lists and mappings over several lines, the first of them where the text ends.
fn block(value: &Value, depth: usize, text: &mut String) {
    let indented = |text: &mut String| text.push_str(&"  ".repeat(depth));
    match value {
        Value::Object(fields) => {
            for (index, (key, value)) in fields.iter().enumerate() {
                if index > 0 {
                    indented(text);
                }
                // Writing to a String cannot fail.
                let _ = write!(text, "{}:", Key(key));
                below(value, depth + 1, text);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    indented(text);
                }
                text.push('-');
                match item {
                    Value::Object(_) | Value::Array(_) if !is_empty(item) => {
                        text.push(' ');
                        block(item, depth + 1, text);
                    }
                    _ => below(item, depth + 1, text),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => scalar(value, text),
    }
}

/// What stands behind a key or a dash.
fn below(value: &Value, depth: usize, text: &mut String) {
    if is_empty(value) || !(value.is_object() || value.is_array()) {
        text.push(' ');
        scalar(value, text);
    } else {
        text.push('\n');
        text.push_str(&"  ".repeat(depth));
        block(value, depth, text);
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Writes what fits into a line, and ends the line.
fn scalar(value: &Value, text: &mut String) {
    // Writing to a String cannot fail.
    let _ = match value {
        Value::String(content) => writeln!(text, "{}", Quoted(content)),
        other => writeln!(text, "{other}"),
    };
}

/// A key: plain where every reader takes it for a text.
struct Key<'text>(&'text str);

impl std::fmt::Display for Key<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
        let plain = self.0.starts_with(|first: char| first.is_ascii_alphabetic())
            && self.0.chars().all(|character| character.is_ascii_alphanumeric() || "-_".contains(character))
            && !words.contains(&self.0.to_ascii_lowercase().as_str());
        if plain { formatter.write_str(self.0) } else { write!(formatter, "{}", Quoted(self.0)) }
    }
}
