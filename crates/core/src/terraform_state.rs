//! A state of Terraform's as people look at it, and as it is put back.
//!
//! What a state calls sensitive is hidden, and what its name tells to be a secret; whoever shows a state hides the same texts
//! wherever else they stand, see [`Inspected::redacted`].

mod compare;
mod read;
mod sensitive;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use secrecy::SecretString;
use serde::Serialize;
use serde_json::Value;

pub use crate::migration::state::Problem;
use crate::migration::state::spans::Spans;

pub use compare::Changed;
pub use read::inspect;
pub use sensitive::{HIDDEN, tells_of_a_secret as is_secret_name};

/// What is in a state.
#[derive(Debug)]
pub struct Inspected {
    /// How often it was written.
    pub serial: u64,
    /// Names it and all that follow from it.
    pub lineage: String,
    /// The version of the tool that wrote it.
    pub terraform_version: String,
    /// Its resources, as they stand there.
    pub resources: Vec<ResourceView>,
    /// Its outputs.
    pub outputs: BTreeMap<String, Value>,
    /// Texts that are hidden.
    pub secrets: Vec<SecretString>,
}

/// An instance of a resource.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceView {
    /// Its address.
    pub address: String,
    /// Whether it was replaced, and is still to be destroyed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deposed: bool,
    /// Whether the next apply is to replace it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tainted: bool,
    /// Its attributes, without what is sensitive.
    pub attributes: BTreeMap<String, Value>,
    /// Names what it really is, hidden values and all.
    #[serde(skip)]
    digest: String,
}

impl Inspected {
    /// The same, with every text passed through `redact`.
    #[must_use]
    pub fn redacted(self, redact: impl Fn(&str) -> String) -> Self {
        let redact = &redact;
        let all = |values: BTreeMap<String, Value>| {
            values.into_iter().map(|(name, value)| (name, redacted(value, redact))).collect()
        };
        Self {
            outputs: all(self.outputs),
            resources: self
                .resources
                .into_iter()
                .map(|resource| ResourceView {
                    address: redact(&resource.address),
                    attributes: all(resource.attributes),
                    ..resource
                })
                .collect(),
            ..self
        }
    }
}

fn redacted(value: Value, redact: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(redact(&text)),
        Value::Array(items) => items.into_iter().map(|item| redacted(item, redact)).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, field)| (redact(&name), redacted(field, redact))).collect()
        }
        other => other,
    }
}

/// The same state with another serial. Everything else stays as it is written.
pub fn renumbered(state: &[u8], serial: u64) -> Result<Vec<u8>, Problem> {
    let (text, _, _) = crate::migration::state::read(state)?;
    let place = Spans::of(text).serial;
    Ok([&text[..place.start], &serial.to_string(), &text[place.end..]].concat().into_bytes())
}
