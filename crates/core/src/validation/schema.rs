//! What the schema of a kind says of an object: structure first, then rules where the structure is sound.

mod bounds;
mod lists;
mod types;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};

pub(super) use self::types::noun;
use super::definition::Definition;
use super::finding::Severity;
use super::near::instead;
use super::node::{Content, Field, Node};
use super::object::Object;
use super::position::Position;
use super::report::Report;
use super::rules::Rules;

/// The fields that every object has, whatever its schema says.
const EVERYWHERE: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// A walk through one object.
struct Walk<'walk, 'files> {
    object: &'walk Object,
    /// What the fields belong to.
    owner: &'walk str,
    rules: &'walk mut Rules,
    report: &'walk mut Report<'files>,
}

/// Tells what the schema refuses.
pub(super) fn check(
    object: &Object,
    definition: &Definition,
    schema: &JSONSchemaProps,
    rules: &mut Rules,
    report: &mut Report<'_>,
) {
    let mut walk = Walk { object, owner: &definition.kind, rules, report };
    walk.node(&object.node, schema, "", object.node.at);
}

/// Tells what a schema of the files themselves refuses of a value that goes by a name.
pub(super) fn check_part(
    object: &Object,
    node: &Node,
    (name, schema): (&str, &JSONSchemaProps),
    rules: &mut Rules,
    report: &mut Report<'_>,
) {
    let owner = format!("the variable `{name}`");
    let mut walk = Walk { object, owner: &owner, rules, report };
    walk.node(node, schema, name, node.at);
}

impl Walk<'_, '_> {
    fn tell(&mut self, at: Position, message: impl Into<String>) {
        let at = self.object.origin.place(at);
        self.report.tell(self.object.file, at, Severity::Error, self.object.is_hidden(), message);
    }

    /// Looks at a value. `at` is where it is told of: its key, if it has one.
    fn node(&mut self, node: &Node, schema: &JSONSchemaProps, path: &str, at: Position) {
        let before = self.report.errors();
        if let Some(message) = types::mismatch(node, schema, path) {
            return self.tell(node.at, message);
        }
        for message in bounds::problems(node, schema, path) {
            self.tell(node.at, message);
        }
        match &node.content {
            Content::Scalar(_) => {}
            Content::List(items) => self.list(items, schema, path),
            Content::Mapping(fields) => self.mapping(fields, schema, path, at),
        }
        // Rules may rely on what the rest of the schema says.
        if self.report.errors() == before {
            for message in self.rules.broken(node, schema) {
                let message = if path.is_empty() { message } else { format!("`{path}`: {message}") };
                self.tell(at, message);
            }
        }
    }

    fn list(&mut self, items: &[Node], schema: &JSONSchemaProps, path: &str) {
        for (at, message) in lists::repeated(items, schema, path) {
            self.tell(at, message);
        }
        let Some(JSONSchemaPropsOrArray::Schema(of_items)) = &schema.items else { return };
        for (index, item) in items.iter().enumerate() {
            self.node(item, of_items, &format!("{path}[{index}]"), item.at);
        }
    }

    fn mapping(&mut self, fields: &[Field], schema: &JSONSchemaProps, path: &str, at: Position) {
        let top = path.is_empty();
        for name in schema.required.iter().flatten() {
            if !fields.iter().any(|field| field.key == *name && !field.node.is_null()) {
                self.tell(at, missing(name, schema, path));
            }
        }
        // `null` is the same as nothing: the API server drops it.
        for field in fields.iter().filter(|field| !field.node.is_null()) {
            if top && EVERYWHERE.contains(&field.key.as_str()) {
                continue;
            }
            let inner = joined(path, &field.key);
            let known = schema.properties.as_ref().and_then(|properties| properties.get(&field.key));
            match (known, &schema.additional_properties) {
                (Some(known), _) => self.node(&field.node, known, &inner, field.at),
                (None, Some(JSONSchemaPropsOrBool::Schema(any))) => {
                    self.node(&field.node, any, &inner, field.at);
                }
                (None, Some(JSONSchemaPropsOrBool::Bool(true))) => {}
                (None, _) if schema.x_kubernetes_preserve_unknown_fields == Some(true) => {}
                (None, _) => self.unknown(field, schema, &inner, top),
            }
        }
    }

    fn unknown(&mut self, field: &Field, schema: &JSONSchemaProps, path: &str, top: bool) {
        let everywhere = EVERYWHERE.iter().copied().filter(|_| top);
        let properties = schema.properties.iter().flat_map(|properties| properties.keys());
        let mut known: Vec<&str> = everywhere.chain(properties.map(String::as_str)).collect();
        known.sort_unstable();
        known.dedup();
        // What CAPT fills in is nothing to be written.
        known.retain(|name| !(top && *name == "status"));
        let message = format!("`{path}` is not a field of {}; {}", self.owner, instead(&field.key, &known));
        self.tell(field.at, message);
    }
}

/// The path of a field.
fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// What is said of a field that has to be there: the first sentence of its description says what it is.
fn missing(name: &str, schema: &JSONSchemaProps, path: &str) -> String {
    let of = if path.is_empty() { "this".to_owned() } else { format!("`{path}`") };
    let property = schema.properties.as_ref().and_then(|properties| properties.get(name));
    let described = property.and_then(|property| property.description.as_deref());
    let sentence =
        described.and_then(|text| text.split(['\n', ';']).next()).and_then(|text| text.split(". ").next());
    let sentence = sentence.map(|text| text.trim().trim_end_matches('.')).filter(|text| !text.is_empty());
    let sentence = sentence.map(|text| format!(": {}", lower(text))).unwrap_or_default();
    format!("{of} has no `{name}`; write it{sentence}")
}

fn lower(text: &str) -> String {
    let mut characters = text.chars();
    let is_word = text.chars().nth(1).is_none_or(|second| !second.is_uppercase());
    match characters.next() {
        Some(first) if is_word => first.to_lowercase().chain(characters).collect(),
        _ => text.to_owned(),
    }
}
