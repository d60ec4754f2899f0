//! Manifests in files, and in the `ConfigMaps` and Secrets that files hold.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capt_api::names::RESOURCE_SET_SECRET_TYPE;
use capt_api::resource_set::ResourceKind;
use capt_core::manifest::{self, Invalid, Manifest};
use serde_json::Value;

use crate::input;

/// What is read of a file: a byte more than the API server lets a `ConfigMap` hold, which is enough to see that it is too much.
const MOST: u64 = 1_048_576 + 1;

/// Every manifest of every file.
pub(super) fn read(files: &[PathBuf]) -> anyhow::Result<Vec<Manifest>> {
    let mut manifests = Vec::new();
    for file in files {
        let name = input::name(file);
        let text = input::read(file, MOST).with_context(|| format!("reading {name}"))?;
        manifests.extend(of_text(&name, &text)?);
    }
    Ok(manifests)
}

/// The objects of a text, and those that its `ConfigMaps` and Secrets hold.
fn of_text(name: &str, text: &[u8]) -> anyhow::Result<Vec<Manifest>> {
    let data = BTreeMap::from([(name.to_owned(), text)]);
    let objects = match manifest::parse(ResourceKind::ConfigMap, name, &data) {
        Ok(objects) => objects,
        Err(problems) => {
            let told: Vec<_> = problems.all().iter().take(10).map(|problem| place(name, problem)).collect();
            bail!("{}", told.join("; "))
        }
    };
    let inner: Vec<_> = objects.iter().flat_map(|object| held(&object.object)).collect();
    Ok(objects.into_iter().chain(inner).collect())
}

fn place(name: &str, invalid: &Invalid) -> String {
    let Invalid { resource: _, key: _, document, item, line, problem } = invalid;
    let numbers = [("document", document), ("item", item), ("line", line)];
    let place = numbers.into_iter().filter_map(|(word, number)| Some(format!(", {word} {}", (*number)?)));
    format!("{name}{}: {problem}", place.collect::<String>())
}

/// What a `ConfigMap` or Secret holds, if it holds manifests: any other content is not ours to judge.
fn held(object: &Value) -> Vec<Manifest> {
    let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    let kind = match (object["apiVersion"].as_str(), object["kind"].as_str()) {
        (Some("v1"), Some("ConfigMap")) => ResourceKind::ConfigMap,
        (Some("v1"), Some("Secret")) if object["type"] == RESOURCE_SET_SECRET_TYPE => ResourceKind::Secret,
        _ => return Vec::new(),
    };
    let texts = |field: &str| object[field].as_object().into_iter().flatten();
    let plain = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.as_bytes().to_vec()));
    let encoded =
        |(key, value): (&String, &Value)| Some((key.clone(), STANDARD.decode(value.as_str()?).ok()?));
    let data: BTreeMap<String, Vec<u8>> = match kind {
        ResourceKind::ConfigMap => texts("data").filter_map(plain).collect(),
        ResourceKind::Secret => {
            texts("data").filter_map(encoded).chain(texts("stringData").filter_map(plain)).collect()
        }
    };
    manifest::parse(kind, name, &data).unwrap_or_default()
}

#[cfg(test)]
mod tests;
