//! What an API server writes into objects and nobody applies.

use serde_json::Value;

const METADATA: [&str; 6] =
    ["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"];

/// Removes what an object has only because it was read from an API server.
pub fn strip(object: &mut Value) {
    let Some(fields) = object.as_object_mut() else { return };
    fields.remove("status");
    if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|field, _| !METADATA.contains(&field.as_str()));
    }
}
