//! Where the values of references come from.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capt_api::addon_stack::{ValueKey, ValuesSecret};
use capt_api::resource_set::ResourceKind;
use serde_json::Value;

use super::Entry;
use super::finding::Finding;
use super::problem::Problem;
use super::surroundings::{Outputs, Surroundings};
use crate::helm_values::effect::{decoded, effect};
use crate::helm_values::file;
use crate::helm_values::printable::unprintable;
use crate::helm_values::reference::Reference;
use crate::manifest::ObjectKey;

/// Tells of references that lead nowhere, and of known values that do not come through as they are.
pub(super) fn check(
    entries: &[Entry],
    namespace: &str,
    surroundings: &Surroundings<'_>,
    findings: &mut Vec<Finding>,
) {
    for entry in entries {
        let mut tell =
            |field: &str, problem: Problem| findings.push(Finding::new(entry.place(field), problem));
        let Reference { kind, name, .. } = &entry.reference;
        let brought = (*kind == ResourceKind::Secret)
            .then(|| surroundings.secrets_named(name).find(|secret| secret.namespace == namespace))
            .flatten();
        if let Some(secret) = brought {
            stack(entry, entries, secret, surroundings, &mut tell);
        } else if let Some(object) = held(&entry.reference, namespace, surroundings.objects) {
            manifest(entry, object, &mut tell);
        } else {
            unknown(entry, namespace, surroundings, &mut tell);
        }
    }
}

/// A Secret that the stack brings.
fn stack(
    entry: &Entry,
    entries: &[Entry],
    secret: &ValuesSecret,
    surroundings: &Surroundings<'_>,
    tell: &mut impl FnMut(&str, Problem),
) {
    let Reference { name, key, optional, .. } = &entry.reference;
    let Some(fed) = secret.keys.iter().find(|fed| key_of(fed) == key) else {
        let known: Vec<String> = secret.keys.iter().map(|fed| key_of(fed).to_owned()).collect();
        let near = known.iter().find(|known| alike(known, key)).cloned();
        let problem =
            Problem::KeyNotFed { secret: name.clone(), key: key.clone(), known, near, optional: *optional };
        return tell("valuesKey", problem);
    };
    let output = || fed.output.clone();
    match (surroundings.outputs.has(&fed.output), &fed.default) {
        (Some(false), None) if !(fed.optional && *optional) => {
            tell("valuesKey", Problem::OutputMissing { output: output(), left_out: fed.optional });
        }
        (None, None) if fed.optional && !optional => {
            tell("optional", Problem::MayBeMissing { output: output() });
        }
        _ => {}
    }
    let Some(value) = surroundings.outputs.value(fed) else { return };
    let value = decoded(value);
    if entry.reference.target_path.is_none() {
        if let Err(flaw) = file::read(value.as_bytes()) {
            tell("valuesKey", Problem::FileUnusable { key: key.clone(), flaw });
        }
    } else if unprintable(&value).is_some() {
        tell("valuesKey", Problem::Unprintable { key: key.clone() });
    }
    let Some(effect) = effect(&value).filter(|_| entry.reference.interprets()) else { return };
    let verbatim = |other: &&Entry| other.reference.is_to(name, key) && !other.reference.interprets();
    match entries.iter().find(verbatim) {
        Some(other) => tell("literal", Problem::MixedForms { key: key.clone(), other: other.index }),
        None => tell("literal", Problem::KeptByQuotes { key: key.clone(), effect }),
    }
}

/// A `ConfigMap` or Secret that is among the manifests.
fn manifest(entry: &Entry, object: &Value, tell: &mut impl FnMut(&str, Problem)) {
    let Reference { kind, name, key, optional, target_path, .. } = &entry.reference;
    let Some(value) = content(*kind, object, key) else {
        if !optional {
            tell("valuesKey", Problem::KeyNotHeld { kind: *kind, name: name.clone(), key: key.clone() });
        }
        return;
    };
    if target_path.is_none() {
        if let Err(flaw) = file::read(&value) {
            tell("valuesKey", Problem::FileUnusable { key: key.clone(), flaw });
        }
    } else if let Some(effect) = effect(&decoded(&value)).filter(|_| entry.reference.interprets()) {
        tell("literal", Problem::Changes { key: key.clone(), effect });
    }
}

fn unknown(
    entry: &Entry,
    namespace: &str,
    surroundings: &Surroundings<'_>,
    tell: &mut impl FnMut(&str, Problem),
) {
    let Reference { kind, name, optional, .. } = &entry.reference;
    let (kind, namespace) = (*kind, namespace.to_owned());
    let elsewhere = (kind == ResourceKind::Secret).then(|| surroundings.secrets_named(name).next()).flatten();
    if let Some(secret) = elsewhere {
        let brought_to = secret.namespace.clone();
        tell("name", Problem::OtherNamespace { name: name.clone(), brought_to, namespace });
        return;
    }
    let may_be_ours = kind == ResourceKind::Secret && surroundings.has_unnamed();
    if !optional && !may_be_ours {
        tell("name", Problem::ObjectUnknown { kind, name: name.clone(), namespace });
    }
}

fn key_of(fed: &ValueKey) -> &str {
    fed.key.as_deref().unwrap_or(&fed.output)
}

/// Whether two keys differ only in how words are put together.
fn alike(one: &str, another: &str) -> bool {
    let plain = |key: &str| key.replace(['-', '_', '.'], "").to_ascii_lowercase();
    plain(one) == plain(another)
}

fn held<'facts>(reference: &Reference, namespace: &str, objects: &[&'facts Value]) -> Option<&'facts Value> {
    objects.iter().copied().find(|object| {
        let key = ObjectKey::of(object);
        key.api_version == "v1"
            && key.kind == reference.kind.as_str()
            && key.name == reference.name
            && key.namespace.as_deref().unwrap_or("default") == namespace
    })
}

fn content<'object>(kind: ResourceKind, object: &'object Value, key: &str) -> Option<Cow<'object, [u8]>> {
    let text = |field: &str| object[field][key].as_str();
    match kind {
        ResourceKind::ConfigMap => text("data").map(|text| Cow::Borrowed(text.as_bytes())),
        ResourceKind::Secret => match text("stringData") {
            Some(text) => Some(Cow::Borrowed(text.as_bytes())),
            None => STANDARD.decode(text("data")?).ok().map(Cow::Owned),
        },
    }
}

impl<'facts> Outputs<'facts> {
    /// Whether the module gives it, and not empty, as far as that is known.
    fn has(&self, output: &str) -> Option<bool> {
        match self {
            Self::Unknown => None,
            Self::Names(names) => Some(names.contains(output)),
            Self::Values(values) => Some(values.get(output).is_some_and(|value| !value.is_empty())),
        }
    }

    /// What the Secret has for it, as far as that is known; what it may have, where only that is.
    fn value<'value>(&self, fed: &'value ValueKey) -> Option<&'value [u8]>
    where
        'facts: 'value,
    {
        let given = match self {
            Self::Values(values) => values.get(&fed.output).filter(|value| !value.is_empty()),
            Self::Unknown | Self::Names(_) => None,
        };
        given.map(Vec::as_slice).or_else(|| fed.default.as_deref().map(str::as_bytes))
    }
}
