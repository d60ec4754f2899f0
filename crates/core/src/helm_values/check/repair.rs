//! What a path probably means that Flux does not take.

use std::str::Chars;

use super::dots;
use crate::helm_values::path::{Segment, TargetPath};

/// The path as Flux wants it, for the ways in which paths are written elsewhere: with quotes around a key, with a key in
/// brackets, from `.Values` on, or with a dot too many.
pub(super) fn repaired(text: &str) -> Option<String> {
    let mut segments = Vec::new();
    let mut key = String::new();
    let mut rest = text.trim().chars();
    while let Some(character) = rest.next() {
        match character {
            '.' => finish(&mut key, &mut segments),
            '[' => {
                finish(&mut key, &mut segments);
                segments.push(bracketed(&mut rest)?);
            }
            '"' | '\'' => key.push_str(&before(&mut rest, character)?),
            '\\' => key.extend(rest.next()),
            other => key.push(other),
        }
    }
    finish(&mut key, &mut segments);
    for first in ["$", "Values"] {
        if matches!(segments.first(), Some(Segment::Key(key)) if key == first) {
            segments.remove(0);
        }
    }
    let path = TargetPath::from_segments(segments)?;
    let path = dots::unescaped(&path).map_or(path, |dots| dots.instead);
    Some(path.to_string()).filter(|instead| instead != text)
}

fn finish(key: &mut String, segments: &mut Vec<Segment>) {
    if !key.is_empty() {
        segments.push(Segment::Key(std::mem::take(key)));
    }
}

fn bracketed(rest: &mut Chars<'_>) -> Option<Segment> {
    let quote = rest.as_str().chars().next().filter(|character| matches!(character, '"' | '\''));
    if let Some(quote) = quote {
        rest.next();
        let key = before(rest, quote)?;
        return (rest.next() == Some(']') && !key.is_empty()).then_some(Segment::Key(key));
    }
    let inside = before(rest, ']')?;
    if let Ok(index) = inside.parse() {
        return Some(Segment::Index(index));
    }
    let is_name =
        !inside.is_empty() && inside.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some(Segment::Key(inside))
}

/// What comes before the next such character, which is taken too.
fn before(rest: &mut Chars<'_>, end: char) -> Option<String> {
    let (text, behind) = rest.as_str().split_once(end)?;
    *rest = behind.chars();
    Some(text.to_owned())
}
