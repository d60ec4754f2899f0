//! Words that are allowed, lengths, sizes and counts.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use serde_json::Value;

use super::super::near::nearest;
use super::super::node::{Content, Node};
use super::super::rules::pattern;
use crate::condition::cut;

/// How much of a word is repeated.
const SHOWN: usize = 60;

/// What is wrong with a value of the right type.
pub(super) fn problems(node: &Node, schema: &JSONSchemaProps, path: &str) -> Vec<String> {
    let mut problems = Vec::new();
    problems.extend(not_allowed(node, schema, path));
    match &node.content {
        Content::Scalar(Value::String(text)) => problems.extend(of_text(text, schema, path)),
        Content::Scalar(Value::Number(number)) => {
            problems.extend(number.as_f64().and_then(|number| of_number(number, schema, path)));
        }
        Content::Scalar(_) => {}
        Content::List(items) => {
            problems.extend(count(items.len(), schema.min_items, schema.max_items, path, "items"));
        }
        Content::Mapping(fields) => {
            problems.extend(count(fields.len(), schema.min_properties, schema.max_properties, path, "keys"));
        }
    }
    problems
}

fn not_allowed(node: &Node, schema: &JSONSchemaProps, path: &str) -> Option<String> {
    let allowed = schema.enum_.as_ref()?;
    let value = node.value();
    if allowed.iter().any(|word| word.0 == value) {
        return None;
    }
    let words: Vec<&str> = allowed.iter().filter_map(|word| word.0.as_str()).collect();
    let found = node.text().unwrap_or_default();
    let all = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let instead = nearest(found, words.iter().copied());
    let instead = instead.map_or_else(|| "write one of them".to_owned(), |near| format!("write `{near}`"));
    Some(format!("`{path}` is `{}`, which is none of {all}; {instead}", cut(found, SHOWN)))
}

fn of_text(text: &str, schema: &JSONSchemaProps, path: &str) -> Option<String> {
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    if schema.min_length.is_some_and(|least| length < least) {
        return Some(if text.is_empty() {
            format!("`{path}` is empty; write it, or leave the field out if it is not needed")
        } else {
            format!(
                "`{path}` has {length} characters and needs at least {}",
                schema.min_length.unwrap_or_default()
            )
        });
    }
    if let Some(most) = schema.max_length.filter(|most| length > *most) {
        return Some(format!("`{path}` has {length} characters, and {most} are allowed; shorten it"));
    }
    let wanted = schema.pattern.as_deref()?;
    (!pattern(wanted)?.is_match(text))
        .then(|| format!("`{path}` does not look as it has to; write what matches `{wanted}`"))
}

fn of_number(number: f64, schema: &JSONSchemaProps, path: &str) -> Option<String> {
    let too_small =
        |least: f64| if schema.exclusive_minimum == Some(true) { number <= least } else { number < least };
    let too_large =
        |most: f64| if schema.exclusive_maximum == Some(true) { number >= most } else { number > most };
    let range = match (schema.minimum, schema.maximum) {
        (Some(least), Some(most)) => format!("write a number from {least} to {most}"),
        (Some(least), None) => format!("write {least} or more"),
        (None, Some(most)) => format!("write {most} or less"),
        (None, None) => "write a number that fits into 32 bits".to_owned(),
    };
    let format = schema.format.as_deref() == Some("int32");
    let outside = schema.minimum.is_some_and(too_small)
        || schema.maximum.is_some_and(too_large)
        || (format && !(f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&number));
    outside.then(|| format!("`{path}` is {number}; {range}"))
}

fn count(found: usize, least: Option<i64>, most: Option<i64>, path: &str, what: &str) -> Option<String> {
    let found = i64::try_from(found).unwrap_or(i64::MAX);
    if let Some(least) = least.filter(|least| found < *least) {
        return Some(match found {
            0 => format!("`{path}` is empty; write at least {least} there"),
            _ => format!("`{path}` has {found} {what} and needs at least {least}"),
        });
    }
    most.filter(|most| found > *most)
        .map(|most| format!("`{path}` has {found} {what}, and {most} are allowed"))
}
