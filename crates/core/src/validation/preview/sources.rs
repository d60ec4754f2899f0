//! What `HelmReleases` read their values from.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capt_api::addon_stack::ValuesSecret;
use capt_api::resource_set::ResourceKind;
use secrecy::ExposeSecret as _;
use serde_json::Value;

use super::outputs::Outputs;
use super::{Bundle, Target};
use crate::helm_values::Reference;
use crate::manifest::Manifest;
use crate::manifest::render::{Inputs, Unrendered, render, variables};
use crate::values::{Release, releases, wanted};
use crate::yaml::without_aliases;

const CLUSTER_ENDPOINT: &str = "cluster_endpoint";

/// What is shown instead of a value that a Secret holds.
const HIDDEN: &str = "(sensitive)";

/// The objects of a bundle, and what can be read of them.
pub(super) struct Sources {
    pub(super) manifests: Vec<Manifest>,
    /// By kind, namespace and name.
    contents: BTreeMap<(ResourceKind, String, String), Content>,
}

/// What an object holds by key, or why nobody knows.
type Content = Result<BTreeMap<String, Vec<u8>>, String>;

impl Sources {
    pub(super) fn of(bundle: &Bundle<'_>, target: Target<'_>) -> Self {
        let outputs = outputs(bundle.values, target);
        let manifests = manifests(bundle, target.name, &outputs);
        let mut contents: BTreeMap<_, _> = manifests.iter().filter_map(held).collect();
        let releases: Vec<Release> = releases(&manifests);
        // As `writeConnectionSecretToRef` of a control plane's apply has it.
        let default_name = format!("{}-eks-connection", target.name);
        for values in bundle.values {
            let name = values.name.clone().unwrap_or_else(|| default_name.clone());
            let made = wanted(values, &default_name, &outputs, &releases, "");
            let content = made.map_err(|problem| problem.to_string()).map(|made| {
                made.data
                    .into_iter()
                    .map(|(key, value)| (key, value.expose_secret().as_bytes().to_vec()))
                    .collect()
            });
            contents.insert((ResourceKind::Secret, values.namespace.clone(), name), content);
        }
        Self { manifests, contents }
    }

    /// Why one of the objects that are read cannot be made.
    pub(super) fn refused(&self, namespace: &str, references: &[Reference]) -> Option<String> {
        references.iter().find_map(|Reference { kind, name, .. }| {
            let content = self.contents.get(&(*kind, namespace.to_owned(), name.clone()))?;
            content.as_ref().err().map(|problem| format!("{} `{name}`: {problem}", kind.as_str()))
        })
    }

    /// What a key of an object holds.
    pub(super) fn find(
        &self,
        namespace: &str,
        kind: ResourceKind,
        name: &str,
        key: &str,
    ) -> Option<Cow<'_, [u8]>> {
        let content = self.contents.get(&(kind, namespace.to_owned(), name.to_owned()))?.as_ref().ok()?;
        content.get(key).map(|content| Cow::Borrowed(content.as_slice()))
    }
}

/// The outputs of the cluster; where they are not known, what is asked for without a default.
fn outputs(values: &[ValuesSecret], target: Target<'_>) -> Outputs {
    if let Some(outputs) = target.outputs {
        return outputs.clone();
    }
    let asked = values.iter().flat_map(|secret| &secret.keys).filter(|key| key.default.is_none());
    asked.map(|key| (key.output.clone(), stand_in(&key.output).into_bytes())).collect()
}

fn stand_in(name: &str) -> String {
    format!("<{name}>")
}

/// The objects, with placeholders replaced where they are to be.
fn manifests(bundle: &Bundle<'_>, name: &str, outputs: &Outputs) -> Vec<Manifest> {
    let texts: BTreeMap<String, String> = outputs
        .iter()
        .map(|(name, value)| (name.clone(), String::from_utf8_lossy(value).into_owned()))
        .collect();
    let endpoint = texts.get(CLUSTER_ENDPOINT).cloned().unwrap_or_else(|| stand_in(CLUSTER_ENDPOINT));
    let workspace = format!("{name}-eks-controlplane");
    let known = variables(&Inputs {
        cluster_name: name,
        namespace: bundle.about.namespace(),
        workspace_name: Some(&workspace),
        endpoint: Some(&endpoint),
        outputs: &texts,
    });
    let of_part = |part: &super::super::bundle::Part<'_>| {
        let manifests = part.content.manifests.clone();
        if part.render { rendered(manifests, known.clone()) } else { manifests }
    };
    bundle.parts.iter().flat_map(of_part).collect()
}

fn rendered(manifests: Vec<Manifest>, mut known: BTreeMap<String, String>) -> Vec<Manifest> {
    if let Err(Unrendered { missing, .. }) = render(&manifests, &known) {
        known.extend(missing.into_iter().map(|one| (one.name.clone(), stand_in(&one.name))));
    }
    render(&manifests, &known).unwrap_or(manifests)
}

/// What a `ConfigMap` or Secret among the objects holds; of a Secret only the form.
fn held(manifest: &Manifest) -> Option<((ResourceKind, String, String), Content)> {
    let key = manifest.key();
    let kind = match (key.api_version.as_str(), key.kind.as_str()) {
        ("v1", "ConfigMap") => ResourceKind::ConfigMap,
        ("v1", "Secret") => ResourceKind::Secret,
        _ => return None,
    };
    let field = |name: &str| manifest.object[name].as_object().into_iter().flatten();
    let plain = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.as_bytes().to_vec()));
    let encoded =
        |(key, value): (&String, &Value)| Some((key.clone(), STANDARD.decode(value.as_str()?.trim()).ok()?));
    let data = match kind {
        ResourceKind::ConfigMap => {
            field("binaryData").filter_map(encoded).chain(field("data").filter_map(plain)).collect()
        }
        ResourceKind::Secret => field("data")
            .filter_map(encoded)
            .chain(field("stringData").filter_map(plain))
            .map(|(key, value)| (key, hidden(&value)))
            .collect(),
    };
    Some(((kind, key.namespace.unwrap_or_else(|| "default".to_owned()), key.name), Ok(data)))
}

/// The same form, without a value: a file of values keeps its keys.
fn hidden(content: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(content).unwrap_or_default();
    let read = serde_saphyr::from_str_with_options::<Value>(text, without_aliases()).ok();
    match read {
        Some(values @ Value::Object(_)) => mask(values).to_string().into_bytes(),
        _ => HIDDEN.into(),
    }
}

fn mask(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(key, value)| (key, mask(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(mask).collect()),
        _ => Value::String(HIDDEN.to_owned()),
    }
}
