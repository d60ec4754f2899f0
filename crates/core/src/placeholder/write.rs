//! How a value is written at a place in HCL.

use super::{
    escape, literal,
    scan::{Context, Site},
};

/// Whether the text strips white space anywhere (`~}`, `${~`): white space at the edge of a value would go too.
pub(super) fn has_strip_markers(text: &str) -> bool {
    text.contains("~}") || text.contains("{~")
}

/// What takes the placeholder's place in `text`.
pub(super) fn replacement(text: &str, site: &Site<'_>, value: &str, strips: bool) -> String {
    let around = Around {
        before: text[..site.range.start].chars().next_back(),
        after: text[site.range.end..].chars().next(),
    };
    let stripped = strips && has_space_at_an_edge(value);
    match site.context {
        Context::Expression => expression(value, around),
        Context::LineComment | Context::BlockComment => comment(value, around),
        _ if stripped || around.makes_marker(value) => escape::interpolation(value),
        Context::Quoted => escape::quoted_text(value),
        Context::Template => escape::bare_template_text(value),
        Context::Heredoc(marker) => heredoc(value, marker, line_before(text, site.range.start)),
    }
}

/// The characters next to a placeholder.
#[derive(Clone, Copy)]
struct Around {
    before: Option<char>,
    after: Option<char>,
}

impl Around {
    /// Whether the value and its neighbours would make a `${` or `%{`, or the escape of one, that neither holds alone.
    fn makes_marker(self, value: &str) -> bool {
        let with_before = self.before == Some('%')
            && (value.starts_with('{') || value.is_empty() && matches!(self.after, Some('{' | '%' | '$')));
        let with_after = value.ends_with(['$', '%']) && matches!(self.after, Some('{' | '$' | '%'));
        with_before || with_after
    }

    /// Whether a literal that is a word would become part of another one, or the marker of a heredoc.
    fn makes_word(self, literal: &str) -> bool {
        let joins = |neighbour: char| neighbour.is_alphanumeric() || matches!(neighbour, '_' | '-' | '<');
        literal.starts_with(char::is_alphabetic)
            && (self.before.is_some_and(joins) || self.after.is_some_and(joins))
    }
}

fn heredoc(value: &str, marker: &str, line_before: &str) -> String {
    let breaks_line = value.contains(char::is_control);
    // An empty value could leave a blank line, which does not count for the indentation of `<<-`.
    let changes_indentation = value.is_empty() || has_space_at_an_edge(value);
    if breaks_line || changes_indentation || may_end_heredoc(value, marker, line_before) {
        escape::interpolation(value)
    } else {
        escape::template_text(value)
    }
}

/// Whether the line could begin with the heredoc's marker once the value is in it.
///
/// Terraform wants the marker alone on its line, other readers are content with its being first.
fn may_end_heredoc(value: &str, marker: &str, line_before: &str) -> bool {
    let before = line_before.trim_start();
    match before.split_once("${") {
        None => {
            let line = format!("{before}{value}");
            marker.starts_with(&line) || line.starts_with(marker)
        }
        // Other values come first on this line: any of them may make up the beginning of the marker.
        Some((fixed, _)) => {
            let ends_of_marker = marker.char_indices().map(|(index, _)| &marker[index..]);
            marker.starts_with(fixed)
                && (marker.contains(value) || ends_of_marker.into_iter().any(|end| value.starts_with(end)))
        }
    }
}

fn line_before(text: &str, position: usize) -> &str {
    text[..position].rsplit('\n').next().unwrap_or_default()
}

/// A value outside of strings is one expression: the literal that it is, or else a quoted string.
fn expression(value: &str, around: Around) -> String {
    literal::rewrite(value, escape::quoted)
        .filter(|literal| !around.makes_word(literal))
        .unwrap_or_else(|| escape::quoted(value))
}

fn comment(value: &str, around: Around) -> String {
    let mut comment = escape::comment(value);
    if around.before == Some('*') && (comment.is_empty() || comment.starts_with('/')) {
        comment.insert(0, ' ');
    }
    if comment.ends_with('*') && matches!(around.after, Some('/' | '$')) {
        comment.push(' ');
    }
    comment
}

fn has_space_at_an_edge(value: &str) -> bool {
    value.starts_with(char::is_whitespace) || value.ends_with(char::is_whitespace)
}
