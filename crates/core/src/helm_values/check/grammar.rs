//! Target paths by themselves.

use super::dots::{self, Dots};
use super::problem::Problem;
use super::repair::repaired;
use crate::helm_values::path::{Segment, TargetPath};

/// What Flux's CRD takes, in characters.
const LONGEST: usize = 250;

/// The path, if it leads somewhere, and what is wrong with it.
pub(super) fn check(text: &str) -> (Option<TargetPath>, Vec<Problem>) {
    if text.is_empty() {
        return (None, vec![Problem::PathEmpty]);
    }
    let length = text.chars().count();
    if length > LONGEST {
        return (None, vec![Problem::PathTooLong { length }]);
    }
    let instead = || repaired(text).filter(|instead| is_taken(instead));
    if let Some(character) = refused(text) {
        return (None, vec![Problem::PathCharacter { character, instead: instead() }]);
    }
    match TargetPath::parse(text) {
        Err(problem) => (None, vec![Problem::PathGrammar { problem, instead: instead() }]),
        Ok(path) => {
            let problem = suspicion(text, &path);
            (Some(path), problem.into_iter().collect())
        }
    }
}

/// What a path that leads somewhere probably does not mean.
fn suspicion(text: &str, path: &TargetPath) -> Option<Problem> {
    if text.contains(r"\\.") {
        return Some(Problem::DoubledBackslash { instead: text.replace(r"\\", r"\") });
    }
    if let Some(Dots { key, instead, certain }) = dots::unescaped(path) {
        return Some(Problem::UnescapedDots { key, instead: instead.to_string(), certain });
    }
    match path.segments() {
        [Segment::Key(first), rest @ ..] if first == "Values" => {
            let instead = TargetPath::from_segments(rest.to_vec())?;
            Some(Problem::ValuesPrefix { instead: instead.to_string() })
        }
        [Segment::Key(only)] if only.contains('/') && !only.contains('.') => {
            let keys = only.split('/').filter(|key| !key.is_empty());
            let keys = keys.map(|key| Segment::Key(key.to_owned())).collect();
            Some(Problem::Slashes { instead: TargetPath::from_segments(keys)?.to_string() })
        }
        _ => None,
    }
}

/// Whether Flux takes what we tell people to write.
fn is_taken(text: &str) -> bool {
    text.chars().count() <= LONGEST && refused(text).is_none() && TargetPath::parse(text).is_ok()
}

/// The first character that Flux's CRD does not let into a path. Brackets may only be around up to five digits.
fn refused(text: &str) -> Option<char> {
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        match character {
            '_' | '-' | '.' | '\\' | '/' => {}
            '[' => {
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                if digits == 0 || digits > 5 || !rest[digits..].starts_with(']') {
                    return Some('[');
                }
                rest = &rest[digits + 1..];
            }
            other if other.is_ascii_alphanumeric() => {}
            other => return Some(other),
        }
    }
    None
}
