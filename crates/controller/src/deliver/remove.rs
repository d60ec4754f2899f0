//! Takes objects away that carry our claim, last first.
//!
//! While an object is still on its way out, what was brought before it stays: what lets go of it may be among that.

use std::collections::HashSet;

use capt_api::names::Reason;
use capt_core::manifest::ObjectKey;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{DeleteParams, Preconditions};
use serde::Deserialize;

use super::look::{claim_of, locate, metadata, unless_absent};
use super::object::{Location, check, identity, is_definition, is_namespace};
use super::trouble::{Subject, Trouble};
use crate::error::Retry;
use crate::workload::{Failure, Talk};

/// How often an object is read again that changes while we look at it.
const ATTEMPTS: usize = 3;

/// What became of objects that were to be taken away.
#[derive(Debug, Default)]
pub(crate) struct Removed {
    /// What is gone, now or since before.
    pub(crate) gone: Vec<ObjectKey>,
    /// What is still on its way out, and what holds it.
    pub(crate) leaving: Vec<(ObjectKey, String)>,
    /// What waits until the others are gone.
    pub(crate) waiting: Vec<ObjectKey>,
    /// What is not ours and stays, and whose it is.
    pub(crate) left_alone: Vec<(ObjectKey, String)>,
    /// What could not be deleted.
    pub(crate) failed: Vec<(ObjectKey, Trouble)>,
    /// What kept the rest from being tried at all.
    pub(crate) stopped: Option<Trouble>,
}

impl Removed {
    /// What is still ours and still there, or may be: it has to stay in the inventory.
    pub(crate) fn remaining(&self) -> Vec<ObjectKey> {
        let leaving = self.leaving.iter().map(|(key, _)| key);
        let failed = self.failed.iter().map(|(key, _)| key);
        leaving.chain(&self.waiting).chain(failed).cloned().collect()
    }

    /// Why it is not done; `None` where nothing of ours is left.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        let failed = self.failed.iter().map(|(_, trouble)| trouble).chain(&self.stopped);
        let held = self.leaving.iter().map(|(key, held)| {
            Trouble::new(Reason::Removing, format!("{key} is being deleted{held}"), Retry::Backoff)
        });
        let held: Vec<_> = held.collect();
        Trouble::sum(failed.chain(&held))
    }
}

/// What became of one object.
enum End {
    Gone,
    Leaving(String),
    LeftAlone(String),
}

/// Takes away what carries our claim: what was brought last first, definitions and namespaces last of all.
pub(crate) async fn remove(talk: &Talk<'_>, keys: &[ObjectKey], claim: &str) -> Removed {
    let mut removed = Removed::default();
    for key in last_first(keys) {
        if removed.stopped.is_some() || !removed.leaving.is_empty() {
            removed.waiting.push(key.clone());
            continue;
        }
        match remove_one(talk, key, claim).await {
            Ok(End::Gone) => removed.gone.push(key.clone()),
            Ok(End::Leaving(held)) => removed.leaving.push((key.clone(), held)),
            Ok(End::LeftAlone(whose)) => removed.left_alone.push((key.clone(), whose)),
            Err(failure) if failure.is_unreachable() => {
                removed.stopped = Some(Trouble::of(&failure));
                removed.waiting.push(key.clone());
            }
            Err(failure) => {
                let trouble = Subject { key, place: None }.not_deleted(&failure);
                removed.failed.push((key.clone(), trouble));
            }
        }
    }
    removed
}

/// Takes away what was there and is no longer to be. Kinds are compared whatever their version, and namespaces as the cluster
/// has them: an object that only reads differently is the same.
pub(crate) async fn prune(talk: &Talk<'_>, old: &[ObjectKey], new: &[ObjectKey], claim: &str) -> Removed {
    match stale(talk, old, new).await {
        Ok(stale) => remove(talk, &stale, claim).await,
        Err(failure) => Removed {
            waiting: unwanted(old, new),
            stopped: Some(Trouble::of(&failure)),
            ..Removed::default()
        },
    }
}

async fn stale(talk: &Talk<'_>, old: &[ObjectKey], new: &[ObjectKey]) -> Result<Vec<ObjectKey>, Failure> {
    let stale = unwanted(old, new);
    if stale.is_empty() {
        return Ok(stale);
    }
    Ok(unwanted(&as_in_cluster(talk, &stale).await?, &as_in_cluster(talk, new).await?))
}

/// The first list without what is in the second.
fn unwanted(old: &[ObjectKey], new: &[ObjectKey]) -> Vec<ObjectKey> {
    let wanted: HashSet<_> = new.iter().map(identity).collect();
    old.iter().filter(|key| !wanted.contains(&identity(key))).cloned().collect()
}

/// The same keys, in the namespaces that the cluster has them in.
async fn as_in_cluster(talk: &Talk<'_>, keys: &[ObjectKey]) -> Result<Vec<ObjectKey>, Failure> {
    let mut located = Vec::with_capacity(keys.len());
    for key in keys {
        located.push(locate(talk, key).await?.map_or_else(|| key.clone(), |location| location.key));
    }
    Ok(located)
}

fn last_first(keys: &[ObjectKey]) -> impl Iterator<Item = &ObjectKey> {
    let others = keys.iter().rev().filter(|key| !is_definition(key) && !is_namespace(key));
    let definitions = keys.iter().rev().filter(|key| is_definition(key));
    others.chain(definitions).chain(keys.iter().rev().filter(|key| is_namespace(key)))
}

async fn remove_one(talk: &Talk<'_>, key: &ObjectKey, claim: &str) -> Result<End, Failure> {
    // What has no usable name was never brought.
    if check(key).is_err() {
        return Ok(End::Gone);
    }
    // An object goes with its kind.
    let Some(location) = locate(talk, key).await? else { return Ok(End::Gone) };
    let mut left = ATTEMPTS;
    loop {
        let Some(live) = metadata(talk, &location).await? else { return Ok(End::Gone) };
        match claim_of(&live) {
            Some(ours) if ours == claim => {}
            Some(other) => return Ok(End::LeftAlone(format!("belongs to add-on `{other}`"))),
            None => return Ok(End::LeftAlone("does not carry CAPT's annotation any more".to_owned())),
        }
        if live.deletion_timestamp.is_some() {
            return Ok(End::Leaving(held(&live)));
        }
        left -= 1;
        match unless_absent(delete(talk, &location, &live).await) {
            Err(Failure::Refused(status)) if status.code == 409 && left > 0 => {}
            ended => return Ok(ended?.unwrap_or(End::Gone)),
        }
    }
}

/// The answer to a deletion: the object while it is still there, otherwise something else.
#[derive(Deserialize)]
struct Deletion {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    metadata: serde_json::Value,
}

async fn delete(talk: &Talk<'_>, location: &Location, live: &ObjectMeta) -> Result<End, Failure> {
    let preconditions =
        Preconditions { uid: live.uid.clone(), resource_version: live.resource_version.clone() };
    let parameters = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::background() };
    let answer = talk.send(location.request().delete(&location.key.name, &parameters)).await?;
    let deletion: Deletion = answer.read()?;
    let metadata: ObjectMeta = serde_json::from_value(deletion.metadata).unwrap_or_default();
    Ok(if deletion.kind != "Status" && metadata.deletion_timestamp.is_some() {
        End::Leaving(held(&metadata))
    } else {
        End::Gone
    })
}

/// What keeps an object that is being deleted.
fn held(metadata: &ObjectMeta) -> String {
    match metadata.finalizers.as_deref() {
        None | Some([]) => String::new(),
        Some(finalizers) => format!(" and held by {}", finalizers.join(", ")),
    }
}
