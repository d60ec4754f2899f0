//! The permissions that the manager needs, as its drivers declare them.

use k8s_openapi::api::rbac::v1::PolicyRule;

/// Every rule of the manager's `ClusterRole`.
pub fn rules() -> Vec<PolicyRule> {
    Vec::new()
}
