//! Target paths beside `spec.values`.

use std::borrow::Cow;

use serde_json::Value;

use super::Entry;
use super::finding::Finding;
use super::neighbours::Standing;
use super::problem::{Problem, Winner};
use crate::helm_values::path::{Segment, TargetPath, write_segments};
use crate::helm_values::preview::preview;
use crate::helm_values::reference::Reference;

/// What no value is.
const MARK: &str = "\u{0}set by a reference\u{0}";

/// What `spec.values` has where a path leads.
enum Met {
    Nothing,
    /// A value, at the end of the path.
    Value,
    /// Something that the path cannot go through, after so many segments.
    Barrier {
        segments: usize,
        wants_list: bool,
    },
}

/// Tells of paths that meet `spec.values`, unless they cannot be set anyhow.
pub(super) fn check(values: &Value, entries: &[Entry], standings: &[Standing], findings: &mut Vec<Finding>) {
    let mut settable = Vec::new();
    for (entry, standing) in entries.iter().zip(standings) {
        let Some(path) = entry.path.as_ref().filter(|_| *standing != Standing::Unset) else { continue };
        match met(values, path.segments()) {
            Met::Barrier { segments, wants_list } => {
                let at = shown(&path.segments()[..segments]);
                let problem = Problem::ThroughInline { at, wants_list };
                findings.push(Finding::new(entry.place("targetPath"), problem));
            }
            Met::Value => settable.push((entry, path, true, *standing)),
            Met::Nothing => settable.push((entry, path, false, *standing)),
        }
    }
    let references: Vec<Reference> = settable.iter().map(|(entry, ..)| marked(entry)).collect();
    let Ok(result) = preview(values, &references, |_, _, _| Some(Cow::Borrowed(MARK.as_bytes()))) else {
        return;
    };
    for (entry, path, also_inline, standing) in settable {
        let set = at(&result, path.segments()).is_some_and(|value| value == MARK);
        let problem = if also_inline {
            let winner = winner(set, path, entry, entries);
            if entry.reference.optional && winner == Winner::Reference {
                // What is inline is for when there is nothing else.
                continue;
            }
            Problem::AlsoInline { at: path.to_string(), winner }
        } else if !set && standing == Standing::Stays {
            Problem::LostInList { at: list_of(path) }
        } else {
            continue;
        };
        findings.push(Finding::new(entry.place("targetPath"), problem));
    }
}

/// The reference with a value that is recognised.
fn marked(entry: &Entry) -> Reference {
    Reference { literal: true, ..entry.reference.clone() }
}

/// A file of values that comes before may have what the path leads through, and then the path is not set in
/// `spec.values` itself.
fn winner(set: bool, path: &TargetPath, entry: &Entry, entries: &[Entry]) -> Winner {
    let after_file =
        entries.iter().any(|other| other.index < entry.index && other.reference.target_path.is_none());
    match set {
        true if after_file && path.segments().len() > 1 => Winner::Unclear,
        true => Winner::Reference,
        false => Winner::Inline,
    }
}

/// What is met on the way. An item of a list that is no mapping makes room for one, and nothing for a list.
fn met(values: &Value, segments: &[Segment]) -> Met {
    let mut value = values;
    for (position, segment) in segments.iter().enumerate() {
        let barrier = |wants_list| Met::Barrier { segments: position, wants_list };
        let in_list = position > 0 && matches!(segments[position - 1], Segment::Index(_));
        let next = match (segment, value) {
            (Segment::Key(key), Value::Object(entries)) => entries.get(key),
            (Segment::Index(index), Value::Array(items)) => items.get(*index),
            (Segment::Key(_), _) if in_list || position == 0 => None,
            (Segment::Index(_), Value::Null) if in_list => None,
            (Segment::Key(_), _) => return barrier(false),
            (Segment::Index(_), _) => return barrier(true),
        };
        match next {
            Some(next) => value = next,
            None => return Met::Nothing,
        }
    }
    Met::Value
}

fn at<'tree>(tree: &'tree Value, segments: &[Segment]) -> Option<&'tree Value> {
    segments.iter().try_fold(tree, |value, segment| match segment {
        Segment::Key(key) => value.get(key),
        Segment::Index(index) => value.get(index),
    })
}

fn shown(segments: &[Segment]) -> String {
    let mut text = String::new();
    // Writing to a text does not fail.
    let _ = write_segments(&mut text, segments);
    text
}

/// The path of the list that the first index is of.
fn list_of(path: &TargetPath) -> String {
    let segments = path.segments();
    let end = segments.iter().position(|segment| matches!(segment, Segment::Index(_)));
    shown(&segments[..end.unwrap_or(segments.len())])
}
