//! Which values of a Workspace's own spec are not shown in plans and logs.
//!
//! Whoever may read the Workspace sees them all, so most are no secret: a region that is hidden helps nobody. But plans and
//! logs have more readers: what is named like a credential, or what the module calls sensitive, is not for them. What comes
//! from a Secret is in no spec, and is hidden by whoever reads it.

use std::collections::BTreeSet;

use capt_api::crossplane::{FileFormat, ForProvider, ModuleSource};
use serde_json::Value;

use crate::module::{self, Format};
use crate::terraform_state::is_secret_name;

/// Words that are in every text and no secret.
const PLAIN: [&str; 6] = ["true", "false", "null", "none", "None", "default"];

/// The values that are not shown.
pub fn secrets(for_provider: &ForProvider) -> BTreeSet<String> {
    let sensitive = declared_sensitive(for_provider);
    let is_secret = |name: &str| is_secret_name(name) || sensitive.contains(name);
    let ForProvider { vars, varmap, env, init_args, plan_args, apply_args, destroy_args, .. } = for_provider;
    let mut found = BTreeSet::new();
    for variable in vars.iter().filter(|variable| is_secret(&variable.key)) {
        add(&variable.value, &mut found);
    }
    for variable in env.iter().filter(|variable| is_secret_name(&variable.name)) {
        add(&variable.value, &mut found);
    }
    if let Some(map) = varmap {
        named(map, &is_secret, &mut found);
    }
    for given in [init_args, plan_args, apply_args, destroy_args] {
        for (name, value) in assigned(given) {
            if is_secret(name) {
                add(value, &mut found);
            }
        }
    }
    found
}

/// The variables that an inline module calls sensitive. What Terraform itself knows of any other module, it hides.
fn declared_sensitive(for_provider: &ForProvider) -> BTreeSet<String> {
    let format = match (for_provider.source, for_provider.inline_format.unwrap_or_default()) {
        (ModuleSource::Inline, FileFormat::Hcl) => Format::Hcl,
        (ModuleSource::Inline, FileFormat::Json) => Format::Json,
        (ModuleSource::Remote | ModuleSource::Flux, _) => return BTreeSet::new(),
    };
    let module = module::read(&for_provider.module, format).unwrap_or_default();
    module.variables.into_iter().filter(|(_, variable)| variable.sensitive).map(|(name, _)| name).collect()
}

/// The names and values of `-var=name=value` and of `-var name=value`.
fn assigned(arguments: &[String]) -> impl Iterator<Item = (&str, &str)> {
    let named = arguments.iter().filter_map(|argument| argument.trim_start_matches('-').strip_prefix("var="));
    let apart = arguments
        .windows(2)
        .filter(|pair| pair[0].trim_start_matches('-') == "var")
        .map(|pair| pair[1].as_str());
    named.chain(apart).filter_map(|assignment| assignment.split_once('='))
}

/// The values below names that are secret.
fn named(tree: &Value, is_secret: &dyn Fn(&str) -> bool, found: &mut BTreeSet<String>) {
    match tree {
        Value::Object(fields) => {
            for (name, field) in fields {
                if is_secret(name) {
                    leaves(field, found);
                } else {
                    named(field, is_secret, found);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| named(item, is_secret, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A value as it is written, and what is in it where it is a list or a map.
fn add(text: &str, found: &mut BTreeSet<String>) {
    if !PLAIN.contains(&text) {
        found.insert(text.to_owned());
    }
    if let Ok(tree @ (Value::Array(_) | Value::Object(_))) = serde_json::from_str::<Value>(text) {
        leaves(&tree, found);
    }
}

fn leaves(tree: &Value, found: &mut BTreeSet<String>) {
    match tree {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => {
            found.insert(number.to_string());
        }
        Value::String(text) => {
            if !PLAIN.contains(&text.as_str()) {
                found.insert(text.clone());
            }
        }
        Value::Array(items) => items.iter().for_each(|item| leaves(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| leaves(field, found)),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    const MODULE: &str = "variable \"region\" {}\nvariable \"seed\" {\n  sensitive = true\n}\n";

    fn found(fields: &Value) -> Vec<String> {
        let mut spec = json!({ "source": "Inline", "module": MODULE });
        spec.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        secrets(&serde_json::from_value(spec).unwrap()).into_iter().collect()
    }

    #[rstest]
    #[case::a_plain_variable(json!({ "vars": [{ "key": "region", "value": "eu-west-1" }] }), &[])]
    #[case::named_like_a_credential(json!({ "vars": [{ "key": "db_password", "value": "hunter22" }] }), &["hunter22"])]
    #[case::called_sensitive_by_the_module(json!({ "vars": [{ "key": "seed", "value": "hunter22" }] }), &["hunter22"])]
    #[case::the_name_of_a_secret(json!({ "vars": [{ "key": "secret_name", "value": "hunter22" }] }), &[])]
    #[case::a_list(json!({ "vars": [{ "key": "tokens", "value": "[\"hunter22\",\"hunter33\"]" }] }),
        &["[\"hunter22\",\"hunter33\"]", "hunter22", "hunter33"])]
    #[case::a_switch(json!({ "vars": [{ "key": "rotate_token", "value": "true" }] }), &[])]
    #[case::deep_in_a_map(json!({ "varmap": { "database": [{ "password": "hunter22", "size": "large" }] } }), &["hunter22"])]
    #[case::all_of_a_sensitive_map(json!({ "varmap": { "seed": { "a": ["hunter22", 12345, true, null] } } }), &["12345", "hunter22"])]
    #[case::environment(json!({ "env": [{ "name": "API_TOKEN", "value": "hunter22" }, { "name": "MODE", "value": "fast" }] }), &["hunter22"])]
    #[case::arguments(json!({ "planArgs": ["-var=api_key=hunter22", "-var", "seed=hunter33", "-var=region=eu", "-parallelism=3"] }),
        &["hunter22", "hunter33"])]
    #[case::of_a_destroy(json!({ "destroyArgs": ["--var=api_key=hunter22"] }), &["hunter22"])]
    fn what_is_hidden_of_a_spec(#[case] fields: Value, #[case] expected: &[&str]) {
        assert_eq!(found(&fields), expected);
    }

    #[test]
    fn a_module_that_cannot_be_read_hides_no_less_than_its_names_say() {
        let fields =
            json!({ "module": "variable \"seed\" {", "vars": [{ "key": "token", "value": "hunter22" }] });
        assert_eq!(found(&fields), ["hunter22"]);
    }
}
