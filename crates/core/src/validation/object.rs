//! Objects of files, and what is wrong with each by itself.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capt_api::resource_set::ResourceKind;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::definition::{Known, known};
use super::finding::Severity;
use super::node::{Content, Field, Node, steps};
use super::position::{Origin, Position};
use super::report::Report;
use super::rules::Rules;
use super::schema;
use crate::manifest::{self, ObjectKey, Problem};
use crate::name::is_object_name;

/// An object with the places of everything in it.
#[derive(Debug)]
pub(super) struct Object {
    /// The file that it stands in.
    pub(super) file: usize,
    /// Where its text stands in that file.
    pub(super) origin: Origin,
    pub(super) node: Node,
    pub(super) value: Value,
    pub(super) key: ObjectKey,
    /// It comes out of a Secret.
    pub(super) secret: bool,
}

impl Object {
    pub(super) fn new(file: usize, origin: Origin, node: Node, secret: bool) -> Self {
        let value = node.value();
        let key = ObjectKey::of(&value);
        Self { file, origin, node, value, key, secret }
    }

    /// The namespace, which is `default` if none is written.
    pub(super) fn namespace(&self) -> &str {
        self.key.namespace.as_deref().unwrap_or("default")
    }

    /// Whether it is of this group and kind, in whatever version.
    pub(super) fn is(&self, group: &str, kind: &str) -> bool {
        self.key.kind == kind && self.key.group() == group
    }

    /// The object as CAPT's own type, if it can be one.
    pub(super) fn typed<Kind: DeserializeOwned>(&self) -> Option<Kind> {
        serde_json::from_value(self.value.clone()).ok()
    }

    /// The place in the file of a field, or of as much of the way to it as there is.
    pub(super) fn place(&self, path: &str) -> Position {
        self.origin.place(self.node.place(&steps(path)))
    }

    /// Whether its lines may not be shown.
    pub(super) fn is_hidden(&self) -> bool {
        self.secret || self.is("", "Secret")
    }
}

/// The objects of a document: itself, or the items of a List.
pub(super) fn unfold(mut node: Node) -> Vec<Node> {
    let kind = node.field("kind").and_then(|kind| kind.node.text()).unwrap_or_default().to_owned();
    let Some(kind) = kind.strip_suffix("List") else { return vec![node] };
    let Content::Mapping(fields) = &mut node.content else { return vec![node] };
    let is_items = |field: &Field| field.key == "items" && matches!(field.node.content, Content::List(_));
    let Some(items) = fields.iter().position(is_items) else { return vec![node] };
    let Content::List(items) = fields.swap_remove(items).node.content else { return Vec::new() };
    let types = ["apiVersion", "kind"].map(|key| node.field(key).cloned());
    items.into_iter().flat_map(|item| unfold(completed(item, kind, &types))).collect()
}

/// Items of a list that is of one kind need not say it again.
fn completed(mut item: Node, kind: &str, types: &[Option<Field>]) -> Node {
    if let Content::Mapping(fields) = &mut item.content
        && !kind.is_empty()
        && !fields.iter().any(|field| field.key == "kind")
    {
        let mut types: Vec<Field> = types.iter().flatten().cloned().collect();
        types.retain(|type_| !fields.iter().any(|field| field.key == type_.key));
        for type_ in types.iter_mut().filter(|type_| type_.key == "kind") {
            type_.node.content = Content::Scalar(kind.into());
        }
        fields.extend(types);
    }
    item
}

/// Tells what is wrong with an object whatever is beside it.
pub(super) fn check(object: &Object, rules: &mut Rules, report: &mut Report<'_>) {
    let before = report.errors();
    metadata(object, report);
    texts(object, report);
    if report.errors() > before {
        return;
    }
    match known(&object.key.api_version, &object.key.kind) {
        Known::Schema(definition, schema) => {
            name(object, report);
            schema::check(object, definition, schema, rules, report);
        }
        Known::Wrong { field, message, perhaps } => {
            let severity = if perhaps { Severity::Warning } else { Severity::Error };
            report.tell_of(object, field, severity, message);
        }
        Known::Nothing => {}
    }
}

/// Objects of kinds that are defined have names of one form.
fn name(object: &Object, report: &mut Report<'_>) {
    let name = &object.key.name;
    if !is_object_name(name) {
        let message = format!(
            "`{name}` cannot be a name: write lower case letters, digits, hyphens and dots, with a letter or digit at both ends"
        );
        report.error(object, "metadata.name", message);
    }
}

/// What every object has: the words are those for manifests.
fn metadata(object: &Object, report: &mut Report<'_>) {
    let mut outline = object.value.clone();
    for field in ["data", "stringData", "binaryData", "spec", "status"] {
        if let Some(fields) = outline.as_object_mut() {
            fields.remove(field);
        }
    }
    let data = BTreeMap::from([("object".to_owned(), outline.to_string())]);
    let kind = if object.is_hidden() { ResourceKind::Secret } else { ResourceKind::ConfigMap };
    let Err(problems) = manifest::parse(kind, "object", &data) else { return };
    for invalid in problems.all() {
        report.error(object, field_of(&invalid.problem), format!("this {}", invalid.problem));
    }
}

/// Where a problem with an object is.
const fn field_of(problem: &Problem) -> &'static str {
    match problem {
        Problem::Missing { field, .. } | Problem::NotText { field, .. } | Problem::Name { field, .. } => {
            field
        }
        Problem::MetadataNotMapping { .. } | Problem::LabelTwice => "metadata",
        Problem::GenerateName => "metadata.generateName",
        Problem::ApiVersion { .. } => "apiVersion",
        Problem::Kind { .. } => "kind",
        Problem::ItemsNotList { .. } => "items",
        Problem::TooLarge
        | Problem::TooMany
        | Problem::NotUtf8
        | Problem::NotYaml { .. }
        | Problem::DuplicateKey { .. }
        | Problem::TooComplex
        | Problem::NotObject { .. }
        | Problem::NoItems => "",
    }
}

/// Mappings whose values are texts, which YAML easily makes something else of.
fn texts(object: &Object, report: &mut Report<'_>) {
    let mut fields = vec!["metadata.labels", "metadata.annotations"];
    let is_secret = object.is("", "Secret");
    if is_secret || object.is("", "ConfigMap") {
        fields.extend(["data", "stringData", "binaryData"]);
    }
    for path in fields {
        let Some(mapping) = object.node.get(&steps(path)) else { continue };
        for field in mapping.fields() {
            let at = object.origin.place(field.node.at);
            let mut tell = |message: String| {
                report.tell(object.file, at, Severity::Error, object.is_hidden(), message);
            };
            match field.node.text() {
                None if field.node.is_null() => {}
                None => {
                    let found = schema::noun(&field.node);
                    tell(format!(
                        "`{path}` has {found} for `{}`, and only texts are allowed; put it in quotes",
                        field.key
                    ));
                }
                Some(text) if is_secret && path == "data" && STANDARD.decode(text.trim()).is_err() => {
                    tell(format!(
                        "`data` has something for `{}` that is not base64; write it below `stringData` as it is",
                        field.key
                    ));
                }
                Some(_) => {}
            }
        }
    }
}
