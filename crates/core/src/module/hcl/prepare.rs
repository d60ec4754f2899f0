//! What is checked and smoothed before a parser sees the text.

use std::borrow::Cow;

use super::Invalid;
use crate::placeholder::scan::{Start, scan};

/// Far more than people write, and far less than what a parser's stack can take.
const MAX_DEPTH: usize = 256;

/// The text with the same lines and the same length, free of what Terraform reads and the parser does not.
pub(super) fn prepare(text: &str) -> Result<Cow<'_, str>, Invalid> {
    let found = scan(text, Start::Body);
    if found.depth > MAX_DEPTH {
        let message =
            format!("brackets are nested {} levels deep, and at most {MAX_DEPTH} can be read", found.depth);
        return Err(Invalid::at(text, found.deepest, message, false));
    }
    if let Some(line_break) = found.split_string {
        let message = "a quoted string must end on its line: close it with `\"`, or use a heredoc (`<<EOT`) for \
                       several lines";
        return Err(Invalid::at(text, line_break, message.to_owned(), true));
    }
    Ok(without(text, &found.obstacles))
}

/// The text with each of the characters at these offsets replaced by what has no meaning.
fn without<'text>(text: &'text str, obstacles: &[usize]) -> Cow<'text, str> {
    if obstacles.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut smooth = String::with_capacity(text.len());
    let mut copied = 0;
    for obstacle in obstacles {
        smooth.push_str(&text[copied..*obstacle]);
        copied = *obstacle;
        if let Some(character) = text[copied..].chars().next() {
            let meaningless = if character == '\r' { ' ' } else { '-' };
            smooth.extend(std::iter::repeat_n(meaningless, character.len_utf8()));
            copied += character.len_utf8();
        }
    }
    smooth.push_str(&text[copied..]);
    Cow::Owned(smooth)
}
