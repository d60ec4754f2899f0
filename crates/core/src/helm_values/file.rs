//! Whole files of values.

mod document;

use serde_json::{Map, Value};
use serde_saphyr::options::DuplicateKeyPolicy;

use document::Document;

/// What is wrong with a file of values. It reads on after what the file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileFlaw {
    /// Bytes that are no text.
    #[error("is not UTF-8 text")]
    NotText,
    /// No YAML, or larger than anybody means.
    #[error("cannot be read as YAML")]
    NotYaml,
    /// A single value, or a list.
    #[error("is not a mapping, as a file of values must be")]
    NotMapping,
}

/// How deep lists and mappings may be in each other: the reader needs some stack for each.
const DEEPEST: usize = 50;

/// Reads a file of values. One that is empty has no values; what follows the first document is passed over.
///
/// Values are read as Kubernetes reads them, which speaks YAML 1.1: `yes` is true and `0644` is octal.
pub(super) fn read(content: &[u8]) -> Result<Value, FileFlaw> {
    let text = std::str::from_utf8(content).map_err(|_| FileFlaw::NotText)?;
    let options = serde_saphyr::options! {
        // Aliases can make much of little. What they add stays in proportion to what somebody had to write.
        budget: serde_saphyr::budget! {
            max_depth: DEEPEST,
            max_nodes: 1_000 + text.len() / 2,
            max_total_scalar_bytes: 1_000 + text.len() * 4,
            max_recorded_anchor_events: 100_000,
        },
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        legacy_octal_numbers: true,
        with_snippet: false,
    };
    let mut bytes = text.as_bytes();
    let first = serde_saphyr::read_with_options::<_, Document>(&mut bytes, options).next();
    let first = first.transpose().map_err(|_| FileFlaw::NotYaml)?;
    match first.map_or(Value::Null, |Document(value)| value) {
        Value::Null => Ok(Value::Object(Map::new())),
        Value::Object(values) => Ok(Value::Object(values)),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Err(FileFlaw::NotMapping),
    }
}
