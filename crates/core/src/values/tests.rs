mod flux;
mod readers;
mod refused;
mod written;

use std::collections::BTreeMap;

use capt_api::addon_stack::ValuesSecret;
use capt_api::resource_set::ResourceKind;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use super::*;

/// A Secret `karpenter/demo` with these keys.
fn secret(keys: &Value) -> ValuesSecret {
    serde_json::from_value(json!({ "namespace": "karpenter", "keys": keys })).unwrap()
}

/// The outputs of a module.
fn outputs(outputs: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
    outputs.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect()
}

/// A `HelmRelease` in the namespace `karpenter` that reads the key `cluster_name` of the Secret `demo`.
fn release(name: &str, target_path: Option<&str>, literal: bool) -> Release {
    Release {
        api_version: "helm.toolkit.fluxcd.io/v2".to_owned(),
        namespace: "karpenter".to_owned(),
        name: name.to_owned(),
        references: vec![Reference {
            kind: ResourceKind::Secret,
            name: "demo".to_owned(),
            key: "cluster_name".to_owned(),
            target_path: target_path.map(str::to_owned),
            optional: false,
            literal,
        }],
    }
}

/// The Secret with the output `cluster_name` as these releases read it.
fn for_readers(value: &str, releases: &[Release]) -> Result<Wanted, Problem> {
    let keys = secret(&json!([{ "output": "cluster_name" }]));
    wanted(&keys, "demo", &outputs(&[("cluster_name", value)]), releases, "uid")
}

/// The content of a Secret.
fn content(wanted: &Wanted) -> BTreeMap<&str, &str> {
    wanted.data.iter().map(|(key, value)| (key.as_str(), value.expose_secret())).collect()
}
