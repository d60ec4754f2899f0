//! A kubeconfig for Terraform that reaches the Secrets and Leases of one namespace.
//!
//! The account lives in CAPT's namespace: the tokens of one in a namespace that is being deleted die with it. What it may do
//! is held by our finalizer until the last state of the namespace is gone.

mod kubeconfig;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

use capt_api::names::{MANAGED_BY_CAPT, finalizer, label};
use capt_core::tie;
use capt_terraform::Secret as Hidden;
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use k8s_openapi::api::rbac::v1::{PolicyRule, Role, RoleBinding, RoleRef, Subject};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::api::{ListParams, PostParams};
use kube::{Api, Client, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::place::kept;
use crate::error::Error;
use crate::options::TerraformOptions;
use crate::rbac::rule;
use crate::write;

/// The name of the Role and its binding.
const NAME: &str = "capt-terraform";
/// How long a token is to live, in seconds. The API server may grant less.
const LIFE: i64 = 86_400;

/// The permissions that this needs: nobody can give away what he does not have.
pub(super) fn rules() -> Vec<PolicyRule> {
    let objects = &["get", "create", "patch", "delete"];
    let mut rules = granted();
    rules.extend([
        rule("", &["secrets"], &["list"]),
        rule("rbac.authorization.k8s.io", &["roles", "rolebindings"], objects),
    ]);
    rules
}

/// What this needs in CAPT's own namespace. Whoever may ask for tokens of any account may do anything, so nowhere else.
pub(super) fn own_namespace_rules() -> Vec<PolicyRule> {
    vec![
        rule("", &["serviceaccounts"], &["get", "create", "patch", "delete"]),
        rule("", &["serviceaccounts/token"], &["create"]),
    ]
}

/// What the kubernetes backends of Terraform and OpenTofu call.
fn granted() -> Vec<PolicyRule> {
    vec![
        rule("", &["secrets"], &["get", "list", "create", "update", "delete"]),
        rule("coordination.k8s.io", &["leases"], &["get", "create", "update", "delete"]),
    ]
}

/// Gives Terraform access, namespace by namespace.
#[derive(Default)]
pub(crate) struct Access(Mutex<HashMap<String, Token>>);

/// A token and how long it is good for.
#[derive(Clone)]
struct Token {
    /// The uid of the account: a token dies with it.
    account: Option<String>,
    text: Hidden,
    /// By our own clock, which goes on while a laptop sleeps.
    renewed_at: Timestamp,
}

impl Access {
    /// A kubeconfig that reaches the Secrets and Leases of a namespace and nothing else.
    pub(super) async fn kubeconfig(
        &self,
        client: &Client,
        options: &TerraformOptions,
        namespace: &str,
    ) -> Result<Hidden, Error> {
        let account = permit(client, &options.home_namespace, namespace).await?;
        let uid = account.uid();
        let is_good = |token: &Token| token.account == uid && Timestamp::now() < token.renewed_at;
        let known = self.tokens().get(namespace).filter(|token| is_good(token)).cloned();
        let token = match known {
            Some(token) => token,
            None => request(client, &account).await?,
        };
        let kubeconfig = kubeconfig::text(&options.server, namespace, &token.text);
        self.tokens().insert(namespace.to_owned(), token);
        Ok(kubeconfig)
    }

    /// Takes the access back, unless there is still a state or a record in the namespace.
    pub(super) async fn give_up(
        &self,
        client: &Client,
        options: &TerraformOptions,
        namespace: &str,
    ) -> Result<(), Error> {
        let doing = format!("looking for states in namespace `{namespace}`");
        let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
        let (state, record) = (kept::Role::State.as_str(), kept::Role::Record.as_str());
        let selector = format!("{} in ({state},{record})", label::ROLE);
        let parameters = ListParams::default().labels(&selector).limit(1);
        if !secrets.list_metadata(&parameters).await.map_err(Error::api(doing))?.items.is_empty() {
            return Ok(());
        }
        let doing = format!("taking back Terraform's access to namespace `{namespace}`");
        let account = account_name(namespace);
        remove(&Api::<RoleBinding>::namespaced(client.clone(), namespace), NAME, &doing).await?;
        remove(&Api::<Role>::namespaced(client.clone(), namespace), NAME, &doing).await?;
        let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), &options.home_namespace);
        remove(&accounts, &account, &doing).await?;
        self.tokens().remove(namespace);
        Ok(())
    }

    fn tokens(&self) -> std::sync::MutexGuard<'_, HashMap<String, Token>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn account_name(namespace: &str) -> String {
    format!("{NAME}-{}", tie::label_value(namespace))
}

/// Makes sure that the account is there and may do what it has to.
async fn permit(client: &Client, home: &str, namespace: &str) -> Result<ServiceAccount, Error> {
    let name = account_name(namespace);
    let doing = |what: &str| {
        format!("making {what}, without which Terraform does not reach the states in namespace `{namespace}`")
    };
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), home);
    let wanted = ServiceAccount {
        metadata: metadata(&name, None),
        automount_service_account_token: Some(false),
        ..ServiceAccount::default()
    };
    let fits = |found: &ServiceAccount| found.automount_service_account_token == Some(false);
    let account =
        ensure(&accounts, &wanted, fits, &doing(&format!("ServiceAccount `{home}/{name}`"))).await?;

    let role = Role { metadata: metadata(NAME, Some(finalizer::STATE)), rules: Some(granted()) };
    let fits = |found: &Role| found.rules == role.rules;
    let roles: Api<Role> = Api::namespaced(client.clone(), namespace);
    ensure(&roles, &role, fits, &doing(&format!("Role `{namespace}/{NAME}`"))).await?;

    let binding = RoleBinding {
        metadata: metadata(NAME, Some(finalizer::STATE)),
        role_ref: RoleRef {
            api_group: Role::group(&()).into_owned(),
            kind: Role::kind(&()).into_owned(),
            name: NAME.to_owned(),
        },
        subjects: Some(vec![Subject {
            kind: ServiceAccount::kind(&()).into_owned(),
            name,
            namespace: Some(home.to_owned()),
            ..Subject::default()
        }]),
    };
    let fits = |found: &RoleBinding| found.subjects == binding.subjects && found.role_ref == binding.role_ref;
    let bindings: Api<RoleBinding> = Api::namespaced(client.clone(), namespace);
    ensure(&bindings, &binding, fits, &doing(&format!("RoleBinding `{namespace}/{NAME}`"))).await?;
    Ok(account)
}

fn metadata(name: &str, finalizer: Option<&str>) -> ObjectMeta {
    let labels = [(label::MANAGED_BY, MANAGED_BY_CAPT), (label::ROLE, kept::Role::Access.as_str())];
    ObjectMeta {
        name: Some(name.to_owned()),
        labels: Some(labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into()),
        finalizers: finalizer.map(|finalizer| vec![finalizer.to_owned()]),
        ..ObjectMeta::default()
    }
}

/// Writes an object unless it is as it should be.
async fn ensure<K>(api: &Api<K>, wanted: &K, fits: impl Fn(&K) -> bool, doing: &str) -> Result<K, Error>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Serialize + Debug,
{
    let name = wanted.name_any();
    let found = api.get_opt(&name).await.map_err(Error::api(doing))?;
    match found {
        Some(found) if fits(&found) && kept::lacking(found.meta(), wanted.meta()).is_none() => Ok(found),
        Some(_) | None => write::apply(api, &name, &json!(wanted), doing).await,
    }
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

async fn request(client: &Client, account: &ServiceAccount) -> Result<Token, Error> {
    let (name, namespace) = (account.name_any(), account.namespace().unwrap_or_default());
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), &namespace);
    let wish = TokenRequest {
        spec: TokenRequestSpec { expiration_seconds: Some(LIFE), ..TokenRequestSpec::default() },
        ..TokenRequest::default()
    };
    let asked_at = Timestamp::now();
    let granted = accounts
        .create_token_request(&name, &PostParams::default(), &wish)
        .await
        .map_err(Error::api(format!("requesting a token of ServiceAccount `{namespace}/{name}`")))?;
    let life = granted.spec.expiration_seconds.unwrap_or(LIFE);
    Ok(Token {
        account: account.uid(),
        text: Hidden::new(granted.status.map(|status| status.token).unwrap_or_default()),
        renewed_at: asked_at.saturating_add(SignedDuration::from_secs(life / 2)).unwrap_or(asked_at),
    })
}
