//! Takes a stream of YAML apart, so that one broken document does not hide the others.
//!
//! Nothing but a marker can begin with `---` or `...` and a blank at the very start of a line: YAML forbids it even
//! inside of texts.

use std::borrow::Cow;

/// One document of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Document<'stream> {
    /// The document with its directives and its marker.
    pub(super) text: &'stream str,
    /// The line of the stream that the text begins in, counted from 1.
    pub(super) line: usize,
    /// The line of the stream that has the first content.
    pub(super) content: usize,
}

/// The text with one kind of line break, and without the marks that editors put at the start of files.
pub(super) fn normalized(text: &str) -> Cow<'_, str> {
    const BYTE_ORDER_MARK: char = '\u{feff}';
    if !text.contains(['\r', BYTE_ORDER_MARK]) {
        return Cow::Borrowed(text);
    }
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    // Files that were joined have them in the middle.
    let lines = text.split_inclusive('\n').map(|line| line.trim_start_matches(BYTE_ORDER_MARK));
    Cow::Owned(lines.collect())
}

/// The documents of a stream. One without anything in it counts if a marker begins it.
pub(super) fn documents(stream: &str) -> Vec<Document<'_>> {
    let mut documents = Vec::new();
    let mut current = Current { start: 0, line: 1, content: None, begun: false };
    let mut offset = 0;
    for (index, text) in stream.split_inclusive('\n').enumerate() {
        let line = index + 1;
        let next = offset + text.len();
        if is_marker(text, "---") {
            if current.begun {
                documents.push(current.document(stream, offset));
                current = Current { start: offset, line, content: None, begun: false };
            }
            current.begun = true;
            current.content = is_content(&text["---".len()..]).then_some(line);
        } else if is_marker(text, "...") {
            if current.begun {
                documents.push(current.document(stream, offset));
            }
            current = Current { start: next, line: line + 1, content: None, begun: false };
        } else if is_content(text) && (current.begun || !text.starts_with('%')) {
            current.begun = true;
            current.content = current.content.or(Some(line));
        }
        offset = next;
    }
    if current.begun {
        documents.push(current.document(stream, offset));
    }
    documents
}

/// A document whose end is not found yet.
struct Current {
    start: usize,
    line: usize,
    content: Option<usize>,
    /// Directives and comments do not begin a document.
    begun: bool,
}

impl Current {
    fn document<'stream>(&self, stream: &'stream str, end: usize) -> Document<'stream> {
        Document {
            text: &stream[self.start..end],
            line: self.line,
            content: self.content.unwrap_or(self.line),
        }
    }
}

/// Whether a line, of a text with one kind of line break, is a marker.
pub(crate) fn is_marker(line: &str, marker: &str) -> bool {
    line.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n']))
}

fn is_content(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && !text.starts_with('#')
}
