//! Keys with dots that were taken apart at them.

use crate::helm_values::path::{Segment, TargetPath};

/// Ends of the domains that keys of annotations and labels begin with.
const TOP_LEVEL: [&str; 11] = ["ai", "app", "aws", "cloud", "co", "com", "dev", "io", "net", "org", "sh"];

/// A key that was taken apart.
pub(super) struct Dots {
    /// The key as it was meant.
    pub(super) key: String,
    /// The path with it.
    pub(super) instead: TargetPath,
    /// It can hardly be meant otherwise.
    pub(super) certain: bool,
}

/// Finds a key that was meant to be one: below what holds texts by their keys there are no further keys, and what has a
/// slash begins with a domain.
pub(super) fn unescaped(path: &TargetPath) -> Option<Dots> {
    let segments = path.segments();
    let (begin, certain) = below_texts(segments).or_else(|| Some((domain(segments)?, true)))?;
    let (before, taken_apart) = segments.split_at(begin);
    let keys: Option<Vec<&str>> = taken_apart.iter().map(key_of).collect();
    let key = keys?.join(".");
    let mut whole = before.to_vec();
    whole.push(Segment::Key(key.clone()));
    Some(Dots { key, instead: TargetPath::from_segments(whole)?, certain })
}

fn key_of(segment: &Segment) -> Option<&str> {
    match segment {
        Segment::Key(key) => Some(key),
        Segment::Index(_) => None,
    }
}

/// Where the key begins below annotations, labels or a node selector.
fn below_texts(segments: &[Segment]) -> Option<(usize, bool)> {
    let parent = segments.iter().rposition(|segment| key_of(segment).is_some_and(holds_texts))?;
    let below = &segments[parent + 1..];
    if below.len() < 2 {
        return None;
    }
    Some((parent + 1, below.iter().filter_map(key_of).any(|key| key.contains('/'))))
}

fn holds_texts(key: &str) -> bool {
    matches!(key, "annotations" | "labels" | "nodeSelector" | "matchLabels")
        || ["Annotations", "Labels", "NodeSelector"].iter().any(|end| key.ends_with(end))
}

/// Where a key with a slash begins whose domain was taken apart. The first segment is what it is in.
fn domain(segments: &[Segment]) -> Option<usize> {
    let slash = segments.iter().position(|segment| {
        key_of(segment).and_then(|key| key.split_once('/')).is_some_and(|(host, _)| TOP_LEVEL.contains(&host))
    })?;
    let mut begin = slash;
    while begin > 1 && key_of(&segments[begin - 1]).is_some_and(is_label) {
        begin -= 1;
    }
    (begin < slash).then_some(begin)
}

/// Whether it can be a part of a domain; keys of charts mostly have capital letters.
fn is_label(key: &str) -> bool {
    key.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}
