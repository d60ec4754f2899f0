//! How a value is written for Flux, which puts it at a target path.
//!
//! Without `literal: true` it reads the value as `helm --set` reads its argument: words and numbers get types, a comma
//! begins another assignment, a brace a list, and a backslash escapes. A value in quotes stays a text, but all quotes at
//! its ends are taken off, and commas, braces and backslashes mean the same in it.

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
