//! What makes a tree an object that can be brought to a cluster.

use serde_json::{Map, Value};

use super::problem::{Problem, Shown};
use crate::name::{is_namespace_name, is_object_name};

/// An item of a list, or the whole document, and the object in it.
type Unfolded = (Option<usize>, Result<Value, Problem>);

/// The objects of a document: none if it is empty, all items of a list, or the one that it is.
pub(super) fn unfold(tree: Value) -> Vec<Unfolded> {
    if tree.is_null() {
        return Vec::new();
    }
    let mut objects = Vec::new();
    collect(tree, None, &mut objects);
    objects
}

fn collect(tree: Value, item: Option<usize>, objects: &mut Vec<Unfolded>) {
    let numbered = |items: Vec<Value>| (1..).map(move |number| item.or(Some(number))).zip(items);
    match tree {
        Value::Array(items) => {
            for (number, value) in numbered(items) {
                collect(value, number, objects);
            }
        }
        Value::Object(mut fields) => match items_of(&mut fields) {
            None => objects.push((item, Ok(Value::Object(fields)))),
            Some(Err(problem)) => objects.push((item, Err(problem))),
            Some(Ok(items)) => {
                for (number, mut value) in numbered(items) {
                    complete(&mut value, &fields);
                    collect(value, number, objects);
                }
            }
        },
        other => objects.push((item, Err(Problem::NotObject { found: noun(&other) }))),
    }
}

/// Takes the items of a list, if it is one.
fn items_of(fields: &mut Map<String, Value>) -> Option<Result<Vec<Value>, Problem>> {
    let kind = fields.get("kind")?.as_str().filter(|kind| kind.ends_with("List"))?;
    let untyped = kind == "List";
    match fields.remove("items") {
        // A kind of somebody's own may well be called a list.
        None if !untyped => None,
        None => Some(Err(Problem::NoItems)),
        // An empty list, as Go writes it.
        Some(Value::Null) => Some(Ok(Vec::new())),
        Some(Value::Array(items)) => Some(Ok(items)),
        Some(other) => Some(Err(Problem::ItemsNotList { found: noun(&other) })),
    }
}

/// Items of a list that is of one kind need not say it again.
fn complete(item: &mut Value, list: &Map<String, Value>) {
    let Some(item) = item.as_object_mut().filter(|item| !item.contains_key("kind")) else { return };
    let kind = list.get("kind").and_then(Value::as_str).and_then(|kind| kind.strip_suffix("List"));
    if let Some(kind) = kind.filter(|kind| !kind.is_empty()) {
        item.insert("kind".to_owned(), kind.into());
        if let Some(version) = list.get("apiVersion").filter(|_| !item.contains_key("apiVersion")) {
            item.insert("apiVersion".to_owned(), version.clone());
        }
    }
}

/// Everything that keeps an object from being brought to a cluster.
pub(super) fn problems(object: &Value, visible: bool) -> Vec<Problem> {
    let mut problems = Vec::new();
    let shown = |value: &str| Shown::new(value, visible);
    match text(object.get("apiVersion"), "apiVersion", "`apps/v1`") {
        Ok(version) if is_api_version(version) => {}
        Ok(version) => problems.push(Problem::ApiVersion { value: shown(version) }),
        Err(problem) => problems.push(problem),
    }
    match text(object.get("kind"), "kind", "`Deployment`") {
        Ok(kind) if is_kind(kind) => {}
        Ok(kind) => problems.push(Problem::Kind { value: shown(kind) }),
        Err(problem) => problems.push(problem),
    }
    let none = Map::new();
    let metadata = match object.get("metadata") {
        None | Some(Value::Null) => &none,
        Some(Value::Object(metadata)) => metadata,
        Some(other) => {
            problems.push(Problem::MetadataNotMapping { found: noun(other) });
            return problems;
        }
    };
    match text(metadata.get("name"), NAME, "`name: demo` below `metadata:`") {
        Ok(name) if is_path_segment(name) => {}
        Ok(name) => problems.push(Problem::Name { field: NAME, value: shown(name) }),
        Err(Problem::Missing { .. }) if metadata.contains_key("generateName") => {
            problems.push(Problem::GenerateName);
        }
        Err(problem) => problems.push(problem),
    }
    match text(metadata.get("namespace"), NAMESPACE, "") {
        Ok(namespace) if !is_path_segment(namespace) => {
            problems.push(Problem::Name { field: NAMESPACE, value: shown(namespace) });
        }
        // Many objects have none.
        Ok(_) | Err(Problem::Missing { .. }) => {}
        Err(problem) => problems.push(problem),
    }
    problems
}

const NAME: &str = "metadata.name";
const NAMESPACE: &str = "metadata.namespace";

/// A text that is not empty.
fn text<'tree>(
    value: Option<&'tree Value>,
    field: &'static str,
    example: &'static str,
) -> Result<&'tree str, Problem> {
    match value {
        None | Some(Value::Null) => Err(Problem::Missing { field, example }),
        Some(Value::String(text)) if text.is_empty() => Err(Problem::Missing { field, example }),
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(Problem::NotText { field, found: noun(other) }),
    }
}

fn is_api_version(version: &str) -> bool {
    let (group, version) = version.split_once('/').unwrap_or(("core", version));
    is_object_name(group) && is_namespace_name(version)
}

fn is_kind(kind: &str) -> bool {
    kind.len() <= 63
        && kind.starts_with(|first: char| first.is_ascii_alphabetic())
        && kind.chars().all(|character| character.is_ascii_alphanumeric())
}

/// What can stand in a URL as it is and leads nowhere else. Roles have colons and more in their names, and braces are
/// those of placeholders.
fn is_path_segment(name: &str) -> bool {
    let plain =
        |character: char| character.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@{}".contains(character);
    name.len() <= 253 && !matches!(name, "." | "..") && name.chars().all(plain)
}

const fn noun(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}
