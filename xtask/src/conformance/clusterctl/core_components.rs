//! The components of the real Cluster API, out of its module: its kinds, its rights and its Deployment.
//!
//! Its webhooks are left out, since nobody can reach them here, and the conversions with them.

use std::fs;

use anyhow::Context;
use serde_json::{Value, json};

use super::super::contract::ClusterApi;

const NAMESPACE: &str = "capi-system";
const PREFIX: &str = "capi-";
const FILES: [&str; 6] = [
    "rbac/leader_election_role.yaml",
    "rbac/leader_election_role_binding.yaml",
    "rbac/role.yaml",
    "rbac/role_binding.yaml",
    "rbac/service_account.yaml",
    "manager/manager.yaml",
];

/// All of it as one file.
pub(super) fn text(cluster_api: &ClusterApi) -> anyhow::Result<String> {
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE } });
    let mut objects = vec![namespace];
    for crd in &cluster_api.crds {
        objects.push(serde_json::to_value(crd)?);
    }
    let directory = cluster_api.module.directory.join("core/config");
    for file in FILES {
        let path = directory.join(file);
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let documents: Vec<Value> =
            serde_saphyr::from_multiple(&text).with_context(|| format!("reading {}", path.display()))?;
        objects.extend(documents.into_iter().map(placed));
    }
    let documents = objects.iter().map(|object| Ok(format!("---\n{}", serde_saphyr::to_string(object)?)));
    documents.collect()
}

/// With the names and in the namespace that a release has.
fn placed(mut object: Value) -> Value {
    if object["kind"] != "ClusterRole" && object["kind"] != "ClusterRoleBinding" {
        object["metadata"]["namespace"] = json!(NAMESPACE);
    }
    let names =
        ["/metadata/name", "/roleRef/name", "/subjects/0/name", "/spec/template/spec/serviceAccountName"];
    for path in names {
        if let Some(name) = object.pointer_mut(path) {
            *name = json!(format!("{PREFIX}{}", name.as_str().unwrap_or_default()));
        }
    }
    if let Some(namespace) = object.pointer_mut("/subjects/0/namespace") {
        *namespace = json!(NAMESPACE);
    }
    if let Some(image) = object.pointer_mut("/spec/template/spec/containers/0/image") {
        // Nobody runs it, but clusterctl reads it.
        *image = json!("example.com/cluster-api-controller:v0");
    }
    object
}
