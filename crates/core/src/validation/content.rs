//! The manifests that `ConfigMaps` and Secrets hold.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capt_api::resource_set::ResourceKind;

use super::catalog::Catalog;
use super::finding::Severity;
use super::node::Field;
use super::object::{self, Object, unfold};
use super::position::{Origin, Position};
use super::read::read;
use super::report::Report;
use super::rules::Rules;
use crate::manifest::{self, Invalid, Manifest};

/// What a `ConfigMap` or Secret holds. Manifests and objects are the same, in the same order.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) manifests: Vec<Manifest>,
    pub(super) objects: Vec<Object>,
}

/// One value of a `ConfigMap` or Secret.
struct Text {
    key: String,
    content: Vec<u8>,
    origin: Origin,
}

/// Reads what a `ConfigMap` or Secret holds, and tells what is wrong with it.
pub(super) fn read_content(holder: &Object, catalog: &Catalog<'_>, report: &mut Report<'_>) -> Content {
    let kind = if holder.is("", "Secret") { ResourceKind::Secret } else { ResourceKind::ConfigMap };
    let texts = texts(holder, kind, catalog);
    let data: BTreeMap<String, &[u8]> =
        texts.iter().map(|text| (text.key.clone(), text.content.as_slice())).collect();
    let manifests = match manifest::parse(kind, &holder.key.name, &data) {
        Ok(manifests) => manifests,
        Err(problems) => {
            for invalid in problems.all() {
                tell(holder, &texts, invalid, report);
            }
            return Content::default();
        }
    };
    let secret = kind == ResourceKind::Secret;
    let objects: Vec<Object> = data
        .keys()
        .filter_map(|key| texts.iter().rev().find(|text| text.key == *key))
        .flat_map(|Text { content, origin, .. }| {
            let documents = read(&String::from_utf8_lossy(content)).documents;
            let nodes = documents.into_iter().flat_map(unfold);
            nodes.map(|node| Object::new(holder.file, *origin, node, secret)).collect::<Vec<_>>()
        })
        .collect();
    let mut rules = Rules::default();
    for object in &objects {
        object::check(object, &mut rules, report);
    }
    if objects.len() == manifests.len() { Content { manifests, objects } } else { Content::default() }
}

fn texts(holder: &Object, kind: ResourceKind, catalog: &Catalog<'_>) -> Vec<Text> {
    let lines = catalog.lines(holder.file);
    let plain = |field: &Field| {
        let text = field.node.text()?;
        let origin = Origin::of_scalar(lines, field.node.at, text);
        Some(Text { key: field.key.clone(), content: text.as_bytes().to_vec(), origin })
    };
    let encoded = |field: &Field| {
        let content = STANDARD.decode(field.node.text()?.trim()).ok()?;
        Some(Text { key: field.key.clone(), content, origin: Origin::Point(field.at) })
    };
    let fields = |name: &str| holder.node.field(name).map(|field| field.node.fields()).unwrap_or_default();
    match kind {
        ResourceKind::ConfigMap => fields("data").iter().filter_map(plain).collect(),
        ResourceKind::Secret => fields("data")
            .iter()
            .filter_map(encoded)
            .chain(fields("stringData").iter().filter_map(plain))
            .collect(),
    }
}

fn tell(holder: &Object, texts: &[Text], invalid: &Invalid, report: &mut Report<'_>) {
    let Invalid { resource: _, key, document: _, item, line, problem } = invalid;
    let text = key.as_ref().and_then(|key| texts.iter().rev().find(|text| text.key == *key));
    let Some((key, text)) = key.as_ref().zip(text) else {
        return report.error(holder, "data", format!("{} {problem}", holder.key));
    };
    let line = line.unwrap_or(1);
    let content = String::from_utf8_lossy(&text.content);
    let row = content.lines().nth(line - 1).unwrap_or_default();
    let column = row.chars().take_while(|character| character.is_whitespace()).count() + 1;
    let at = text.origin.place(Position { line, column });
    let item = item.map(|item| format!(" (item {item})")).unwrap_or_default();
    let message = format!("a manifest of `{key}`{item} {problem}");
    report.tell(holder.file, at, Severity::Error, holder.is_hidden(), message);
}
