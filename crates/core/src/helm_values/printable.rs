//! Characters that no value for a chart should have.

/// What no value for a chart should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unprintable {
    /// A single line that ends in a line break.
    EndsInLineBreak,
    /// A control character other than those between lines and columns.
    ControlCharacter,
}

/// What is wrong with a value that is put at a target path. A text of several lines, such as a certificate, is meant to
/// have its line breaks.
pub fn unprintable(value: &str) -> Option<Unprintable> {
    let line = value.trim_end_matches(['\r', '\n']);
    if value.contains(|character: char| character.is_control() && !matches!(character, '\t' | '\r' | '\n')) {
        Some(Unprintable::ControlCharacter)
    } else if line.len() < value.len() && !line.contains('\n') {
        Some(Unprintable::EndsInLineBreak)
    } else {
        None
    }
}
