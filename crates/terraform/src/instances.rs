//! Which objects a state holds, by their addresses.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::imports::quoted;

#[derive(Deserialize)]
struct State {
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Deserialize)]
struct Resource {
    #[serde(default)]
    module: Option<String>,
    mode: String,
    #[serde(rename = "type")]
    kind: String,
    name: String,
    #[serde(default)]
    instances: Vec<Instance>,
}

#[derive(Deserialize)]
struct Instance {
    #[serde(default)]
    index_key: Option<Value>,
    /// An object that another one has replaced, and that is still there.
    #[serde(default)]
    deposed: Option<Value>,
    #[serde(default)]
    attributes: Value,
}

/// The objects of managed resources and their identifiers, where they have one.
pub(crate) fn instances(text: &str) -> Result<BTreeMap<String, Option<String>>, serde_json::Error> {
    if text.trim().is_empty() {
        // A workspace without a state.
        return Ok(BTreeMap::new());
    }
    let State { resources } = serde_json::from_str(text)?;
    let mut found = BTreeMap::new();
    for resource in resources.iter().filter(|resource| resource.mode == "managed") {
        for instance in resource.instances.iter().filter(|instance| instance.deposed.is_none()) {
            let id = instance.attributes["id"].as_str().map(str::to_owned);
            found.insert(address(resource, instance), id);
        }
    }
    Ok(found)
}

/// The address as the tool prints it.
fn address(resource: &Resource, instance: &Instance) -> String {
    let Resource { module, kind, name, .. } = resource;
    let module = module.as_ref().map(|module| format!("{module}.")).unwrap_or_default();
    let index = match &instance.index_key {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(key)) => format!("[{}]", quoted(key)),
        Some(number) => format!("[{number}]"),
    };
    format!("{module}{kind}.{name}{index}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_found_by_the_address_that_the_tool_prints() {
        let state = r#"{"version":4,"serial":3,"lineage":"l","resources":[
            {"mode":"data","type":"a","name":"read","instances":[{"attributes":{"id":"0"}}]},
            {"mode":"managed","type":"a","name":"one","instances":[{"attributes":{"id":"1"}}]},
            {"mode":"managed","type":"a","name":"no_id","instances":[{"attributes":{}}]},
            {"module":"module.m[\"k\"]","mode":"managed","type":"a","name":"many","instances":[
                {"index_key":0,"attributes":{"id":"2"}},{"index_key":"x \"y\" ${z}","attributes":{"id":"3"}},
                {"index_key":0,"deposed":"abcd","attributes":{"id":"4"}}]}]}"#;
        let found = instances(state).unwrap();
        let told: Vec<(&str, Option<&str>)> =
            found.iter().map(|(address, id)| (address.as_str(), id.as_deref())).collect();
        assert_eq!(
            told,
            [
                ("a.no_id", None),
                ("a.one", Some("1")),
                (r#"module.m["k"].a.many["x \"y\" $${z}"]"#, Some("3")),
                (r#"module.m["k"].a.many[0]"#, Some("2")),
            ]
        );
    }

    #[test]
    fn what_is_no_state_holds_nothing_that_is_known() {
        assert_eq!(instances("").unwrap(), BTreeMap::new());
        assert!(instances(r#"{"resources":[{"mode":"managed"}]}"#).is_err());
        assert!(instances("torn{").is_err());
    }
}
