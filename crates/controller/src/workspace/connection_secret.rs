//! The Secret that outputs are published in.

mod data;
#[cfg(test)]
mod tests;

use capt_api::Workspace;
use capt_api::crossplane::SecretReference;
use capt_api::names::{CONNECTION_SECRET_TYPE, FIELD_MANAGER, Reason};
use capt_core::apply::Blocked;
use capt_core::name::{is_namespace_name, is_object_name};
use capt_core::workspace::observed::Connection;
use capt_terraform::Outputs;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::api::PostParams;
use kube::{Api, Client, Resource, ResourceExt};
use serde_json::{Map, Value, json};

use self::data::{Data, digest};
use super::place::Place;
use super::place::kept::{self, Role, lacking};
use crate::error::Error;

/// What a Secret holds at most.
const LARGEST: usize = 1 << 20;

/// What was published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Published {
    /// Tells whether somebody has changed it since. Not to be shown: short values can be guessed from it.
    pub(super) digest: String,
    /// Outputs whose names cannot be keys of a Secret.
    pub(super) skipped: Vec<String>,
}

/// Whether the outputs are where they should be, and what their Secret lacks beside them.
#[derive(Debug)]
pub(super) struct Looked {
    pub(super) connection: Connection,
    /// Labels and owners, where the outputs themselves are as they were published.
    pub(super) lacks: Option<Value>,
}

impl From<Connection> for Looked {
    fn from(connection: Connection) -> Self {
        Self { connection, lacks: None }
    }
}

/// Whether the outputs are where they should be, and as they were published.
pub(super) async fn look(
    client: &Client,
    place: &Place,
    target: Option<&SecretReference>,
    published: Option<&str>,
) -> Result<Looked, Error> {
    let Some(target) = target else { return Ok(Connection::NotWanted.into()) };
    if let Err(blocked) = check(target) {
        return Ok(Connection::Refused(blocked).into());
    }
    let Some(secret) = get(client, target).await? else { return Ok(Connection::Incomplete.into()) };
    if let Err(blocked) = may_write(&secret, place, target) {
        return Ok(Connection::Refused(blocked).into());
    }
    let lacks = lacking(&secret.metadata, &wanted(place, target));
    Ok(if published == Some(&digest(&secret.data.unwrap_or_default())) {
        Looked { connection: Connection::Complete, lacks }
    } else {
        Connection::Incomplete.into()
    })
}

/// Gives the Secret what it lacks beside the outputs; no run of Terraform is needed for that.
pub(super) async fn own(client: &Client, target: &SecretReference, lacks: &Value) -> Result<(), Error> {
    let patch = json!({ "metadata": lacks });
    kept::merge(&secrets(client, target), &target.name, &patch, &doing("owning", target)).await.map(drop)
}

/// Publishes the outputs, and takes away what is no output any more. The Secret is there even if there are no outputs.
pub(super) async fn write(
    client: &Client,
    place: &Place,
    target: &SecretReference,
    outputs: &Outputs,
) -> Result<Result<Published, Blocked>, Error> {
    if let Err(blocked) = check(target) {
        return Ok(Err(blocked));
    }
    let (data, skipped) = data::of(outputs);
    let bytes: usize = data.values().map(|value| value.0.len()).sum();
    if bytes > LARGEST {
        let message = format!(
            "the outputs have {bytes} bytes together, but {} holds {LARGEST} at most: take large outputs out of the module",
            title(target)
        );
        return Ok(Err(Blocked::new(Reason::OutputsRefused, message)));
    }
    let digest = digest(&data);
    let blocked = match get(client, target).await? {
        None => create(client, place, target, data).await?,
        Some(secret) => update(client, place, target, secret, data).await?,
    };
    Ok(match blocked {
        Some(blocked) => Err(blocked),
        None => Ok(Published { digest, skipped }),
    })
}

/// Removes the Secret, if it is ours.
pub(super) async fn remove(client: &Client, place: &Place, target: &SecretReference) -> Result<(), Error> {
    if check(target).is_err() {
        return Ok(());
    }
    let is_ours = |secret: &Secret| {
        may_write(secret, place, target).is_ok() && kept::names(&secret.metadata) == Some(&place.kept_as)
    };
    match get(client, target).await?.filter(is_ours) {
        Some(secret) => {
            kept::remove(&secrets(client, target), &secret.metadata, &doing("removing", target)).await
        }
        None => Ok(()),
    }
}

fn secrets(client: &Client, target: &SecretReference) -> Api<Secret> {
    Api::namespaced(client.clone(), &target.namespace)
}

fn title(target: &SecretReference) -> String {
    format!("Secret `{}/{}`", target.namespace, target.name)
}

fn doing(verb: &str, target: &SecretReference) -> String {
    format!("{verb} {}", title(target))
}

async fn get(client: &Client, target: &SecretReference) -> Result<Option<Secret>, Error> {
    secrets(client, target).get_opt(&target.name).await.map_err(Error::api(doing("reading", target)))
}

/// Names become parts of URLs.
fn check(target: &SecretReference) -> Result<(), Blocked> {
    if is_object_name(&target.name) && is_namespace_name(&target.namespace) {
        return Ok(());
    }
    let message = format!(
        "{} in writeConnectionSecretToRef cannot exist: names have lower case letters, digits, `-` and `.` only",
        title(target)
    );
    Err(Blocked::new(Reason::OutputsRefused, message))
}

/// Whether we may write to this Secret: nobody else controls it, and it is meant for outputs. A uid that changed (restore,
/// move) does not matter.
fn may_write(secret: &Secret, place: &Place, target: &SecretReference) -> Result<(), Blocked> {
    let refuse = |why: String| {
        let message = format!(
            "{} is needed for the outputs, but {why}: delete it, or name another one in writeConnectionSecretToRef",
            title(target)
        );
        Err(Blocked::new(Reason::SecretNotOwned, message))
    };
    if secret.type_.as_deref() != Some(CONNECTION_SECRET_TYPE) {
        let type_ = secret.type_.as_deref().unwrap_or_default();
        return refuse(format!("has the type `{type_}` instead of `{CONNECTION_SECRET_TYPE}`"));
    }
    let apply = place.apply.as_ref().filter(|apply| apply.key.namespace == target.namespace);
    let is_ours = |owner: &OwnerReference| {
        kept::is_workspace(owner) && [&place.workspace, &place.kept_as].contains(&&owner.name)
            || kept::is_apply(owner) && apply.is_some_and(|apply| apply.key.name == owner.name)
    };
    let controller = secret.owner_references().iter().find(|owner| owner.controller == Some(true));
    match (controller, kept::names(&secret.metadata)) {
        (Some(owner), _) if is_ours(owner) => Ok(()),
        (Some(owner), _) => refuse(format!("belongs to {} `{}`", owner.kind, owner.name)),
        (None, Some(name)) if name != place.kept_as => refuse(format!("belongs to Workspace `{name}`")),
        (None, _) => Ok(()),
    }
}

/// The apply owns the Secret, and nobody else: `clusterctl move` leaves behind what has an owner that it does not move, and it
/// never moves Workspaces. It does not control it, so that Crossplane can take the Secret over. Where there is no apply, or not
/// in this namespace, the Workspace controls the Secret, as with Crossplane.
fn wanted(place: &Place, target: &SecretReference) -> ObjectMeta {
    let workspace = || OwnerReference {
        api_version: Workspace::api_version(&()).into_owned(),
        kind: Workspace::kind(&()).into_owned(),
        name: place.workspace.clone(),
        uid: place.workspace_uid.clone(),
        controller: Some(true),
        block_owner_deletion: Some(false),
    };
    let owner = place.owner(&target.namespace).unwrap_or_else(workspace);
    ObjectMeta { owner_references: Some(vec![owner]), ..place.metadata(Role::Connection, &target.name) }
}

async fn create(
    client: &Client,
    place: &Place,
    target: &SecretReference,
    data: Data,
) -> Result<Option<Blocked>, Error> {
    let secret = Secret {
        metadata: wanted(place, target),
        type_: Some(CONNECTION_SECRET_TYPE.to_owned()),
        data: Some(data),
        ..Secret::default()
    };
    let parameters = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
    let refuse = |what: &str| {
        let message = format!(
            "namespace `{}` {what}, so {} cannot be written: create the namespace, or name another one in writeConnectionSecretToRef",
            target.namespace,
            title(target)
        );
        Ok(Some(Blocked::new(Reason::OutputsRefused, message)))
    };
    match secrets(client, target).create(&parameters, &secret).await {
        Ok(_) => Ok(None),
        Err(error) if kept::is_ending(&error) => refuse("is being deleted"),
        Err(kube::Error::Api(status)) if status.code == 404 => refuse("does not exist"),
        Err(error) => Err(Error::api(doing("writing", target))(error)),
    }
}

/// Everything in one write to exactly the version that was seen: two writes would show a mixture, and an apply would leave
/// what another field manager (Crossplane) had written.
async fn update(
    client: &Client,
    place: &Place,
    target: &SecretReference,
    secret: Secret,
    data: Data,
) -> Result<Option<Blocked>, Error> {
    if let Err(blocked) = may_write(&secret, place, target) {
        return Ok(Some(blocked));
    }
    let metadata = lacking(&secret.metadata, &wanted(place, target));
    let found = secret.data.unwrap_or_default();
    if metadata.is_none() && found == data {
        return Ok(None);
    }
    let gone = found.keys().filter(|key| !data.contains_key(*key)).map(|key| (key.clone(), Value::Null));
    let new = data.iter().filter(|(key, value)| found.get(*key) != Some(value));
    let changes: Map<String, Value> =
        gone.chain(new.map(|(key, value)| (key.clone(), json!(value)))).collect();
    let mut patch = json!({ "metadata": metadata.unwrap_or_else(|| json!({})), "data": changes });
    patch["metadata"]["resourceVersion"] = json!(secret.metadata.resource_version);
    kept::merge(&secrets(client, target), &target.name, &patch, &doing("writing", target)).await?;
    Ok(None)
}
