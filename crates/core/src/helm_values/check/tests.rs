mod broken;
mod properties;
mod sound;

use std::collections::{BTreeMap, BTreeSet};

use capt_api::addon_stack::ValuesSecret;
use serde_json::{Value, json};

use super::*;

/// A `HelmRelease` in `kube-system` with this of its spec.
fn release(spec: &Value) -> Value {
    json!({
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": { "name": "karpenter", "namespace": "kube-system" },
        "spec": spec,
    })
}

/// An entry that reads a key of the Secret that the stack brings.
fn entry(key: &str, path: &str) -> Value {
    json!({ "kind": "Secret", "name": "demo", "valuesKey": key, "targetPath": path, "literal": true })
}

/// A literal reference to the cluster's name.
fn at(path: &str) -> Value {
    entry("cluster_name", path)
}

/// What the stack brings to `kube-system`, and `elsewhere` to another namespace.
fn stack() -> Vec<ValuesSecret> {
    let secrets = json!([
        {
            "namespace": "kube-system",
            "keys": [
                { "output": "cluster_name" },
                { "output": "karpenter_queue_name", "key": "queue_name", "optional": true },
                { "output": "karpenter_iam_role_arn", "key": "role_arn" },
                { "output": "account" },
                { "output": "words" },
                { "output": "line" },
                { "output": "flag", "default": "true" },
            ],
        },
        { "name": "elsewhere", "namespace": "karpenter", "keys": [{ "output": "cluster_name" }] },
    ]);
    serde_json::from_value(secrets).unwrap()
}

fn outputs() -> BTreeMap<String, Vec<u8>> {
    let outputs = [
        ("cluster_name", "demo"),
        ("account", "123456789012"),
        ("words", "MARKER,evil=1"),
        ("line", "MARKER\n"),
    ];
    outputs.map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec())).into()
}

/// Manifests beside the release.
fn settings() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": "settings", "namespace": "kube-system" },
        "data": {
            "text": "demo",
            "replicas": "2",
            "words": "MARKER,evil=1",
            "list": "{MARKER",
            "nothing": "null",
            "path": "C:\\MARKER",
            "values.yaml": "- MARKER",
        },
    })
}

/// What is found in a release with this of its spec.
fn found(spec: &Value, outputs: Outputs<'_>) -> Vec<String> {
    let (values, settings) = (stack(), settings());
    let surroundings =
        Surroundings { values: &values, default_name: Some("demo"), outputs, objects: &[&settings] };
    let findings = check(&release(spec), &surroundings);
    findings.iter().map(|finding| format!("{}: {finding}", finding.severity().as_str())).collect()
}
