//! Target paths, as somebody means them.

use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

use super::set::{LARGEST_INDEX, MOST_NAMES};

/// What leads from a mapping or list to something in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// A key of a mapping.
    Key(String),
    /// An index of a list.
    Index(usize),
}

/// Where a value is put. The first segment is a key, and no key is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetPath(Vec<Segment>);

/// Why a path would not put a value where it leads to. It reads on after the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathProblem {
    /// Nothing before, between or after dots, or an index first.
    #[error("has nothing before or after one of its dots or brackets, so that there is no key to set")]
    EmptyKey,
    /// A backslash that escapes the equals sign behind the path.
    #[error("ends in a backslash, which escapes what follows the path")]
    EndsInBackslash,
    /// Brackets without a number.
    #[error("has brackets without a number in them")]
    NotIndex,
    /// A number that is too large.
    #[error("has an index above 65536")]
    LargeIndex,
    /// Something between an index and the next dot.
    #[error("goes on after an index without a dot")]
    AfterIndex,
    /// More names than Helm takes.
    #[error("has more than 31 names")]
    TooManyNames,
    /// What ends a path.
    #[error("has an equals sign or a comma, which ends a path")]
    Ends,
}

impl TargetPath {
    /// Reads a path as Helm does, and refuses what Helm takes without putting a value there.
    pub fn parse(text: &str) -> Result<Self, PathProblem> {
        let mut rest = text.chars().peekable();
        let mut segments = Vec::new();
        let mut dots = 0;
        loop {
            segments.push(Segment::Key(key(&mut rest)?));
            while rest.next_if_eq(&'[').is_some() {
                segments.push(Segment::Index(index(&mut rest)?));
            }
            match rest.next() {
                None => break,
                Some('.') => dots += 1,
                Some('=' | ',') => return Err(PathProblem::Ends),
                Some(_) => return Err(PathProblem::AfterIndex),
            }
        }
        if dots > MOST_NAMES { Err(PathProblem::TooManyNames) } else { Ok(Self(segments)) }
    }

    /// A path of these segments, if they can be one.
    pub fn from_segments(segments: Vec<Segment>) -> Option<Self> {
        let is_named = |segment: &Segment| !matches!(segment, Segment::Key(key) if key.is_empty());
        let begins_with_key = matches!(segments.first(), Some(Segment::Key(_)));
        (begins_with_key && segments.iter().all(is_named)).then_some(Self(segments))
    }

    /// The way to go.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }
}

/// With a backslash before everything in a key that would mean something.
impl fmt::Display for TargetPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_segments(formatter, &self.0)
    }
}

/// Writes some first segments of a path.
pub(super) fn write_segments(out: &mut impl fmt::Write, segments: &[Segment]) -> fmt::Result {
    for (position, segment) in segments.iter().enumerate() {
        match segment {
            Segment::Index(index) => write!(out, "[{index}]")?,
            Segment::Key(key) => {
                if position > 0 {
                    out.write_char('.')?;
                }
                for character in key.chars() {
                    if matches!(character, '\\' | '.' | '[' | ',' | '=') {
                        out.write_char('\\')?;
                    }
                    out.write_char(character)?;
                }
            }
        }
    }
    Ok(())
}

/// The key that the rest begins with; what ends it is left there.
fn key(rest: &mut Peekable<Chars<'_>>) -> Result<String, PathProblem> {
    let mut key = String::new();
    while let Some(character) = rest.next_if(|character| !matches!(character, '.' | '[' | '=' | ',')) {
        match character {
            '\\' => key.push(rest.next().ok_or(PathProblem::EndsInBackslash)?),
            other => key.push(other),
        }
    }
    if key.is_empty() { Err(PathProblem::EmptyKey) } else { Ok(key) }
}

fn index(rest: &mut Peekable<Chars<'_>>) -> Result<usize, PathProblem> {
    let mut digits = String::new();
    loop {
        match rest.next() {
            None => return Err(PathProblem::NotIndex),
            Some(']') => break,
            Some(character) => digits.push(character),
        }
    }
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(PathProblem::NotIndex);
    }
    digits.parse().ok().filter(|index| *index <= LARGEST_INDEX).ok_or(PathProblem::LargeIndex)
}
