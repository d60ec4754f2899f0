//! What stands between the structures of a module: white space and comments.

use std::ops::Range;

/// The comments in a piece of text that holds nothing but white space and comments, in order. A comment to the end of its
/// line does not include the line break.
pub(super) fn comments(text: &str, within: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut position = within.start;
    while position < within.end {
        let rest = &text[position..within.end];
        let length = comment_length(rest);
        if length > 0 {
            found.push(position..position + length);
        }
        position += length.max(rest.chars().next().map_or(1, char::len_utf8));
    }
    found
}

/// How long the comment is that a text begins with; 0 where it begins with none.
fn comment_length(text: &str) -> usize {
    if text.starts_with('#') || text.starts_with("//") {
        let line = text.find('\n').unwrap_or(text.len());
        text[..line].trim_end_matches('\r').len()
    } else if let Some(inside) = text.strip_prefix("/*") {
        inside.find("*/").map_or(text.len(), |end| end + 4)
    } else {
        0
    }
}

/// Where the line begins that this place is in.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |line_break| line_break + 1)
}

/// Where the line ends that a structure ends in: behind its line break, comments after the structure included.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let mut position = at;
    while position < text.len() {
        let rest = &text[position..];
        if rest.starts_with('\n') {
            return position + 1;
        }
        let step = comment_length(rest).max(rest.chars().next().map_or(1, char::len_utf8));
        position += step;
    }
    position
}

/// Whether only white space and comments follow in the line.
pub(super) fn ends_line(text: &str, at: usize) -> bool {
    let end = line_end(text, at);
    let mut position = at;
    for comment in comments(text, at..end) {
        if !text[position..comment.start].trim().is_empty() {
            return false;
        }
        position = comment.end;
    }
    text[position..end].trim().is_empty()
}

/// Whether only white space comes before in the line.
pub(super) fn begins_line(text: &str, at: usize) -> bool {
    text[line_start(text, at)..at].trim().is_empty()
}

/// A structure with whole lines: comments that stand directly above it and behind it go with it. `floor` is where the
/// structure before it ends.
pub(super) fn whole_lines(text: &str, structure: &Range<usize>, floor: usize) -> Range<usize> {
    // What follows another structure in its line is that structure's.
    let floor = if floor == 0 { 0 } else { line_end(text, floor) };
    let mut begin = line_start(text, structure.start).max(floor);
    for comment in comments(text, floor..begin).into_iter().rev() {
        let between = &text[comment.end..begin];
        if between.matches('\n').count() > 1 || !begins_line(text, comment.start) {
            break;
        }
        begin = line_start(text, comment.start).max(floor);
    }
    begin..line_end(text, structure.end)
}

/// As [`whole_lines`], and an empty line behind it goes too where there is one before it, so that no two are left where one
/// was.
pub(super) fn paragraph(text: &str, structure: &Range<usize>, floor: usize) -> Range<usize> {
    let Range { start, end } = whole_lines(text, structure, floor);
    let gap_before = start == 0 || !empty_line_before(text, start).is_empty();
    let after = text[end..].find('\n').map_or(text.len(), |line_break| end + line_break + 1);
    let gap_after = text[end..after].trim().is_empty();
    start..if gap_before && gap_after { after } else { end }
}

/// The line before the one that begins here, if nothing is in it.
pub(super) fn empty_line_before(text: &str, start: usize) -> Range<usize> {
    let line = line_start(text, start.saturating_sub(1));
    if text[line..start].trim().is_empty() { line..start } else { start..start }
}
