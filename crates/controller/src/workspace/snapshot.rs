//! Copies of a state from before it was changed.
//!
//! They carry none of Terraform's labels, since Terraform finds its states by these.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use capt_api::names::annotation;
use capt_core::digest::short_digest;
use capt_core::workspace::observed::State;
use capt_terraform::{Secret as Hidden, StateVersion};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::Timestamp;
use kube::api::{ListParams, PostParams};
use kube::{Api, Client};
use tracing::{info, warn};

use super::place::Place;
use super::place::kept::{self, Role, aside};
use super::state::store::pack;
use super::state::{FULL, Found};
use crate::error::Error;

/// So many copies are kept.
const KEPT: usize = 3;
/// The key of the copy: that of the state, so that a copy can be put back as it is.
const KEY: &str = "tfstate";

/// Which version of a state a copy is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) serial: u64,
    pub(super) lineage: String,
}

/// Copies of the same version of a state: one for each of its Secrets.
pub(super) struct Snapshot {
    pub(super) version: Version,
    pub(super) taken_at: Timestamp,
    parts: Vec<ObjectMeta>,
}

/// Copies a state, unless the newest copy is of the same version, and keeps the newest copies only, and the one that is spared.
pub(super) async fn take(
    client: &Client,
    place: &Place,
    found: &Found,
    spared: Option<&Version>,
) -> Result<(), Error> {
    if found.state != (State::Present { empty: false }) {
        return Ok(());
    }
    let (Some(serial), Some(lineage)) = (found.serial, found.lineage.clone()) else {
        warn!(workspace = place.workspace, "the state cannot be read and is not copied");
        return Ok(());
    };
    let version = Version { serial, lineage };
    let api = secrets(client, place);
    let mut snapshots = list(&api, place).await?;
    let name = name(place, &version);
    let is_whole = |parts: &[ObjectMeta]| parts.iter().any(|part| part.name.as_deref() == Some(&name));
    if snapshots.first().is_some_and(|newest| newest.version == version && is_whole(&newest.parts)) {
        return Ok(());
    }
    // The first part comes last: with it the copy is whole.
    for (index, part) in found.parts.iter().enumerate().rev() {
        let Some(content) = &part.content else { continue };
        let name = part_name(&name, index);
        if !copy(&api, place, &name, &version, content, &snapshots).await? {
            info!(
                workspace = place.workspace,
                "the state is not copied, since its namespace is being deleted"
            );
            return Ok(());
        }
    }
    snapshots.retain(|snapshot| snapshot.version != version);
    let leaving = snapshots.iter().skip(KEPT - 1).filter(|snapshot| Some(&snapshot.version) != spared);
    for part in leaving.flat_map(|snapshot| &snapshot.parts) {
        kept::remove(&api, part, &doing("removing an old", place)).await?;
    }
    Ok(())
}

/// Keeps a version that is no longer the one in the state's own Secrets.
pub(super) async fn keep(client: &Client, place: &Place, version: &StateVersion) -> Result<(), Error> {
    let text = version.text.clone();
    let packed = aside(move || pack(text.expose())).await?;
    let digest = short_digest([version.digest.as_str()], 6);
    let version = Version { serial: version.serial, lineage: version.lineage.clone() };
    // Another version of this serial may be kept already.
    let (api, name) = (secrets(client, place), format!("{}-{digest}", name(place, &version)));
    let known = list(&api, place).await?;
    for (index, piece) in packed.chunks(FULL).enumerate().rev() {
        let content = Hidden::new(piece);
        if !copy(&api, place, &part_name(&name, index), &version, &content, &known).await? {
            return Err(Error::Unreadable {
                what: format!("serial {} of the state of Workspace `{}`", version.serial, place.workspace),
                why: "it cannot be kept as a snapshot, since its namespace is being deleted".to_owned(),
            });
        }
    }
    Ok(())
}

/// The copies that there are, the newest first.
pub(super) async fn all(client: &Client, place: &Place) -> Result<Vec<Snapshot>, Error> {
    list(&secrets(client, place), place).await
}

/// What is in a copy, as it is stored; nothing when it is not whole.
pub(super) async fn read(
    client: &Client,
    place: &Place,
    snapshot: &Snapshot,
) -> Result<Option<Hidden>, Error> {
    let (api, first) = (secrets(client, place), name(place, &snapshot.version));
    let mut content = Vec::new();
    for index in 0..snapshot.parts.len() {
        let name = part_name(&first, index);
        let found = api.get_opt(&name).await.map_err(Error::api(doing("reading a", place)))?;
        let data = found.filter(|found| place.made(&found.metadata)).and_then(|found| found.data);
        let Some(part) = data.and_then(|mut data| data.remove(KEY)) else { return Ok(None) };
        content.extend(part.0);
    }
    Ok(Some(Hidden::new(content)))
}

/// Removes all copies.
pub(super) async fn remove(client: &Client, place: &Place) -> Result<(), Error> {
    let api = secrets(client, place);
    for part in list(&api, place).await?.iter().flat_map(|snapshot| &snapshot.parts) {
        kept::remove(&api, part, &doing("removing a", place)).await?;
    }
    Ok(())
}

fn secrets(client: &Client, place: &Place) -> Api<Secret> {
    Api::namespaced(client.clone(), &place.namespace)
}

fn doing(verb: &str, place: &Place) -> String {
    format!("{verb} copy of the state of Workspace `{}`", place.workspace)
}

/// A state that was begun anew counts from the beginning again: its copies have names of their own.
fn name(place: &Place, version: &Version) -> String {
    let lineage = short_digest([version.lineage.as_str()], 6);
    format!("capt-snapshot-{}-{}-{lineage}", place.short_name(), version.serial)
}

/// The name of one of the Secrets of a copy.
fn part_name(first: &str, index: usize) -> String {
    if index == 0 { first.to_owned() } else { format!("{first}-part-{index}") }
}

/// Writes one copy; `false` when the namespace takes nothing new.
async fn copy(
    api: &Api<Secret>,
    place: &Place,
    name: &str,
    version: &Version,
    content: &Hidden,
    known: &[Snapshot],
) -> Result<bool, Error> {
    let mut metadata = place.metadata(Role::Snapshot, name);
    metadata.annotations.get_or_insert_default().extend([
        (annotation::STATE_SERIAL.to_owned(), version.serial.to_string()),
        (annotation::STATE_LINEAGE.to_owned(), version.lineage.clone()),
        (annotation::TAKEN_AT.to_owned(), Timestamp::now().to_string()),
    ]);
    let secret = Secret {
        metadata,
        immutable: Some(true),
        data: Some([(KEY.to_owned(), ByteString(content.expose().to_vec()))].into()),
        ..Secret::default()
    };
    let doing = doing("writing a", place);
    match api.create(&PostParams::default(), &secret).await {
        Ok(_) => Ok(true),
        Err(error) if kept::is_ending(&error) => Ok(false),
        // Written by one who was stopped, or of a version that the state has gone back to.
        Err(kube::Error::Api(status)) if status.reason == "AlreadyExists" => {
            let mut known = known.iter().flat_map(|snapshot| &snapshot.parts);
            if known.any(|part| part.name.as_deref() == Some(name)) {
                Ok(true)
            } else {
                Err(kept::not_ours::<Secret>(&doing, &place.namespace, name))
            }
        }
        Err(error) => Err(Error::api(doing)(error)),
    }
}

/// The copies that there are, the newest first.
async fn list(api: &Api<Secret>, place: &Place) -> Result<Vec<Snapshot>, Error> {
    let parameters = ListParams::default().labels(&place.selector(Role::Snapshot));
    let found = api.list_metadata(&parameters).await.map_err(Error::api(doing("listing each", place)))?;
    let parts = found.items.into_iter().map(|item| item.metadata).filter(|part| place.made(part));
    Ok(grouped(parts))
}

fn grouped(parts: impl Iterator<Item = ObjectMeta>) -> Vec<Snapshot> {
    let mut snapshots: Vec<Snapshot> = Vec::new();
    for part in parts {
        let noted = |key: &str| part.annotations.as_ref().and_then(|annotations| annotations.get(key));
        // One whose notes were lost is nobody's copy: it counts as the oldest and leaves first.
        let serial =
            noted(annotation::STATE_SERIAL).and_then(|serial| serial.parse().ok()).unwrap_or_default();
        let lineage = noted(annotation::STATE_LINEAGE).cloned().unwrap_or_default();
        let taken_at =
            noted(annotation::TAKEN_AT).and_then(|at| at.parse().ok()).unwrap_or(Timestamp::UNIX_EPOCH);
        let version = Version { serial, lineage };
        match snapshots.iter_mut().find(|snapshot| snapshot.version == version) {
            Some(snapshot) => {
                snapshot.taken_at = snapshot.taken_at.max(taken_at);
                snapshot.parts.push(part);
            }
            None => snapshots.push(Snapshot { version, taken_at, parts: vec![part] }),
        }
    }
    snapshots.sort_by_key(|snapshot| Reverse((snapshot.taken_at, snapshot.version.serial)));
    snapshots
}
