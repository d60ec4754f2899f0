//! What clusterctl makes of our components.

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use serde_json::Value;

use super::super::difference::differences;
use super::ok;
use super::program::Clusterctl;
use crate::repository::objects_in;

const NAMESPACE: &str = "capt-system";
const ELSEWHERE: &str = "platform";

/// Every object of `config/` comes out as it is there, and nothing else does.
pub(super) async fn come_out_as_they_are(clusterctl: &Clusterctl) -> anyhow::Result<()> {
    let mut expected = BTreeMap::new();
    for path in ["config/crd", "config/rbac", "config/manager"] {
        let objects = objects_in(path)?.into_iter();
        let own = objects.filter(|(file, _)| !file.starts_with("config/crd/compatible"));
        expected.extend(own.map(|(_, object)| (key(&object), content(object))));
    }
    let mut found = BTreeMap::new();
    for provider in ["--infrastructure", "--control-plane"] {
        let answer = clusterctl.run(&["generate", "provider", provider, "capt"]).await?;
        found.extend(answer.objects()?.into_iter().map(|object| (key(&object), content(object))));
    }
    found.remove("Namespace capt-control-plane-system").context("the control plane has no namespace")?;
    ensure!(found.keys().eq(expected.keys()), "clusterctl makes {:?} of {:?}", found.keys(), expected.keys());
    for (key, expected) in &expected {
        let differences = differences(&found[key], expected);
        ensure!(differences.is_empty(), "clusterctl changes {key}: {differences:?}");
    }
    ok(&format!("all {} objects of both providers come out as they are in config/", expected.len()));
    follow_the_namespace(clusterctl).await
}

/// Nothing stays in the namespace that the components have by default.
async fn follow_the_namespace(clusterctl: &Clusterctl) -> anyhow::Result<()> {
    for provider in ["--infrastructure", "--control-plane"] {
        let question = ["generate", "provider", provider, "capt", "--target-namespace", ELSEWHERE];
        for object in clusterctl.run(&question).await?.objects()? {
            ensure!(!mentions(&object, NAMESPACE), "{} is not moved to {ELSEWHERE}", key(&object));
            let namespace = object["metadata"].get("namespace");
            ensure!(namespace.is_none_or(|namespace| namespace == ELSEWHERE), "{object}");
        }
    }
    ok("--target-namespace moves accounts, roles, bindings and the manager");
    Ok(())
}

fn mentions(value: &Value, text: &str) -> bool {
    match value {
        Value::String(found) => found == text,
        Value::Array(values) => values.iter().any(|value| mentions(value, text)),
        Value::Object(values) => values.values().any(|value| mentions(value, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// What an object is called in `config/`.
fn key(object: &Value) -> String {
    let [kind, name] =
        [&object["kind"], &object["metadata"]["name"]].map(|text| text.as_str().unwrap_or_default());
    let prefixed = name.strip_prefix("capt-system-").filter(|_| kind.starts_with("ClusterRole"));
    format!("{kind} {}", prefixed.unwrap_or(name))
}

/// What has to stay as it is.
fn content(mut object: Value) -> Value {
    if let Some(image) = object.pointer_mut("/spec/template/spec/containers/0/image") {
        // Which image it is is said when a release is made.
        image.take();
    }
    if let Some(fields) = object.as_object_mut() {
        // The names of roles are dist's, and labels and namespaces are clusterctl's.
        for field in ["metadata", "roleRef", "status"] {
            fields.remove(field);
        }
    }
    levelled(object)
}

/// With all numbers in one form: 0 is 0.0.
fn levelled(value: Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().into(),
        Value::Array(values) => values.into_iter().map(levelled).collect(),
        Value::Object(values) => values.into_iter().map(|(key, value)| (key, levelled(value))).collect(),
        Value::Null | Value::Bool(_) | Value::String(_) => value,
    }
}
