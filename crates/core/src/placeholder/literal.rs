//! Values that are JSON literals themselves: numbers, booleans, `null`, arrays and objects.

use serde_json::Value;

/// Rewrites a JSON literal on one line with every string in it written by `string`; numbers stay digit by digit.
///
/// `None` where the value is no JSON, or is a JSON string: that is a text with quotes, and stays one.
pub(super) fn rewrite(value: &str, string: impl Fn(&str) -> String) -> Option<String> {
    match serde_json::from_str(value).ok()? {
        Value::String(_) => return None,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {}
    }
    let mut rewritten = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(first) = rest.chars().next() {
        let length = if first == '"' { string_length(rest) } else { first.len_utf8() };
        let (token, after) = rest.split_at(length);
        if first == '"' {
            rewritten.push_str(&string(&serde_json::from_str::<String>(token).ok()?));
        } else if !first.is_ascii_whitespace() {
            rewritten.push_str(token);
        }
        rest = after;
    }
    Some(rewritten)
}

/// The length of the JSON string that `text` begins with, quotes included.
pub(crate) fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return index + 1,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}
