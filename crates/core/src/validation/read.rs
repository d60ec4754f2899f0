//! From the text of a file to its documents.

use std::borrow::Cow;

use serde_saphyr::{Error, UserMessageFormatter};

use crate::manifest::is_marker;

use super::node::{Node, position};
use super::position::Position;

/// How deep lists and mappings may be in each other, as for manifests that are delivered.
const DEEPEST: usize = 50;

/// How many documents one text may have.
const MOST: usize = 2_000;

/// The documents of a text that can be read, and what is wrong with the others.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) documents: Vec<Node>,
    pub(super) problems: Vec<(Position, Unreadable)>,
}

/// Why a document cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unreadable {
    #[error("this cannot be read as YAML ({0}); correct it here or just before")]
    NotYaml(String),
    #[error("the key {0} is there twice in one mapping; remove one of them")]
    DuplicateKey(String),
    #[error(
        "this is nested too deeply, or holds too many values or aliases (`*name`); split it, and write out what the \
         aliases stand for"
    )]
    TooComplex,
    #[error("there are more than 2,000 documents; split the file")]
    TooMany,
}

impl Unreadable {
    /// The same without a word of what was read.
    pub(super) fn without_content(&self) -> String {
        match self {
            Self::NotYaml(_) => "this cannot be read as YAML; correct it here or just before".to_owned(),
            Self::DuplicateKey(_) => "a key is there twice in one mapping; remove one of them".to_owned(),
            Self::TooComplex | Self::TooMany => self.to_string(),
        }
    }
}

/// Reads every document of YAML or JSON. One that is broken does not hide those after it.
pub(super) fn read(text: &str) -> Reading {
    let text = plain(text);
    let mut reading = Reading::default();
    let mut start = 0;
    loop {
        let before = text[..start].matches('\n').count();
        let mut broken = None;
        let mut bytes = &text.as_bytes()[start..];
        for document in serde_saphyr::read_with_options::<_, Node>(&mut bytes, options(text.len())) {
            match document {
                Ok(node) => reading.documents.push(moved(node, before)),
                Err(error) => {
                    let at = error.location().map_or(Position::START, position);
                    reading.problems.push((Position { line: at.line + before, ..at }, told(&error)));
                    broken = Some(at.line + before);
                }
            }
            if reading.documents.len() + reading.problems.len() > MOST {
                reading.problems.push((Position::START, Unreadable::TooMany));
                return reading;
            }
        }
        // The reader gives up at a broken document: what comes after the next marker may be good.
        match broken.and_then(|line| marker_after(&text, line)).filter(|next| *next > start) {
            Some(next) => start = next,
            None => break,
        }
    }
    reading.problems.dedup();
    reading
}

/// What every reader of YAML takes: one kind of line break, no marks of editors, and JSON without tabs.
fn plain(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text.trim_start_matches('\u{feff}'));
    if text.contains('\r') {
        text = text.replace("\r\n", "\n").replace('\r', "\n").into();
    }
    let is_json = text.contains('\t') && serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
    if is_json { text.replace('\t', " ").into() } else { text }
}

/// Values are read as Kubernetes reads them, which speaks YAML 1.1. What aliases add stays in proportion to what somebody had
/// to write.
fn options(length: usize) -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: DEEPEST,
            flow_nesting_limit: DEEPEST * 2,
            max_nodes: 1_000 + length / 2,
            max_total_scalar_bytes: 1_000 + length * 4,
            max_recorded_anchor_events: 100_000,
        },
        legacy_octal_numbers: true,
        with_snippet: false,
    }
}

/// Where the first marker of a document after this line begins.
fn marker_after(text: &str, line: usize) -> Option<usize> {
    let mut offset = 0;
    for (index, content) in text.split_inclusive('\n').enumerate() {
        if index >= line && is_marker(content, "---") {
            return Some(offset);
        }
        offset += content.len();
    }
    None
}

/// A document of a text that is itself part of a text.
fn moved(mut node: Node, lines: usize) -> Node {
    fn all(node: &mut Node, lines: usize) {
        use super::node::Content;
        node.at.line += lines;
        match &mut node.content {
            Content::Scalar(_) => {}
            Content::List(items) => items.iter_mut().for_each(|item| all(item, lines)),
            Content::Mapping(fields) => fields.iter_mut().for_each(|field| {
                field.at.line += lines;
                all(&mut field.node, lines);
            }),
        }
    }
    if lines > 0 {
        all(&mut node, lines);
    }
    node
}

fn told(error: &Error) -> Unreadable {
    let mut innermost = error;
    while let Error::AliasError { error, .. } | Error::WithSnippet { error, .. } = innermost {
        innermost = error;
    }
    match innermost {
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => Unreadable::TooComplex,
        Error::DuplicateMappingKey { key, .. } => {
            Unreadable::DuplicateKey(key.as_deref().map(|key| format!("`{key}`")).unwrap_or_default())
        }
        other => {
            let words = other.render_with_formatter(&UserMessageFormatter);
            // It has its own count of lines.
            Unreadable::NotYaml(words.split(" at line ").next().unwrap_or_default().to_owned())
        }
    }
}
