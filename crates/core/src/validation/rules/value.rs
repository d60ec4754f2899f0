//! Objects as the rules of a schema see them.

use std::collections::HashMap;
use std::sync::Arc;

use cel::Value as CelValue;
use cel::objects::{Key, Map as CelMap};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use serde_json::{Map, Value};

use super::super::node::{Content, Node};

/// Words that CEL keeps for itself; a field of that name has underscores around it in rules.
const RESERVED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// A value with the defaults of its schema, without `null`, and with its fields as rules name them.
pub(super) fn completed(node: &Node, schema: &JSONSchemaProps) -> Value {
    match &node.content {
        Content::Scalar(value) => value.clone(),
        Content::List(items) => match &schema.items {
            Some(JSONSchemaPropsOrArray::Schema(of_items)) => {
                items.iter().map(|item| completed(item, of_items)).collect()
            }
            _ => node.value(),
        },
        Content::Mapping(fields) => {
            let mut mapping = Map::new();
            let properties = schema.properties.as_ref();
            for field in fields.iter().filter(|field| !field.node.is_null()) {
                let own = properties.and_then(|properties| properties.get(&field.key));
                let value = match (own, &schema.additional_properties) {
                    (Some(own), _) => completed(&field.node, own),
                    (None, Some(JSONSchemaPropsOrBool::Schema(any))) => completed(&field.node, any),
                    (None, _) => field.node.value(),
                };
                insert(&mut mapping, &field.key, value);
            }
            for (name, property) in properties.into_iter().flatten() {
                if let Some(default) = property.default.as_ref().filter(|_| !mapping.contains_key(name)) {
                    insert(&mut mapping, name, default.0.clone());
                }
            }
            Value::Object(mapping)
        }
    }
}

fn insert(mapping: &mut Map<String, Value>, name: &str, value: Value) {
    if RESERVED.contains(&name) {
        mapping.insert(format!("__{name}__"), value.clone());
    }
    mapping.insert(name.to_owned(), value);
}

/// A value for CEL.
pub(super) fn of(value: &Value) -> CelValue {
    match value {
        Value::Null => CelValue::Null,
        Value::Bool(truth) => CelValue::Bool(*truth),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => CelValue::Int(whole),
            (None, Some(number)) => CelValue::Float(number),
            (None, None) => CelValue::Null,
        },
        Value::String(text) => CelValue::String(Arc::new(text.clone())),
        Value::Array(items) => CelValue::List(Arc::new(items.iter().map(of).collect())),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, field)| (Key::String(Arc::new(key.clone())), of(field)));
            CelValue::Map(CelMap { map: Arc::new(fields.collect::<HashMap<_, _>>()) })
        }
    }
}
