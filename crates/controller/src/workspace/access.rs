//! Takes back the access to states that an earlier version of CAPT gave to Terraform: an account in CAPT's namespace, and a Role
//! with its binding in each namespace that has states.
//!
//! Terraform works on a file now and needs no access. What is there stays until the last state of the namespace is gone: a
//! process that the earlier version began may still use it.

#[cfg(test)]
mod tests;

use std::fmt::Debug;

use capt_api::names::label;
use capt_core::tie;
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use k8s_openapi::api::rbac::v1::{PolicyRule, Role, RoleBinding};
use kube::api::ListParams;
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;

use super::place::kept;
use crate::error::Error;
use crate::rbac::rule;

/// The name of the Role and its binding.
const NAME: &str = "capt-terraform";

/// The permissions that this needs.
pub(super) fn rules() -> Vec<PolicyRule> {
    vec![
        rule("", &["secrets"], &["list"]),
        rule("rbac.authorization.k8s.io", &["roles", "rolebindings"], &["get", "patch", "delete"]),
    ]
}

/// What this needs in CAPT's own namespace.
pub(super) fn own_namespace_rules() -> Vec<PolicyRule> {
    vec![rule("", &["serviceaccounts"], &["get", "patch", "delete"])]
}

/// Takes the access back, unless there is still a state or a record in the namespace.
pub(super) async fn give_up(client: &Client, home_namespace: &str, namespace: &str) -> Result<(), Error> {
    let doing = format!("looking for states in namespace `{namespace}`");
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let (state, record) = (kept::Role::State.as_str(), kept::Role::Record.as_str());
    let selector = format!("{} in ({state},{record})", label::ROLE);
    let parameters = ListParams::default().labels(&selector).limit(1);
    if !secrets.list_metadata(&parameters).await.map_err(Error::api(doing))?.items.is_empty() {
        return Ok(());
    }
    let doing = format!("taking back Terraform's access to namespace `{namespace}`");
    remove(&Api::<RoleBinding>::namespaced(client.clone(), namespace), NAME, &doing).await?;
    remove(&Api::<Role>::namespaced(client.clone(), namespace), NAME, &doing).await?;
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), home_namespace);
    remove(&accounts, &account_name(namespace), &doing).await
}

fn account_name(namespace: &str) -> String {
    format!("{NAME}-{}", tie::label_value(namespace))
}

/// Removes an object of ours.
async fn remove<K>(api: &Api<K>, name: &str, doing: &str) -> Result<(), Error>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    let found = api.get_metadata_opt(name).await.map_err(Error::api(doing))?;
    match found.filter(|found| kept::is_ours(&found.metadata)) {
        Some(found) => kept::remove(api, &found.metadata, doing).await,
        None => Ok(()),
    }
}
