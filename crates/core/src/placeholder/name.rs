//! What a placeholder looks like: `${` + `[A-Za-z_][A-Za-z0-9_-]*` + `}`.

use std::ops::Range;

/// The placeholder that begins at `start`: where it ends, and its name.
pub(super) fn at(text: &str, start: usize) -> Option<(usize, &str)> {
    let inside = text.as_bytes().get(start..)?.strip_prefix(b"${")?;
    let length = inside.iter().position(|byte| !is_continue(*byte))?;
    if inside[length] != b'}' || !inside.first().is_some_and(|byte| is_start(*byte)) {
        return None;
    }
    let name = start + 2..start + 2 + length;
    Some((name.end + 1, &text[name]))
}

/// Every placeholder in `within` that is not escaped by a `$` before it, in a text without a syntax of its own.
pub(super) fn find_all(text: &str, within: Range<usize>) -> impl Iterator<Item = (Range<usize>, &str)> {
    let bytes = text.as_bytes();
    let mut position = within.start;
    std::iter::from_fn(move || {
        while position < within.end {
            let start = position;
            position += 1;
            if bytes[start] != b'$' {
                continue;
            }
            // A run of `$` before a `{` is an escape as a whole, so none of it may begin a placeholder.
            while position < within.end && bytes[position] == b'$' {
                position += 1;
            }
            if position - start > 1 {
                continue;
            }
            if let Some((end, name)) = at(text, start).filter(|(end, _)| *end <= within.end) {
                position = end;
                return Some((start..end, name));
            }
        }
        None
    })
}

fn is_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn is_continue(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}
