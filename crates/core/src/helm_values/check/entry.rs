//! One entry of `spec.valuesFrom`, by itself.

use capt_api::resource_set::ResourceKind;
use serde_json::Value;

use super::finding::Finding;
use super::problem::Problem;
use super::{Entry, grammar, place};
use crate::helm_values::reference::Reference;

/// What names of objects and keys may have, in bytes.
const LONGEST_NAME: usize = 253;

/// Tells what is wrong with an entry, and gives it back if there is something to look at further.
pub(super) fn check(
    index: usize,
    value: &Value,
    namespace: &str,
    findings: &mut Vec<Finding>,
) -> Option<Entry> {
    let mut tell = |field: &str, problem: Problem| findings.push(Finding::new(place(index, field), problem));
    if !value.is_object() {
        findings.push(Finding::new(format!("spec.valuesFrom[{index}]"), Problem::EntryNotMapping));
        return None;
    }
    let kinds = [ResourceKind::ConfigMap, ResourceKind::Secret];
    if !kinds.iter().any(|kind| value["kind"] == kind.as_str()) {
        tell("kind", Problem::Kind);
    }
    let name = value["name"].as_str().unwrap_or_default();
    if name.is_empty() || name.len() > LONGEST_NAME {
        tell("name", Problem::Name { namespace: namespace.to_owned() });
    }
    for field in ["optional", "literal"] {
        if !value[field].is_null() && !value[field].is_boolean() {
            tell(field, Problem::NotTruth);
        }
    }
    let key = &value["valuesKey"];
    let usable = key.is_null() || key.as_str().is_some_and(is_key);
    if !usable {
        tell("valuesKey", Problem::Key);
    }
    let path = match &value["targetPath"] {
        Value::Null => {
            if value["literal"] == true {
                tell("literal", Problem::LiteralWithoutPath);
            }
            None
        }
        Value::String(text) => {
            let (path, problems) = grammar::check(text);
            for problem in problems {
                tell("targetPath", problem);
            }
            path
        }
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            tell("targetPath", Problem::PathNotText);
            return None;
        }
    };
    let reference = Reference::read(value).filter(|_| usable && value["targetPath"] != "")?;
    Some(Entry { index, reference, path })
}

fn is_key(key: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    !key.is_empty() && key.len() <= LONGEST_NAME && key.bytes().all(allowed)
}
