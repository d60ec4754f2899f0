//! The permissions that the manager needs, as its drivers declare them. The `ClusterRole` is generated from this.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::rbac::v1::PolicyRule;

/// Every rule of the manager's `ClusterRole`, each resource once.
pub fn rules() -> Vec<PolicyRule> {
    merged(
        [
            crate::workspace_template::rules(),
            crate::workspace_template_apply::rules(),
            crate::workspace::rules(),
            crate::cluster::rules(),
            crate::network::rules(),
            crate::control_plane::rules(),
            crate::addons::rules(),
            crate::resource_set::rules(),
            vec![
                rule("apiextensions.k8s.io", &["customresourcedefinitions"], &["get", "list", "watch"]),
                // Managers of other namespaces, which must not act at the same time.
                rule("coordination.k8s.io", &["leases"], &["list", "watch"]),
                rule("events.k8s.io", &["events"], &["create", "patch"]),
            ],
        ]
        .into_iter()
        .flatten(),
    )
}

/// Every rule of the Role in the manager's own namespace.
pub fn own_namespace_rules() -> Vec<PolicyRule> {
    let leader_election =
        rule("coordination.k8s.io", &["leases"], &["get", "list", "watch", "create", "update"]);
    merged([vec![leader_election], crate::workspace::own_namespace_rules()].into_iter().flatten())
}

/// A rule for some resources of a group.
pub(crate) fn rule(group: &str, resources: &[&str], verbs: &[&str]) -> PolicyRule {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    PolicyRule {
        api_groups: Some(vec![group.to_owned()]),
        resources: Some(owned(resources)),
        verbs: owned(verbs),
        ..PolicyRule::default()
    }
}

fn merged(rules: impl Iterator<Item = PolicyRule>) -> Vec<PolicyRule> {
    let mut verbs: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for rule in rules {
        for group in rule.api_groups.iter().flatten() {
            for resource in rule.resources.iter().flatten() {
                verbs.entry((group.clone(), resource.clone())).or_default().extend(rule.verbs.clone());
            }
        }
    }
    verbs
        .into_iter()
        .map(|((group, resource), verbs)| PolicyRule {
            api_groups: Some(vec![group]),
            resources: Some(vec![resource]),
            verbs: verbs.into_iter().collect(),
            ..PolicyRule::default()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_resource_has_one_rule_with_all_verbs() {
        let rules = [rule("g", &["a", "b"], &["get"]), rule("g", &["a"], &["patch", "get"])];
        let merged = merged(rules.into_iter());
        assert_eq!(merged, [rule("g", &["a"], &["get", "patch"]), rule("g", &["b"], &["get"])]);
    }

    #[test]
    fn nothing_asks_for_everything() {
        for rule in rules().into_iter().chain(own_namespace_rules()) {
            assert!(!rule.verbs.iter().any(|verb| verb == "*"), "{rule:?}");
            assert!(!rule.resources.iter().flatten().any(|resource| resource == "*"), "{rule:?}");
        }
    }
}
