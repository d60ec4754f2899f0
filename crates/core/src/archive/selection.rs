//! Which Secrets and Workspaces a backup holds of those that nobody refers to.

use capt_api::names::{CLUSTER_SECRET_TYPE, CONNECTION_SECRET_TYPE, MANAGED_BY_CAPT, annotation, label};
use serde_json::Value;

/// What is kept of a Workspace's runs and cannot be made again.
const ROLES: [&str; 4] = ["state", "record", "snapshot", "connection"];

/// Whether a Secret is kept by what it is: states, records, copies of states, outputs of modules, and Secrets of a cluster that
/// somebody else made. Those that a control plane hands out are left out: CAPT makes them again from the outputs, with tokens
/// that are still good.
pub fn is_kept_secret(secret: &Value) -> bool {
    let labels = &secret["metadata"]["labels"];
    let role = labels[label::ROLE].as_str();
    let made_here = labels[label::MANAGED_BY] == MANAGED_BY_CAPT;
    match secret["type"].as_str() {
        _ if labels[label::TERRAFORM_STATE] == "true" => true,
        _ if role.is_some_and(|role| ROLES.contains(&role)) => true,
        Some(CONNECTION_SECRET_TYPE) => true,
        Some(CLUSTER_SECRET_TYPE) => !made_here,
        _ => false,
    }
}

/// What becomes of a Workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workspace {
    /// Nobody derived it: it is kept.
    Nobodys,
    /// Its apply makes it again, but for what is written on itself: it is kept.
    Marked,
    /// Its apply makes it again: it is left out.
    Derived,
}

/// What becomes of a Workspace.
pub fn workspace(object: &Value) -> Workspace {
    let annotations = &object["metadata"]["annotations"];
    let frozen = annotations.get(annotation::FROZEN).is_some();
    let paused = annotations[annotation::CROSSPLANE_PAUSED] == "true" && !frozen;
    // Whoever runs it gives it its own name where it has no other.
    let external = annotations.get(annotation::EXTERNAL_NAME);
    let renamed = external.is_some_and(|name| *name != object["metadata"]["name"]);
    if annotations.get(annotation::APPLY).is_none() {
        Workspace::Nobodys
    } else if paused || renamed {
        Workspace::Marked
    } else {
        Workspace::Derived
    }
}
