//! What a spec becomes when one of those who write it wants something else than before.

use serde_json::Value;

/// What is there, without what was wanted before and is not any more, and with what is wanted now. What others added stays.
pub(super) fn merged(present: &Value, before: &Value, after: &Value) -> Value {
    match (present, after) {
        (Value::Object(fields), Value::Object(wanted)) => {
            let mut result = fields.clone();
            for name in before.as_object().into_iter().flat_map(|before| before.keys()) {
                if !wanted.contains_key(name) {
                    result.remove(name);
                }
            }
            for (name, wanted) in wanted {
                let value = match fields.get(name) {
                    Some(present) => merged(present, before.get(name).unwrap_or(&Value::Null), wanted),
                    None => wanted.clone(),
                };
                result.insert(name.clone(), value);
            }
            Value::Object(result)
        }
        (Value::Array(items), Value::Array(wanted)) => {
            let known = |item: &&Value| {
                let before = before.as_array().is_some_and(|before| before.iter().any(|it| same(it, item)));
                before || wanted.iter().any(|it| same(it, item))
            };
            let added = items.iter().filter(|item| !known(item));
            Value::Array(wanted.iter().chain(added).cloned().collect())
        }
        (_, wanted) => wanted.clone(),
    }
}

/// Whether two items of a list speak of the same thing.
fn same(one: &Value, other: &Value) -> bool {
    let name = |item: &Value| item.get("variable").or_else(|| item.get("name")).cloned();
    match (name(one), name(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}
