//! Who has written which field of an object, as its API server keeps it (`metadata.managedFields`).

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry};
use serde_json::{Map, Value};

const SPEC: &str = "f:spec";

/// Hands the fields of the spec that were written by updates over to `manager`, as if he had applied them; `None` where there
/// are none. Fields that others apply stay theirs as well: whoever applies is there to say so again.
pub fn take_spec(entries: &[ManagedFieldsEntry], manager: &str) -> Option<Vec<ManagedFieldsEntry>> {
    let mut taken = Map::new();
    let mut api_version = None;
    let mut rest = Vec::new();
    for entry in entries {
        let mut entry = entry.clone();
        if entry.operation.as_deref() == Some("Update")
            && entry.subresource.as_deref().unwrap_or_default().is_empty()
            && let Some(FieldsV1(Value::Object(fields))) = &mut entry.fields_v1
            && let Some(spec) = fields.remove(SPEC)
        {
            merge(&mut taken, Map::from_iter([(SPEC.to_owned(), spec)]));
            api_version.clone_from(&entry.api_version);
            if fields.is_empty() {
                continue;
            }
        }
        rest.push(entry);
    }
    if taken.is_empty() {
        return None;
    }
    let ours = |entry: &&mut ManagedFieldsEntry| {
        entry.manager.as_deref() == Some(manager)
            && entry.operation.as_deref() == Some("Apply")
            && entry.subresource.as_deref().unwrap_or_default().is_empty()
    };
    match rest.iter_mut().find(ours) {
        Some(ours) => match &mut ours.fields_v1 {
            Some(FieldsV1(Value::Object(fields))) => merge(fields, taken),
            fields => *fields = Some(FieldsV1(Value::Object(taken))),
        },
        None => rest.push(ManagedFieldsEntry {
            manager: Some(manager.to_owned()),
            operation: Some("Apply".to_owned()),
            api_version,
            fields_type: Some("FieldsV1".to_owned()),
            fields_v1: Some(FieldsV1(Value::Object(taken))),
            ..ManagedFieldsEntry::default()
        }),
    }
    Some(rest)
}

fn merge(into: &mut Map<String, Value>, from: Map<String, Value>) {
    for (name, value) in from {
        match (into.get_mut(&name), value) {
            (Some(Value::Object(into)), Value::Object(from)) => merge(into, from),
            (_, value) => drop(into.insert(name, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(manager: &str, operation: &str, subresource: &str, fields: Value) -> ManagedFieldsEntry {
        ManagedFieldsEntry {
            manager: Some(manager.to_owned()),
            operation: Some(operation.to_owned()),
            subresource: (!subresource.is_empty()).then(|| subresource.to_owned()),
            api_version: Some("tf.upbound.io/v1beta1".to_owned()),
            fields_type: Some("FieldsV1".to_owned()),
            fields_v1: Some(FieldsV1(fields)),
            ..ManagedFieldsEntry::default()
        }
    }

    #[test]
    fn fields_of_updates_are_handed_over_and_nothing_else() {
        let entries = [
            entry("manager", "Update", "", json!({ "f:spec": { "f:a": {}, "f:b": { ".": {}, "f:c": {} } } })),
            entry(
                "provider",
                "Update",
                "",
                json!({ "f:metadata": { "f:finalizers": {} }, "f:spec": { "f:b": { "f:d": {} } } }),
            ),
            entry("provider", "Update", "status", json!({ "f:status": {} })),
            entry("argocd", "Apply", "", json!({ "f:spec": { "f:a": {} } })),
        ];
        let expected = [
            entry("provider", "Update", "", json!({ "f:metadata": { "f:finalizers": {} } })),
            entry("provider", "Update", "status", json!({ "f:status": {} })),
            entry("argocd", "Apply", "", json!({ "f:spec": { "f:a": {} } })),
            entry(
                "capt",
                "Apply",
                "",
                json!({ "f:spec": { "f:a": {}, "f:b": { ".": {}, "f:c": {}, "f:d": {} } } }),
            ),
        ];
        let taken = take_spec(&entries, "capt").unwrap();
        assert_eq!(taken, expected);
        assert_eq!(take_spec(&taken, "capt"), None, "once is enough");
    }

    #[test]
    fn what_is_ours_already_stays() {
        let entries = [
            entry("capt", "Apply", "", json!({ "f:metadata": { "f:labels": {} }, "f:spec": { "f:a": {} } })),
            entry("kubectl-edit", "Update", "", json!({ "f:spec": { "f:b": {} } })),
        ];
        let expected = [entry(
            "capt",
            "Apply",
            "",
            json!({ "f:metadata": { "f:labels": {} }, "f:spec": { "f:a": {}, "f:b": {} } }),
        )];
        assert_eq!(take_spec(&entries, "capt").unwrap(), expected);
    }
}
