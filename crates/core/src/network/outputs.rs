//! Reads the outputs of a network's module. They are other people's data: what cannot be used is passed over and told.

use std::collections::BTreeMap;

use capt_api::capt_cluster::FailureDomain;
use serde_json::{Map, Value};

/// The output with the network's identifier.
const VPC: &str = "vpc_id";
/// Outputs with the zones, the most telling first.
const ZONES: [&str; 3] = ["failure_domains", "availability_zones", "azs"];
/// How long an identifier may be; those of some clouds are paths.
const LONGEST_IDENTIFIER: usize = 512;
/// How long the name of a zone may be, as Cluster API has it.
const LONGEST_NAME: usize = 256;
/// How many zones the status takes.
const MOST_ZONES: usize = 100;

/// What the outputs say about a network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    /// The network's identifier.
    pub vpc: Option<String>,
    /// The zones in order, each once.
    pub failure_domains: Vec<FailureDomain>,
    /// What is missing or cannot be used, each in half a sentence.
    pub problems: Vec<String>,
}

/// Reads the outputs of a network's module.
pub fn read(outputs: &BTreeMap<String, Value>) -> Outputs {
    let mut problems = Vec::new();
    let vpc = vpc(outputs, &mut problems);
    let failure_domains = zones(outputs, &mut problems);
    Outputs { vpc, failure_domains, problems }
}

fn vpc(outputs: &BTreeMap<String, Value>, problems: &mut Vec<String>) -> Option<String> {
    let text = match outputs.get(VPC) {
        None | Some(Value::Null) => {
            problems.push(format!("no output `{VPC}` was found"));
            return None;
        }
        Some(Value::String(text)) => text,
        Some(other) => {
            problems.push(format!("output `{VPC}` is {} and not a text", kind(other)));
            return None;
        }
    };
    let usable = !text.is_empty()
        && text.len() <= LONGEST_IDENTIFIER
        && !text.chars().any(|character| character.is_whitespace() || character.is_control());
    if !usable {
        problems.push(format!("output `{VPC}` is empty, too long or has spaces in it"));
    }
    usable.then(|| text.clone())
}

/// The zones by the first output that names any.
fn zones(outputs: &BTreeMap<String, Value>, problems: &mut Vec<String>) -> Vec<FailureDomain> {
    for output in ZONES {
        let Some(value) = outputs.get(output) else { continue };
        let mut unusable = 0;
        let found: Vec<_> = match value {
            Value::Null => Vec::new(),
            Value::Array(entries) => entries.iter().map(entry).collect(),
            Value::Object(entries) => entries.iter().map(|(name, about)| named(name, about)).collect(),
            other => {
                problems.push(format!("output `{output}` is {} and not a list of zones", kind(other)));
                continue;
            }
        };
        let mut zones = BTreeMap::new();
        for zone in found {
            match zone {
                Some(zone) => drop(zones.entry(zone.name.clone()).or_insert(zone)),
                None => unusable += 1,
            }
        }
        if unusable > 0 {
            problems.push(format!("{unusable} entries of output `{output}` are not zones"));
        }
        if zones.len() > MOST_ZONES {
            problems.push(format!("output `{output}` has more than {MOST_ZONES} zones"));
        }
        if !zones.is_empty() {
            return zones.into_values().take(MOST_ZONES).collect();
        }
    }
    Vec::new()
}

/// A zone from a list: its name, or an object that has one. A zone that is only named is for every machine.
fn entry(entry: &Value) -> Option<FailureDomain> {
    match entry {
        Value::String(name) => zone(name, true, BTreeMap::new()),
        Value::Object(about) => described(about.get("name")?.as_str()?, about),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

/// A zone from a map of names.
fn named(name: &str, about: &Value) -> Option<FailureDomain> {
    match about {
        Value::Object(about) => described(name, about),
        Value::Null => zone(name, true, BTreeMap::new()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

fn described(name: &str, about: &Map<String, Value>) -> Option<FailureDomain> {
    let control_plane = match about.get("controlPlane").or_else(|| about.get("control_plane")) {
        None | Some(Value::Null) => false,
        Some(Value::Bool(given)) => *given,
        // In a map whose values are all of one type, Terraform turns it into a text.
        Some(Value::String(text)) => text.parse().ok()?,
        Some(Value::Number(_) | Value::Array(_) | Value::Object(_)) => return None,
    };
    let attributes = match about.get("attributes") {
        None | Some(Value::Null) => BTreeMap::new(),
        Some(Value::Object(attributes)) => attributes
            .iter()
            .map(|(key, value)| Some((key.clone(), scalar(value)?)))
            .collect::<Option<_>>()?,
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => return None,
    };
    zone(name, control_plane, attributes)
}

fn zone(name: &str, control_plane: bool, attributes: BTreeMap<String, String>) -> Option<FailureDomain> {
    let usable = !name.trim().is_empty() && name.len() <= LONGEST_NAME && !name.chars().any(char::is_control);
    usable.then(|| FailureDomain { name: name.to_owned(), control_plane, attributes })
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

#[cfg(test)]
mod tests;
