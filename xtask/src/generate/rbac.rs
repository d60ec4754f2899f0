//! `config/rbac`: what the manager may do, as its controllers declare it.

use std::path::Path;

use capt_api::names::{MANAGED_BY_CAPT, label};
use capt_controller::rbac::{own_namespace_rules, rules};
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding, RoleRef, Subject};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::{Files, document};
use crate::repository::CONFIG;

const NAMESPACE: &str = "capt-system";
const MANAGER: &str = "capt-manager";

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
    Ok(())
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
