//! What Flux makes of a value that it puts at a target path.
//!
//! Without `literal: true` it reads the value as `helm --set` reads its argument: words and numbers get types, a comma
//! begins another assignment, a brace a list, and a backslash escapes. A value in quotes stays a text, but all quotes at
//! its ends are taken off, and commas, braces and backslashes mean the same in it.

/// Whether the value comes through as exactly this text.
pub(super) fn survives(value: &str) -> bool {
    !is_quoted(value) && !value.contains([',', '\\']) && !value.starts_with('{') && !is_typed(value)
}

/// The form in which every value comes through as exactly this text.
pub(super) fn quoted(value: &str) -> String {
    let mut result = String::with_capacity(value.len() + 2);
    result.push('"');
    for character in value.chars() {
        if matches!(character, '\\' | ',' | '{' | '"' | '\'') {
            result.push('\\');
        }
        result.push(character);
    }
    if value.ends_with(['"', '\'']) {
        // It would be taken off with the quotes that are put around. The comma ends the value, and nothing follows.
        result.push(',');
    }
    result.push('"');
    result
}

/// What no value for a chart should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// A single line that ends in a line break.
    EndsInLineBreak,
    /// A control character other than those between lines and columns.
    ControlCharacter,
}

/// What is wrong with a value that is put at a target path. A text of several lines, such as a certificate, is meant to
/// have its line breaks.
pub(super) fn flaw(value: &str) -> Option<Flaw> {
    let line = value.trim_end_matches(['\r', '\n']);
    if value.contains(|character: char| character.is_control() && !matches!(character, '\t' | '\r' | '\n')) {
        Some(Flaw::ControlCharacter)
    } else if line.len() < value.len() && !line.contains('\n') {
        Some(Flaw::EndsInLineBreak)
    } else {
        None
    }
}

/// One quote is enough to be its own beginning and end.
fn is_quoted(value: &str) -> bool {
    ['"', '\''].iter().any(|quote| value.starts_with(*quote) && value.ends_with(*quote))
}

fn is_typed(value: &str) -> bool {
    // Go takes `ſ` for an `s` where it ignores case.
    let word = value.replace('ſ', "s");
    let is_word = ["true", "false", "null"].iter().any(|typed| word.eq_ignore_ascii_case(typed));
    // A number with a zero before it stays a text, so that account ids keep it.
    let is_number = value == "0" || !value.starts_with('0') && value.parse::<i64>().is_ok();
    is_word || is_number
}
