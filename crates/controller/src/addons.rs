//! Add-ons: stacks, and each stack in each cluster.

pub(crate) mod binding;
mod memory;
pub(crate) mod stack;

use capt_api::names::group;
use k8s_openapi::api::rbac::v1::PolicyRule;

pub(crate) use memory::AddonMemories;

use crate::rbac::rule;

/// What these drivers need permission for.
pub(crate) fn rules() -> Vec<PolicyRule> {
    vec![
        rule(group::ADDONS, &["addonstacks"], &["get", "list", "watch", "patch"]),
        rule(group::ADDONS, &["addonstackbindings"], &["get", "list", "watch", "create", "patch", "delete"]),
        rule(group::ADDONS, &["addonstacks/status", "addonstackbindings/status"], &["patch"]),
        rule(group::ADDONS, &["addonstacks/finalizers", "addonstackbindings/finalizers"], &["update"]),
        rule(group::ADDONS, &["clusterresourcesets"], &["get", "list", "watch", "create", "patch", "delete"]),
        rule(group::ADDONS, &["clusterresourcesetbindings"], &["get", "list", "watch"]),
        rule(group::CLUSTER, &["clusters"], &["get", "list", "watch", "patch"]),
        rule(group::CLUSTER, &["clusters/status"], &["patch"]),
        // An owner that may not be deleted before what it owns, as the API server checks it.
        rule(group::CLUSTER, &["clusters/finalizers"], &["update"]),
        rule("", &["secrets", "configmaps"], &["get", "list", "watch"]),
    ]
}
