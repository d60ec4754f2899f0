//! One `HelmRelease` and what it reads.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capt_core::helm_values::{Problem, Reference, preview};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// What marks a float that is no whole number which every float can be.
const FLOAT: &str = "\0float";

/// `spec.values`, `spec.valuesFrom`, and the objects that there are.
#[derive(Debug, Default, Serialize)]
pub(super) struct Case {
    pub(super) inline: Value,
    pub(super) references: Vec<Entry>,
    pub(super) objects: Vec<Object>,
}

/// An item of `spec.valuesFrom`.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) values_key: String,
    pub(super) target_path: String,
    pub(super) optional: bool,
    pub(super) literal: bool,
}

/// A `ConfigMap` or Secret.
#[derive(Debug, Serialize)]
pub(super) struct Object {
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) data: BTreeMap<String, Content>,
}

/// What a key holds, which need not be text.
#[derive(Clone, Debug)]
pub(super) struct Content(pub(super) Vec<u8>);

impl Serialize for Content {
    fn serialize<Into: Serializer>(&self, into: Into) -> Result<Into::Ok, Into::Error> {
        into.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl Case {
    /// What we say, in the form in which Flux's code answers.
    pub(super) fn preview(&self) -> Result<Value, Problem> {
        let references: Vec<Reference> =
            self.references.iter().filter_map(|entry| Reference::read(&json!(entry))).collect();
        let find = |kind: capt_api::resource_set::ResourceKind, name: &str, key: &str| {
            let mut objects = self.objects.iter();
            let object = objects.find(|object| object.kind == kind.as_str() && object.name == name)?;
            object.data.get(key).map(|Content(bytes)| Cow::Borrowed(bytes.as_slice()))
        };
        preview(&self.inline, &references, find).map(plain)
    }
}

/// Readers of JSON do not agree on what a number with a fraction or an exponent is.
fn plain(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(plain).collect(),
        Value::Object(entries) => entries.into_iter().map(|(key, value)| (key, plain(value))).collect(),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => json!({ FLOAT: format!("{:x}", float.to_bits()) }),
            None => Value::Number(number),
        },
        other @ (Value::Null | Value::Bool(_) | Value::String(_)) => other,
    }
}

impl fmt::Display for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "inline {}", self.inline)?;
        for entry in &self.references {
            write!(formatter, "\n  reads {}", json!(entry))?;
        }
        for Object { kind, name, data } in &self.objects {
            for (key, Content(bytes)) in data {
                write!(formatter, "\n  {kind} {name}, key {key}: {:?}", String::from_utf8_lossy(bytes))?;
            }
        }
        Ok(())
    }
}
