//! Where the spec of a Workspace that somebody else made differs from the one that template and variables give.
//!
//! What counts is what Terraform would get: defaults that an API server fills in, the order of variables and what is empty make
//! no difference. Differences are told by where they are and never by value, which may be secret.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// What is filled in where nothing is said, as Crossplane's kind and CAPT's have it.
const DEFAULTS: &[(&str, &str)] = &[
    ("/deletionPolicy", r#""Delete""#),
    ("/managementPolicies", r#"["*"]"#),
    ("/providerConfigRef", r#"{"name":"default"}"#),
    ("/forProvider/entrypoint", r#""""#),
    ("/forProvider/enableTerraformCLILogging", "false"),
    ("/forProvider/remotePullPolicy", r#""Always""#),
];

/// The fields, by their paths inside of the spec, in which two specs differ for Terraform or for whoever runs it.
pub fn differences(found: &Value, rendered: &Value) -> Vec<String> {
    let mut paths = BTreeSet::new();
    compare("", &normal(found), &normal(rendered), &mut paths);
    paths.into_iter().collect()
}

/// A spec as it is meant.
fn normal(spec: &Value) -> Value {
    let mut spec = spec.clone();
    for (pointer, default) in DEFAULTS {
        if spec
            .pointer(pointer)
            .is_some_and(|value| serde_json::from_str(default).is_ok_and(|default: Value| *value == default))
        {
            remove(&mut spec, pointer);
        }
    }
    if let Some(for_provider) = spec.get_mut("forProvider").and_then(Value::as_object_mut) {
        if for_provider.get("inlineFormat") == Some(&json!("HCL")) {
            for_provider.remove("inlineFormat");
        }
        by_name(for_provider, "vars", "key");
        by_name(for_provider, "env", "name");
        for file in for_provider.get_mut("varFiles").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(file) = file.as_object_mut()
                && file.get("format") == Some(&json!("HCL"))
            {
                file.remove("format");
            }
        }
    }
    without_nothing(spec)
}

fn remove(spec: &mut Value, pointer: &str) {
    if let Some((parent, field)) = pointer.rsplit_once('/')
        && let Some(parent) = spec.pointer_mut(parent).and_then(Value::as_object_mut)
    {
        parent.remove(field);
    }
}

/// A list of named things as a map: their order means nothing, and of two with the same name the last one counts. What cannot be
/// read so stays as it is.
fn by_name(fields: &mut Map<String, Value>, list: &str, key: &str) {
    let Some(entries) = fields.get(list).and_then(Value::as_array) else { return };
    let named: Option<BTreeMap<String, Value>> = entries
        .iter()
        .map(|entry| {
            let mut entry = entry.as_object()?.clone();
            Some((entry.remove(key)?.as_str()?.to_owned(), Value::Object(entry)))
        })
        .collect();
    if let Some(named) = named {
        fields.insert(list.to_owned(), Value::Object(named.into_iter().collect()));
    }
}

/// Leaves out what is empty. Inside of `varmap` and of variables nothing is: there an empty text is a value.
fn without_nothing(spec: Value) -> Value {
    let Value::Object(fields) = spec else { return spec };
    let kept = fields.into_iter().filter_map(|(name, value)| {
        let value = match name.as_str() {
            "varmap" | "vars" | "env" => value,
            _ => without_nothing(value),
        };
        let is_nothing = value.is_null() || value == json!({}) || value == json!([]) || value == json!("");
        (!is_nothing).then_some((name, value))
    });
    Value::Object(kept.collect())
}

fn compare(path: &str, found: &Value, rendered: &Value, paths: &mut BTreeSet<String>) {
    match (found, rendered) {
        (Value::Object(found), Value::Object(rendered)) => {
            let names: BTreeSet<_> = found.keys().chain(rendered.keys()).collect();
            for name in names {
                let of = |fields: &Map<String, Value>| fields.get(name).cloned().unwrap_or_default();
                compare(&inside(path, name), &of(found), &of(rendered), paths);
            }
        }
        (Value::String(found), Value::String(rendered)) if found != rendered && is_module(path) => {
            let same = found.lines().zip(rendered.lines()).take_while(|(found, rendered)| found == rendered);
            paths.insert(format!("{path} (from line {})", same.count() + 1));
        }
        (found, rendered) if found != rendered => {
            paths.insert(path.to_owned());
        }
        _ => {}
    }
}

fn is_module(path: &str) -> bool {
    path == "forProvider.module"
}

/// The path of a field. Variables are told by their names; what is below them is theirs.
fn inside(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        "forProvider.vars" | "forProvider.env" | "forProvider.varmap" => format!("{path}[{name}]"),
        _ if path.ends_with(']') => path.to_owned(),
        _ => format!("{path}.{name}"),
    }
}

#[cfg(test)]
mod tests;
