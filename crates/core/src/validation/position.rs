//! Places in files.

use serde::Serialize;

/// A place in a text, both numbers counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

impl Position {
    /// Where every text begins.
    pub(super) const START: Self = Self { line: 1, column: 1 };

    /// The place of a byte of a text; its end if there are fewer bytes.
    pub(super) fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        Self { line: before.matches('\n').count() + 1, column: before[start..].chars().count() + 1 }
    }
}

/// Where a text stands in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It is all of the file.
    File,
    /// It is written line by line from this line on, each line this much further to the right.
    Block {
        /// The first line.
        line: usize,
        /// How many blanks stand before each line.
        indent: usize,
    },
    /// It is written in some other form: all of it counts as here.
    Point(Position),
}

impl Origin {
    /// The place in the file of a place in the text.
    pub(super) const fn place(self, inside: Position) -> Position {
        match self {
            Self::File => inside,
            Self::Block { line, indent } => {
                Position { line: line + inside.line - 1, column: indent + inside.column }
            }
            Self::Point(position) => position,
        }
    }

    /// Where a text stands that was read from this place of a file with these lines: the place of its first character.
    ///
    /// Only a block in literal style (`|`) has its lines as they are.
    pub(super) fn of_scalar(lines: &[&str], at: Position, text: &str) -> Self {
        let first = text.lines().position(|line| !line.trim().is_empty());
        let before = lines.iter().take(at.line - 1).rev().find(|line| !line.trim().is_empty());
        let is_block = before.is_some_and(|line| begins_block(line));
        let (true, Some(first)) = (is_block && first < Some(at.line), first) else { return Self::Point(at) };
        let outside = lines.get(at.line - 1).copied().unwrap_or_default();
        let inside = text.lines().nth(first).unwrap_or_default();
        match outside.strip_suffix(inside) {
            Some(blanks) => Self::Block { line: at.line - first, indent: blanks.chars().count() },
            None => Self::Point(at),
        }
    }
}

/// Whether a line ends in the mark of a block in literal style, which may have numbers, signs and a comment after it.
fn begins_block(line: &str) -> bool {
    let line = line.split(" #").next().unwrap_or_default().trim_end();
    let mark =
        line.trim_end_matches(|character: char| character.is_ascii_digit() || matches!(character, '+' | '-'));
    mark.strip_suffix('|').is_some_and(|before| before.is_empty() || before.ends_with([' ', '\t']))
}
