//! Objects of examples, changed into those of a template.

use anyhow::Context;
use serde_json::{Value, json};

use super::super::manifest::read;
use super::super::variables::variable;

/// Objects of examples, in the namespace that clusterctl is told.
pub(super) fn from(files: &[&str]) -> anyhow::Result<Vec<Value>> {
    let mut objects = Vec::new();
    for file in files {
        objects.extend(read(&format!("examples/{file}"))?);
    }
    for object in &mut objects {
        object["metadata"]["namespace"] = json!(variable("NAMESPACE"));
    }
    Ok(objects)
}

/// Gives the Cluster and what it consists of the name that clusterctl is told, and a version. What an example says of add-ons is left
/// out: whether there is a stack is not known here.
pub(super) fn name_cluster(objects: &mut [Value], version: &str) -> anyhow::Result<()> {
    let name = json!(variable("CLUSTER_NAME"));
    for kind in ["Cluster", "CAPTCluster", "CAPTControlPlane"] {
        set(objects, kind, "/metadata/name", name.clone())?;
    }
    set(objects, "Cluster", "/spec/infrastructureRef/name", name.clone())?;
    set(objects, "Cluster", "/spec/controlPlaneRef/name", name)?;
    set(objects, "CAPTControlPlane", "/spec/version", json!(version))?;
    let cluster = find(objects, "Cluster")?;
    for (path, field) in [("/metadata", "labels"), ("/spec", "availabilityGates")] {
        if let Some(parent) = cluster.pointer_mut(path).and_then(Value::as_object_mut) {
            parent.remove(field);
        }
    }
    Ok(())
}

/// Gives a cluster a `WorkspaceTemplate` of its own: a newer release that makes another cluster must not change this one.
pub(super) fn own_template<'a>(
    objects: &'a mut [Value],
    template: &str,
    part: &str,
    (kind, path): (&str, &str),
) -> anyhow::Result<&'a mut Value> {
    let name = json!(format!("{}-{part}", variable("CLUSTER_NAME")));
    set(objects, kind, path, name.clone())?;
    let object = objects.iter_mut().find(|object| object["metadata"]["name"] == template);
    let object = object.with_context(|| format!("the example has no WorkspaceTemplate {template}"))?;
    object["metadata"]["name"] = name;
    Ok(object)
}

/// The version of the example.
pub(super) fn version_of(objects: &mut [Value]) -> anyhow::Result<String> {
    let version = find(objects, "CAPTControlPlane")?["spec"]["version"].as_str().map(str::to_owned);
    version.context("the CAPTControlPlane of the example has no version")
}

/// Replaces a field that is there: one that an example has lost is told.
pub(super) fn set(objects: &mut [Value], kind: &str, path: &str, value: Value) -> anyhow::Result<()> {
    let field = find(objects, kind)?.pointer_mut(path);
    *field.with_context(|| format!("the {kind} of the example has no {path}"))? = value;
    Ok(())
}

pub(super) fn find<'a>(objects: &'a mut [Value], kind: &str) -> anyhow::Result<&'a mut Value> {
    let object = objects.iter_mut().find(|object| object["kind"] == kind);
    object.with_context(|| format!("the example has no {kind}"))
}
