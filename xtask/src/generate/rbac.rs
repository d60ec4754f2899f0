//! `config/rbac`: what the manager may do, as its controllers declare it.

use std::path::Path;

use capt_api::crd::own;
use capt_api::names::{MANAGED_BY_CAPT, label};
use capt_controller::rbac::{own_namespace_rules, rules};
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{
    ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::{Files, document};
use crate::repository::CONFIG;

/// The namespace of the manager, where nobody says otherwise.
pub(super) const NAMESPACE: &str = "capt-system";
/// The name of the manager, its account and its roles.
pub(super) const MANAGER: &str = "capt-manager";

/// What only CAPT writes.
const KEPT_BY_CAPT: &str = "addonstackbindings";
const VIEW: [&str; 3] = ["get", "list", "watch"];
const EDIT: [&str; 5] = ["create", "delete", "deletecollection", "patch", "update"];

pub(super) fn add(files: &mut Files) -> anyhow::Result<()> {
    let directory = Path::new(CONFIG).join("rbac");
    let mut put = |name: &str, document: String| files.insert(directory.join(name), document);
    put(
        "service-account.yaml",
        document(&ServiceAccount { metadata: local(MANAGER), ..Default::default() })?,
    );
    put("cluster-role.yaml", document(&cluster_role())?);
    put("cluster-role-binding.yaml", document(&cluster_role_binding())?);
    put("role.yaml", document(&role())?);
    put("role-binding.yaml", document(&role_binding())?);
    put("viewer-role.yaml", document(&people("capt-viewer", viewer_rules(), &["view", "edit", "admin"]))?);
    put("editor-role.yaml", document(&people("capt-editor", editor_rules(), &["edit", "admin"]))?);
    Ok(())
}

/// Seeing every kind of CAPT's.
pub(super) fn viewer_rules() -> Vec<PolicyRule> {
    kinds().map(|(group, plural)| rule(group, plural, &VIEW)).collect()
}

/// Writing every kind of CAPT's that people write.
pub(super) fn editor_rules() -> Vec<PolicyRule> {
    let written = kinds().filter(|(_, plural)| plural != KEPT_BY_CAPT);
    written.map(|(group, plural)| rule(group, plural, &EDIT)).collect()
}

fn kinds() -> impl Iterator<Item = (String, String)> {
    let mut kinds: Vec<_> = own().into_iter().map(|crd| (crd.spec.group, crd.spec.names.plural)).collect();
    kinds.sort();
    kinds.into_iter()
}

fn rule(group: String, plural: String, verbs: &[&str]) -> PolicyRule {
    PolicyRule {
        api_groups: Some(vec![group]),
        resources: Some(vec![plural]),
        verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
        ..PolicyRule::default()
    }
}

/// A role that becomes part of roles which every cluster has.
fn people(name: &str, rules: Vec<PolicyRule>, aggregated_to: &[&str]) -> ClusterRole {
    let mut metadata = global(name);
    let aggregated = aggregated_to
        .iter()
        .map(|role| (format!("rbac.authorization.k8s.io/aggregate-to-{role}"), "true".to_owned()));
    metadata.labels.get_or_insert_default().extend(aggregated);
    ClusterRole { metadata, rules: Some(rules), aggregation_rule: None }
}

fn cluster_role() -> ClusterRole {
    ClusterRole { metadata: global(MANAGER), rules: Some(rules()), aggregation_rule: None }
}

fn cluster_role_binding() -> ClusterRoleBinding {
    ClusterRoleBinding {
        metadata: global(MANAGER),
        role_ref: role_ref("ClusterRole", MANAGER),
        subjects: Some(vec![manager()]),
    }
}

fn role() -> Role {
    Role { metadata: local(MANAGER), rules: Some(own_namespace_rules()) }
}

fn role_binding() -> RoleBinding {
    RoleBinding {
        metadata: local(MANAGER),
        role_ref: role_ref("Role", MANAGER),
        subjects: Some(vec![manager()]),
    }
}

fn role_ref(kind: &str, name: &str) -> RoleRef {
    RoleRef {
        api_group: "rbac.authorization.k8s.io".to_owned(),
        kind: kind.to_owned(),
        name: name.to_owned(),
    }
}

fn manager() -> Subject {
    Subject {
        kind: "ServiceAccount".to_owned(),
        name: MANAGER.to_owned(),
        namespace: Some(NAMESPACE.to_owned()),
        api_group: None,
    }
}

fn global(name: &str) -> ObjectMeta {
    let managed_by = (label::MANAGED_BY.to_owned(), MANAGED_BY_CAPT.to_owned());
    ObjectMeta { name: Some(name.to_owned()), labels: Some([managed_by].into()), ..ObjectMeta::default() }
}

fn local(name: &str) -> ObjectMeta {
    ObjectMeta { namespace: Some(NAMESPACE.to_owned()), ..global(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_may_edit_may_not_write_what_capt_keeps() {
        let resources =
            |rules: Vec<PolicyRule>| rules.into_iter().filter_map(|rule| rule.resources).flatten();
        let kept = |rules| resources(rules).any(|resource| resource == KEPT_BY_CAPT);

        assert!(kept(viewer_rules()));
        assert!(!kept(editor_rules()));
    }
}
