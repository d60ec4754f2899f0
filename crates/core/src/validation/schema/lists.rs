//! Lists in which nothing is there twice.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use serde_json::Value;
use std::collections::HashMap;

use super::super::node::Node;
use super::super::position::Position;

/// Items that have the keys of an earlier one, or are the same as it.
pub(super) fn repeated(items: &[Node], schema: &JSONSchemaProps, path: &str) -> Vec<(Position, String)> {
    let keys: &[String] = match schema.x_kubernetes_list_type.as_deref() {
        Some("map") => schema.x_kubernetes_list_map_keys.as_deref().unwrap_or_default(),
        Some("set") => &[],
        _ => return Vec::new(),
    };
    let mut first: HashMap<String, usize> = HashMap::new();
    let mut problems = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let identity: Value = if keys.is_empty() {
            item.value()
        } else {
            keys.iter().map(|key| item.field(key).map_or(Value::Null, |field| field.node.value())).collect()
        };
        let earlier = *first.entry(identity.to_string()).or_insert(index);
        if earlier != index {
            let what = if keys.is_empty() {
                "is the same as".to_owned()
            } else {
                format!("has the same `{}` as", keys.join("` and `"))
            };
            let at = keys.first().and_then(|key| item.field(key)).map_or(item.at, |field| field.node.at);
            problems.push((
                at,
                format!("`{path}[{index}]` {what} `{path}[{earlier}]`; each is there once: rename or remove one of them"),
            ));
        }
    }
    problems
}
