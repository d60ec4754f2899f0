//! Outputs of a module that somebody wrote down.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::yaml::without_aliases;

/// Outputs by name, as the connection Secret holds them: a text as it is, everything else as JSON.
pub type Outputs = BTreeMap<String, Vec<u8>>;

/// Why a text tells no outputs.
#[derive(Debug, thiserror::Error)]
pub enum NoOutputs {
    /// It is neither YAML nor JSON. What is wrong is not quoted: outputs may be secret.
    #[error(
        "this is neither YAML nor JSON (line {line}); write what `terraform output -json` prints, or NAME: VALUE"
    )]
    Unreadable {
        /// Where it ends to be.
        line: u64,
    },
    /// It is something else.
    #[error("this is no mapping; write what `terraform output -json` prints, or NAME: VALUE")]
    NoMapping,
}

/// Reads what `terraform output -json` prints, or a plain mapping of names to values. What is null is not among them.
pub fn read_outputs(text: &str) -> Result<Outputs, NoOutputs> {
    let read: Value = serde_saphyr::from_str_with_options(text, without_aliases()).map_err(|error| {
        NoOutputs::Unreadable { line: error.location().map_or(1, |location| location.line()) }
    })?;
    let Value::Object(read) = read else { return Err(NoOutputs::NoMapping) };
    let outputs = read.into_iter().filter_map(|(name, value)| Some((name, bytes(unwrapped(value))?)));
    Ok(outputs.collect())
}

/// The value itself, where Terraform has written what it is beside it.
fn unwrapped(mut value: Value) -> Value {
    match value.as_object_mut() {
        Some(told) if told.contains_key("sensitive") => told.remove("value").unwrap_or_default(),
        _ => value,
    }
}

fn bytes(value: Value) -> Option<Vec<u8>> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.into_bytes()),
        other => Some(other.to_string().into_bytes()),
    }
}
