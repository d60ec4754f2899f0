//! Types of values.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use serde_json::Value;

use super::super::node::{Content, Node};

/// What it is, for people.
pub(in super::super) const fn noun(node: &Node) -> &'static str {
    match &node.content {
        Content::Scalar(Value::Bool(_)) => "a truth value",
        Content::Scalar(Value::Number(_)) => "a number",
        Content::Scalar(Value::String(_)) => "a text",
        Content::Scalar(_) => "nothing",
        Content::List(_) => "a list",
        Content::Mapping(_) => "a mapping",
    }
}

/// What is said where a value is of another type than the schema says.
pub(super) fn mismatch(node: &Node, schema: &JSONSchemaProps, path: &str) -> Option<String> {
    let (wanted, what_to_do) = wanted(node, schema)?;
    let of = if path.is_empty() { "this".to_owned() } else { format!("`{path}`") };
    Some(format!("{of} is {}, not {wanted}; {what_to_do}", noun(node)))
}

/// What the value should be and how that is written; `None` where it is that.
fn wanted(node: &Node, schema: &JSONSchemaProps) -> Option<(&'static str, &'static str)> {
    let content = &node.content;
    if schema.x_kubernetes_int_or_string == Some(true) {
        let fits = matches!(content, Content::Scalar(Value::String(_))) || is_whole(content);
        return (!fits).then_some(("a text or a whole number", "write one of them"));
    }
    match (schema.type_.as_deref()?, content) {
        ("string", Content::Scalar(Value::String(_)))
        | ("boolean", Content::Scalar(Value::Bool(_)))
        | ("number", Content::Scalar(Value::Number(_)))
        | ("array", Content::List(_))
        | ("object", Content::Mapping(_)) => None,
        ("integer", content) if is_whole(content) => None,
        ("string", Content::Scalar(Value::Null)) => Some(("a text", "write one")),
        ("string", Content::Scalar(_)) => Some(("a text", "put it in quotes")),
        ("string", _) => Some(("a text", "write it on one line, or as a block after `|`")),
        ("boolean", Content::Scalar(Value::String(text))) if matches!(text.as_str(), "true" | "false") => {
            Some(("a truth value", "leave the quotes out"))
        }
        ("boolean", _) => Some(("a truth value", "write `true` or `false`, without quotes")),
        ("integer", Content::Scalar(Value::Number(_))) => {
            Some(("a whole number", "leave out what is behind the point"))
        }
        ("integer", Content::Scalar(Value::String(text))) if text.parse::<i64>().is_ok() => {
            Some(("a number", "leave the quotes out"))
        }
        ("integer" | "number", _) => Some(("a number", "write one, without quotes")),
        ("array", _) => Some(("a list", "write each item on a line of its own, after a dash")),
        ("object", _) => Some(("a mapping", "write its fields on the following lines, indented")),
        _ => None,
    }
}

fn is_whole(content: &Content) -> bool {
    matches!(content, Content::Scalar(Value::Number(number))
        if number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|number| number.fract() == 0.0))
}
