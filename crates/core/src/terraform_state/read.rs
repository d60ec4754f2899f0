//! Reads a state.

use std::collections::BTreeMap;

use secrecy::SecretString;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::sensitive::{HIDDEN, Marks, shown, tells_of_a_secret, texts};
use super::{Inspected, Problem, ResourceView};
use crate::digest::short_digest;
use crate::migration::state;

/// Values stay text as long as possible: they may hold larger numbers, or be nested deeper, than can be read.
#[derive(Deserialize)]
struct Whole<'text> {
    #[serde(default)]
    lineage: String,
    #[serde(default)]
    terraform_version: String,
    #[serde(borrow, default)]
    outputs: BTreeMap<String, Output<'text>>,
    #[serde(borrow, default)]
    resources: Vec<Resource<'text>>,
}

#[derive(Deserialize)]
struct Output<'text> {
    #[serde(borrow)]
    value: Option<&'text RawValue>,
    #[serde(default)]
    sensitive: bool,
}

#[derive(Deserialize)]
struct Resource<'text> {
    #[serde(borrow, default)]
    instances: Vec<&'text RawValue>,
}

#[derive(Deserialize)]
struct Instance<'text> {
    #[serde(borrow, default)]
    attributes: Option<BTreeMap<String, &'text RawValue>>,
    #[serde(borrow, default)]
    sensitive_attributes: Option<&'text RawValue>,
    #[serde(default)]
    deposed: Option<String>,
    #[serde(default)]
    status: Option<String>,
}

/// Reads what is in a state, without what is sensitive.
pub fn inspect(text: &[u8]) -> Result<Inspected, Problem> {
    let (text, resources, serial) = state::read(text)?;
    let whole: Whole<'_> = serde_json::from_str(text)
        .map_err(|error| Problem::NotAState { line: error.line(), column: error.column() })?;
    let mut secrets = Vec::new();
    let mut views = Vec::new();
    for (named, written) in resources.iter().zip(whole.resources) {
        for (address, text) in named.instances().zip(written.instances) {
            views.push(instance(address, text, &mut secrets)?);
        }
    }
    let outputs = whole.outputs.into_iter().map(|(name, output)| {
        let hidden = output.sensitive;
        let value = output.value.map_or(Value::Null, |value| attribute(&name, value, hidden, &mut secrets));
        (name, value)
    });
    Ok(Inspected {
        serial,
        outputs: outputs.collect(),
        lineage: whole.lineage,
        terraform_version: whole.terraform_version,
        resources: views,
        secrets: secrets.into_iter().map(SecretString::from).collect(),
    })
}

fn instance(address: String, text: &RawValue, secrets: &mut Vec<String>) -> Result<ResourceView, Problem> {
    let written: Instance<'_> = serde_json::from_str(text.get())
        .map_err(|error| Problem::NotAState { line: error.line(), column: error.column() })?;
    let marks = Marks::of(written.sensitive_attributes);
    let attributes = written.attributes.unwrap_or_default().into_iter().map(|(name, value)| {
        let value = attribute(&name, value, marks.hide(&name), secrets);
        (name, value)
    });
    Ok(ResourceView {
        attributes: attributes.collect(),
        address,
        deposed: written.deposed.is_some_and(|key| !key.is_empty()),
        tainted: written.status.as_deref() == Some("tainted"),
        digest: short_digest([text.get()], 64),
    })
}

/// What cannot be read is hidden as a whole: nobody knows what is in it.
fn attribute(name: &str, raw: &RawValue, hidden: bool, secrets: &mut Vec<String>) -> Value {
    match serde_json::from_str::<Value>(raw.get()).map(without_type) {
        Ok(value) => match packed(name, &value, hidden) {
            Some(inner) => {
                texts(&inner, secrets);
                Value::from(HIDDEN)
            }
            None => shown(name, value, hidden, secrets),
        },
        Err(_) => Value::from(HIDDEN),
    }
}

/// A value whose type only the module knows is kept with its type beside it, which nobody asks for.
fn without_type(value: Value) -> Value {
    match value {
        Value::Object(mut fields)
            if fields.len() == 2
                && fields.contains_key("value")
                && fields.get("type").is_some_and(|type_| type_.is_string() || type_.is_array()) =>
        {
            fields.remove("value").unwrap_or_default()
        }
        other => other,
    }
}

/// JSON in a text, as many attributes have it: what is in there and told to be a secret is one.
fn packed(name: &str, value: &Value, hidden: bool) -> Option<Value> {
    fn holds_secret(value: &Value) -> bool {
        match value {
            Value::Object(fields) => {
                fields.iter().any(|(name, field)| tells_of_a_secret(name) || holds_secret(field))
            }
            Value::Array(items) => items.iter().any(holds_secret),
            _ => false,
        }
    }
    let text =
        value.as_str().filter(|text| !hidden && !tells_of_a_secret(name) && text.starts_with(['{', '[']))?;
    serde_json::from_str(text).ok().filter(holds_secret)
}
