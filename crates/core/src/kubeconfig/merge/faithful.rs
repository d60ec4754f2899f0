//! Whether a kubeconfig can be written again without any value becoming another one.
//!
//! `password: 0123` is a number to a reader of YAML and a text to kubectl; what was written is lost once it is read.

use serde_json::Value;

use crate::kubeconfig::problem::{Invalid, Problem};

/// Fields that are true or false.
const BOOLEANS: [&str; 3] = ["insecure-skip-tls-verify", "disable-compression", "provideClusterInfo"];
/// Fields that others fill as they like.
const FREE: [&str; 2] = ["extensions", "preferences"];

/// Looks at every value.
pub(super) fn check(tree: &Value) -> Result<(), Invalid> {
    look(tree, "", false)
}

fn look(value: &Value, path: &str, boolean: bool) -> Result<(), Invalid> {
    let invalid = |reason: Problem| Err(Invalid { reason, field: path.to_owned() });
    match value {
        Value::Number(_) => invalid(Problem::NotText),
        Value::Bool(_) if !boolean => invalid(Problem::NotText),
        Value::String(_) if boolean => invalid(Problem::NotBoolean),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| look(item, &format!("{path}[{index}]"), false)),
        Value::Object(fields) => fields
            .iter()
            .filter(|(field, _)| !FREE.contains(&field.as_str()))
            .try_for_each(|(field, value)| {
                let path = if path.is_empty() { field.clone() } else { format!("{path}.{field}") };
                look(value, &path, BOOLEANS.contains(&field.as_str()))
            }),
    }
}
