//! Replaces `${NAME}` in manifests by what it is for a cluster.
//!
//! A value stays inside the text that it is written into, whatever it looks like, since the tree is changed and not what
//! it was written as. `$${NAME}` becomes `${NAME}`. Everything else with a `$` stays byte for byte.

mod placeholder;
#[cfg(test)]
mod tests;
mod variables;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use super::problem::sentences;
use super::{Invalid, Manifest, Place, Problem, object};
use crate::near::nearest;
pub use variables::{Inputs, variables};

/// A name that is asked for and not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The name.
    pub name: String,
    /// A known name that was likely meant.
    pub suggestion: Option<String>,
    /// Where it is asked for.
    pub places: Vec<Place>,
}

impl fmt::Display for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, suggestion, places } = self;
        if let Some(first) = places.first() {
            write!(formatter, "{first}")?;
        }
        match places.len().saturating_sub(1) {
            0 => {}
            1 => formatter.write_str(", and one more")?,
            more => write!(formatter, ", and {more} more")?,
        }
        write!(formatter, ": `${{{name}}}` is not known for this cluster")?;
        match suggestion {
            Some(suggestion) => write!(formatter, "; perhaps `${{{suggestion}}}` is meant"),
            None => Ok(()),
        }
    }
}

/// Why manifests could not be rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrendered {
    /// Names that are not known, in order.
    pub missing: Vec<Missing>,
    /// Objects that cannot be used once they are rendered.
    pub invalid: Vec<Invalid>,
    /// The names that are known.
    pub known: Vec<String>,
}

impl fmt::Display for Unrendered {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { missing, invalid, known } = self;
        sentences(formatter, missing)?;
        if missing.is_empty() {
            return sentences(formatter, invalid);
        }
        write!(
            formatter,
            ". Known are {}. Give the module an output of that name, or write `$${{NAME}}` for what is to stay as it is",
            known.join(", ")
        )?;
        if !invalid.is_empty() {
            formatter.write_str(". ")?;
        }
        sentences(formatter, invalid)
    }
}

impl std::error::Error for Unrendered {}

/// Replaces the placeholders in every text of the manifests, and in the keys of labels and annotations.
pub fn render(
    manifests: &[Manifest],
    variables: &BTreeMap<String, String>,
) -> Result<Vec<Manifest>, Unrendered> {
    let mut missing: BTreeMap<String, Vec<Place>> = BTreeMap::new();
    let mut invalid = Vec::new();
    let mut rendered = Vec::with_capacity(manifests.len());
    for Manifest { place, object } in manifests {
        let mut walk = Walk { variables, missing: Vec::new(), problems: Vec::new() };
        let object = walk.tree(object);
        let Walk { missing: names, mut problems, .. } = walk;
        // What a name is becomes clear only now; one that is not known says it better itself. Values may be secret.
        if names.is_empty() {
            problems.extend(object::problems(&object, false));
        }
        invalid.extend(problems.into_iter().map(|problem| Invalid::at(place, problem)));
        for name in names {
            let places = missing.entry(name).or_default();
            if places.last() != Some(place) {
                places.push(place.clone());
            }
        }
        rendered.push(Manifest { place: place.clone(), object });
    }
    if missing.is_empty() && invalid.is_empty() {
        return Ok(rendered);
    }
    let known: Vec<String> = variables.keys().cloned().collect();
    let suggestion = |name: &str| nearest(name, known.iter().map(String::as_str)).map(ToOwned::to_owned);
    let missing = missing
        .into_iter()
        .map(|(name, places)| Missing { suggestion: suggestion(&name), name, places })
        .collect();
    Err(Unrendered { missing, invalid, known })
}

/// A walk through one object.
struct Walk<'walk> {
    variables: &'walk BTreeMap<String, String>,
    missing: Vec<String>,
    problems: Vec<Problem>,
}

impl Walk<'_> {
    fn tree(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.tree(item)).collect(),
            Value::Object(fields) => fields
                .iter()
                .map(|(key, field)| match (key.as_str(), field) {
                    ("metadata", Value::Object(metadata)) => (key.clone(), self.metadata(metadata)),
                    _ => (key.clone(), self.tree(field)),
                })
                .collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// The metadata of an object, or of a template of objects.
    fn metadata(&mut self, metadata: &Map<String, Value>) -> Value {
        metadata
            .iter()
            .map(|(key, field)| match (key.as_str(), field) {
                ("labels" | "annotations", Value::Object(labels)) => (key.clone(), self.labels(labels)),
                _ => (key.clone(), self.tree(field)),
            })
            .collect()
    }

    fn labels(&mut self, labels: &Map<String, Value>) -> Value {
        let mut rendered = Map::new();
        for (key, value) in labels {
            if rendered.insert(self.text(key), self.tree(value)).is_some() {
                self.problems.push(Problem::LabelTwice);
            }
        }
        Value::Object(rendered)
    }

    fn text(&mut self, text: &str) -> String {
        placeholder::replace(text, |name| {
            let value = self.variables.get(name).map(String::as_str);
            if value.is_none() {
                self.missing.push(name.to_owned());
            }
            value
        })
    }
}
