//! The spec of a Workspace as people read it, so that two of them can be compared.

use std::collections::BTreeMap;

use capt_api::crossplane::WorkspaceSpec;
use serde_json::{Value, json};

use crate::terraform_state::{HIDDEN, is_secret_name};

/// What stands where a secret stood that is another one now.
const OTHER: &str = "(sensitive, another value)";

/// Two specs as texts, without what is named like a secret; where such a value differs, only that is told. What a spec leaves
/// out and the API server fills in is filled in.
pub fn readable(before: Option<&WorkspaceSpec>, after: &WorkspaceSpec) -> (String, String) {
    let known = before.map(secrets).unwrap_or_default();
    let old = before.map(|spec| text(spec, &known)).unwrap_or_default();
    (old, text(after, &known))
}

/// The values of a spec's variables, without what is named like a secret.
pub fn variables(spec: &WorkspaceSpec) -> BTreeMap<String, Value> {
    let listed = spec.for_provider.vars.iter().map(|it| (it.key.clone(), Value::from(it.value.clone())));
    let map = spec.for_provider.varmap.as_ref().and_then(Value::as_object);
    let mapped = map.into_iter().flatten().map(|(name, value)| (name.clone(), value.clone()));
    let mut found: serde_json::Map<String, Value> = listed.chain(mapped).collect();
    found.retain(|_, value| !value.is_null());
    let mut tree = Value::Object(found);
    hide_in_map(&mut tree);
    match tree {
        Value::Object(found) => found.into_iter().collect(),
        _ => BTreeMap::new(),
    }
}

/// The values that are named like secrets, by the list they are in and their name.
fn secrets(spec: &WorkspaceSpec) -> BTreeMap<(&'static str, String), String> {
    let mut found = BTreeMap::new();
    for variable in &spec.for_provider.vars {
        if is_secret_name(&variable.key) {
            found.insert(("vars", variable.key.clone()), variable.value.clone());
        }
    }
    for variable in &spec.for_provider.env {
        if is_secret_name(&variable.name) {
            found.insert(("env", variable.name.clone()), variable.value.clone());
        }
    }
    found
}

fn text(spec: &WorkspaceSpec, known: &BTreeMap<(&'static str, String), String>) -> String {
    let mut shown = spec.clone();
    let module = std::mem::take(&mut shown.for_provider.module);
    let hide = |list: &'static str, name: &str, value: &mut String| {
        if is_secret_name(name) && !value.is_empty() {
            let same = known.get(&(list, name.to_owned())).is_none_or(|before| before == value);
            if same { HIDDEN } else { OTHER }.clone_into(value);
        }
    };
    for variable in &mut shown.for_provider.vars {
        hide("vars", &variable.key, &mut variable.value);
    }
    for variable in &mut shown.for_provider.env {
        hide("env", &variable.name, &mut variable.value);
    }
    if let Some(map) = &mut shown.for_provider.varmap {
        hide_in_map(map);
    }
    let mut tree = json!(shown);
    if let Some(for_provider) = tree.get_mut("forProvider").and_then(Value::as_object_mut) {
        for_provider.remove("module");
    }
    let rest = serde_saphyr::to_string(&tree).unwrap_or_default();
    format!("{rest}\n# module\n{}\n", module.trim_end())
}

fn hide_in_map(map: &mut Value) {
    match map {
        Value::Object(fields) => {
            for (name, field) in fields {
                if is_secret_name(name) && !field.is_null() {
                    *field = Value::from(HIDDEN);
                } else {
                    hide_in_map(field);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(hide_in_map),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(vars: &Value, module: &str) -> WorkspaceSpec {
        serde_json::from_value(
            json!({ "forProvider": { "source": "Inline", "module": module, "vars": vars } }),
        )
        .unwrap()
    }

    #[test]
    fn what_the_api_server_fills_in_is_no_difference() {
        let bare = spec(&json!([]), "locals {}\n");
        let filled: WorkspaceSpec = serde_json::from_value(json!({
            "deletionPolicy": "Delete", "managementPolicies": ["*"], "providerConfigRef": { "name": "default" },
            "forProvider": { "source": "Inline", "module": "locals {}\n" },
        }))
        .unwrap();
        let (before, after) = readable(Some(&filled), &bare);
        assert_eq!(before, after);
        assert!(after.ends_with("\n# module\nlocals {}\n"), "{after}");
    }

    #[test]
    fn secrets_are_not_shown_and_that_one_changes_is() {
        let vars = |password: &str| json!([{ "key": "db_password", "value": password }, { "key": "size", "value": "3" }]);
        let (before, after) = readable(Some(&spec(&vars("hunter2"), "a")), &spec(&vars("hunter3"), "a"));
        assert!(!before.contains("hunter") && !after.contains("hunter"), "{before}{after}");
        assert!(
            before.contains("(sensitive)") && after.contains("(sensitive, another value)"),
            "{before}{after}"
        );
        let (before, after) = readable(Some(&spec(&vars("hunter2"), "a")), &spec(&vars("hunter2"), "a"));
        assert_eq!(before, after);
        assert!(readable(None, &spec(&vars("hunter2"), "a")).1.contains("(sensitive)\n"));
        let listed = json!(variables(&spec(&vars("hunter2"), "a")));
        assert_eq!(listed, json!({ "db_password": "(sensitive)", "size": "3" }));
    }
}
