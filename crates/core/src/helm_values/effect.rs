//! What becomes of a value that is put at a target path without `literal: true`.

use std::borrow::Cow;

use super::set::{Flaw, Reading, set};
use super::tree::{Heap, Node};

/// What a value becomes that does not come through as the text that it is. It reads on after "the value".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Effect {
    /// A number.
    #[error("becomes a number")]
    Number,
    /// A truth value.
    #[error("becomes true or false")]
    Truth,
    /// Nothing.
    #[error("becomes null")]
    Null,
    /// A list.
    #[error("becomes a list")]
    List,
    /// More than one value, by a comma.
    #[error("sets other values too, because of a comma in it")]
    Injects,
    /// Another text: backslashes, quotes around it or a comma at its end are lost.
    #[error("loses its quotes, backslashes or commas")]
    Altered,
    /// Nothing at all, because Flux fails on it.
    #[error("is refused: as an argument of `helm --set` it {0}")]
    Refused(Flaw),
}

/// What becomes of the value; nothing if it comes through as exactly this text.
pub fn effect(value: &str) -> Option<Effect> {
    const NAME: &str = "x";
    let mut heap = Heap::default();
    let Ok(root) = heap.new_map() else { return None };
    let (line, reading) = line(NAME, value, false);
    if let Err(flaw) = set(&mut heap, root, &line, reading) {
        return Some(Effect::Refused(flaw));
    }
    if heap.map(root).len() > 1 {
        return Some(Effect::Injects);
    }
    match heap.get(root, NAME)? {
        Node::Text(text) if *text == *value => None,
        Node::Text(_) => Some(Effect::Altered),
        Node::Integer(_) | Node::Float(_) => Some(Effect::Number),
        Node::Truth(_) => Some(Effect::Truth),
        Node::Null => Some(Effect::Null),
        Node::List(_) => Some(Effect::List),
        Node::Map(_) => Some(Effect::Injects),
    }
}

/// The line that Flux makes of a target path and a value, and how it has it read.
pub(super) fn line(path: &str, value: &str, literal: bool) -> (String, Reading) {
    if literal {
        let mut line = format!("{path}=");
        for character in value.chars() {
            if matches!(character, '\\' | ',' | '[' | ']' | '{' | '}') {
                line.push('\\');
            }
            line.push(character);
        }
        return (line, Reading::Text);
    }
    // One quote is enough to be its own beginning and end.
    let in_quotes = ['"', '\''].iter().any(|quote| value.starts_with(*quote) && value.ends_with(*quote));
    if in_quotes {
        (format!("{path}={}", value.trim_matches(['"', '\''])), Reading::Text)
    } else {
        (format!("{path}={value}"), Reading::Typed)
    }
}

/// The text as Go reads bytes that may be none: every byte that is wrong is a character of its own.
pub(super) fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Cow::Owned(text)
}
