//! What others wrote into a status and nobody keeps up any more, as the earlier implementation did: an apply leaves it, because it
//! is not ours.

use kube::api::{Patch, PatchParams};
use kube::{Api, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::error::Error;

/// Takes away what is in the status that was `written` and not in the one that it should be. Returns the object as it is then;
/// nothing if it has gone.
pub(crate) async fn clear<K, S>(
    api: &Api<K>,
    written: K,
    status: fn(&K) -> Option<&S>,
    next: &S,
    doing: &str,
) -> Result<Option<K>, Error>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
    S: Serialize,
{
    let nulls = surplus(&json!(status(&written)), &json!(next));
    if nulls.is_empty() {
        return Ok(Some(written));
    }
    let name = written.meta().name.clone().unwrap_or_default();
    let patch = json!({ "metadata": { "uid": written.meta().uid }, "status": nulls });
    let cleared = api.patch_status(&name, &PatchParams::default(), &Patch::Merge(patch)).await;
    Error::unless_gone(cleared.map_err(Error::api(doing)))
}

/// Every field of `present` that is not in `wanted`, with `null` for its value. Conditions go by their types, all together.
fn surplus(present: &Value, wanted: &Value) -> Map<String, Value> {
    let (Value::Object(present), Value::Object(wanted)) = (present, wanted) else { return Map::new() };
    let fields = present.iter().filter_map(|(key, value)| match wanted.get(key) {
        None => Some((key.clone(), Value::Null)),
        Some(Value::Array(wanted)) if key == "conditions" => {
            let known = |entry: &Value| wanted.iter().any(|wanted| wanted["type"] == entry["type"]);
            let is_left = value.as_array().is_some_and(|present| !present.iter().all(known));
            is_left.then(|| (key.clone(), json!(wanted)))
        }
        Some(wanted) => {
            let inner = surplus(value, wanted);
            (!inner.is_empty()).then(|| (key.clone(), Value::Object(inner)))
        }
    });
    fields.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_should_not_be_there_is_taken_away() {
        let present = json!({ "a": 1, "b": { "c": 1, "d": 1 }, "e": [{ "f": 1 }] });
        let wanted = json!({ "b": { "c": 2 }, "e": [], "g": 1 });
        assert_eq!(json!(surplus(&present, &wanted)), json!({ "a": null, "b": { "d": null } }));
        assert!(surplus(&wanted, &wanted).is_empty());
    }

    #[test]
    fn conditions_of_other_types_go() {
        let [ready, failed] = ["Ready", "VPCFailed"].map(|type_| json!({ "type": type_, "status": "True" }));
        let wanted = json!({ "conditions": [ready] });
        let present = json!({ "conditions": [ready, failed] });
        assert_eq!(json!(surplus(&present, &wanted)), wanted);
        assert!(surplus(&wanted, &wanted).is_empty());
    }
}
