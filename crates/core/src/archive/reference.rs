//! What objects refer to: a backup holds that as well.

use std::collections::BTreeSet;

use serde_json::Value;

use super::kind::named;
use super::object::Key;
use crate::name::{is_namespace_name, is_object_name};

/// Something that an object refers to.
pub type Reference = Key;

/// The `ProviderConfig` of a Workspace that names none.
const DEFAULT_PROVIDER_CONFIG: &str = "default";

/// What an object refers to by its spec: Secrets, `ConfigMap`s, templates, `ProviderConfig`s. Names that are not names (they may
/// hold placeholders) are passed over.
pub fn references(object: &Value) -> BTreeSet<Reference> {
    let mut found = BTreeSet::new();
    let namespace = object["metadata"]["namespace"].as_str();
    walk(&object["spec"], namespace, &mut found);
    if object["kind"] == "Workspace" && object["spec"]["providerConfigRef"].is_null() {
        add("ProviderConfig", DEFAULT_PROVIDER_CONFIG, None, &mut found);
    }
    found
}

fn walk(value: &Value, namespace: Option<&str>, found: &mut BTreeSet<Reference>) {
    match value {
        Value::Object(fields) => {
            for (field, value) in fields {
                match field.as_str() {
                    "waitForSecrets" => {
                        value
                            .as_array()
                            .into_iter()
                            .flatten()
                            .for_each(|one| refer("Secret", one, namespace, found));
                    }
                    field => {
                        if let Some(kind) = kind_of_field(field) {
                            refer(kind, value, namespace, found);
                        }
                    }
                }
                walk(value, namespace, found);
            }
            if let Some(kind) = fields.get("kind").and_then(Value::as_str)
                && matches!(kind, "Secret" | "ConfigMap")
            {
                refer(kind, value, namespace, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, namespace, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn kind_of_field(field: &str) -> Option<&'static str> {
    match field {
        "secretRef" | "secretKeyRef" | "writeConnectionSecretToRef" => Some("Secret"),
        "configMapRef" | "configMapKeyRef" => Some("ConfigMap"),
        "templateRef" | "workspaceTemplateRef" | "vpcTemplateRef" => Some("WorkspaceTemplate"),
        "providerConfigRef" => Some("ProviderConfig"),
        _ => None,
    }
}

fn refer(kind: &str, value: &Value, namespace: Option<&str>, found: &mut BTreeSet<Reference>) {
    let given = value["namespace"].as_str().filter(|namespace| !namespace.is_empty());
    if let Some(name) = value["name"].as_str() {
        add(kind, name, given.or(namespace), found);
    }
}

fn add(kind: &str, name: &str, namespace: Option<&str>, found: &mut BTreeSet<Reference>) {
    let Some(kind) = named(kind) else { return };
    let namespace = namespace.filter(|namespace| kind.namespaced && is_namespace_name(namespace));
    if is_object_name(name) && namespace.is_some() == kind.namespaced {
        found.insert(Key {
            kind: kind.name,
            namespace: namespace.map(ToOwned::to_owned),
            name: name.to_owned(),
        });
    }
}
