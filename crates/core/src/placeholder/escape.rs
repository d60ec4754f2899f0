//! Writes a value so that Terraform reads back exactly that value.

use std::fmt::Write;

/// As text of a heredoc, which knows no backslash escapes.
pub(super) fn template_text(value: &str) -> String {
    value.replace("${", "$${").replace("%{", "%%{")
}

/// As text of a template without delimiters, which is what Terraform takes a string of JSON for.
pub(super) fn bare_template_text(value: &str) -> String {
    // Terraform drops a byte order mark at the beginning, and reads everything after a carriage return on its own as
    // plain text.
    if value.contains(['\r', '\u{feff}']) { interpolation(value) } else { template_text(value) }
}

/// As an interpolation of a quoted string: safe wherever template text is.
pub(super) fn interpolation(value: &str) -> String {
    format!("${{{}}}", quoted(value))
}

/// As a quoted string of HCL, quotes included.
pub(super) fn quoted(value: &str) -> String {
    format!("\"{}\"", quoted_text(value))
}

/// As content of a quoted string of HCL.
pub(super) fn quoted_text(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for character in template_text(value).chars() {
        match character {
            '\\' => escaped.push_str("\\\\"),
            '"' => escaped.push_str("\\\""),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            control if control.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "\\u{:04x}", u32::from(control));
            }
            other => escaped.push(other),
        }
    }
    escaped
}

/// As a string of JSON, quotes included.
pub(super) fn json(value: &str) -> String {
    serde_json::Value::from(value).to_string()
}

/// As content of a string of JSON.
pub(super) fn json_text(value: &str) -> String {
    let mut string = json(value);
    string.pop();
    string.remove(0);
    string
}

/// As part of a comment: line breaks and other control characters become spaces, and nothing ends the comment.
pub(super) fn comment(value: &str) -> String {
    value.replace(char::is_control, " ").replace("*/", "* /")
}
