//! What is kept of a Workspace in the hands of a person: its state read, locked, copied, written and put back; its plans and
//! the logs of its runs read.
//!
//! The lock is the one that Terraform takes, so that no run works on the state meanwhile. The copy is the one that the engine
//! makes before an apply.

mod candidates;
mod lock;
mod papers;
mod snapshots;
#[cfg(test)]
mod tests;

use capt_api::names::{STATE_SUFFIX, annotation};
use capt_api::{Workspace, WorkspaceTemplateApply};
use capt_core::tie::ApplyKey;
use capt_core::workspace::observed::State;
use capt_terraform::Secret as Hidden;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client, ResourceExt};
use serde_json::json;

use super::place::kept::{self, aside};
use super::place::{Owner, Place};
use super::state::store::{pack, unpack};
use super::{snapshot, state};
use crate::error::Error;

pub use super::plan_text::Shown;
pub use super::preview::Answer;
pub use lock::{Attempt, Holder, Lock, LockHolder, Purpose};
pub use snapshots::Snapshot;

/// The state of a Workspace, and all else that is kept of it.
pub struct StateOf {
    client: Client,
    place: Place,
}

/// A state as it was found.
pub enum Seen {
    /// There is none in a Secret of CAPT's.
    Absent,
    /// The Secret belongs to another Workspace.
    NotOurs {
        /// Its name.
        workspace: String,
    },
    /// It is spread over so many Secrets, which cannot be written as one.
    InParts(usize),
    /// It cannot be unpacked.
    Unreadable,
    /// It is there.
    Whole(Content),
}

/// What is in a state, at one moment.
pub struct Content {
    text: Hidden,
    found: state::Found,
}

impl Content {
    /// The state as Terraform wrote it.
    pub fn text(&self) -> &[u8] {
        self.text.expose()
    }
}

/// What could not be done with a state.
#[derive(Debug, thiserror::Error)]
#[error("{sentence}")]
pub struct Failure {
    sentence: String,
    /// Whether somebody else was faster.
    pub conflict: bool,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { conflict: error.is_conflict(), sentence: error.sentence() }
    }
}

impl StateOf {
    /// The state of this Workspace of this apply.
    pub fn new(client: &Client, workspace: &Workspace, apply: &WorkspaceTemplateApply) -> Self {
        let owner = Owner { key: ApplyKey::of(apply), uid: apply.uid().unwrap_or_default() };
        let note = apply.annotations().get(annotation::STATE);
        // With an apply, the place is beside it.
        let place = located(Place::of(workspace, Some(owner), ""), note);
        Self { client: client.clone(), place }
    }

    /// The state of this Workspace that nobody has made. It is where it is told to be, else in CAPT's own namespace.
    pub fn of_nobody(client: &Client, workspace: &Workspace, home_namespace: &str) -> Self {
        let engine = workspace.status.as_ref().and_then(|status| status.engine.as_ref());
        let told = engine.and_then(|engine| engine.state.as_ref()?.secret.as_ref()?.split_once('/'));
        let ours = told.filter(|(_, secret)| secret.ends_with(&format!("-{STATE_SUFFIX}")));
        let namespace = ours.map_or(home_namespace, |(namespace, _)| namespace);
        let note = workspace.annotations().get(annotation::STATE);
        Self { client: client.clone(), place: located(Place::of(workspace, None, namespace), note) }
    }

    /// The state in this place.
    pub(super) fn at(client: &Client, place: &Place) -> Self {
        Self { client: client.clone(), place: place.clone() }
    }

    /// The Secret that it is in, as `namespace/name`.
    pub fn secret(&self) -> String {
        self.place.state_title()
    }

    /// Reads it.
    pub async fn read(&self) -> Result<Seen, Failure> {
        let found = state::look(&self.client, &self.place).await?;
        match &found.state {
            State::Absent | State::Elsewhere => return Ok(Seen::Absent),
            State::NotOurs { workspace } => return Ok(Seen::NotOurs { workspace: workspace.clone() }),
            State::Present { .. } => {}
        }
        let [part] = found.parts.as_slice() else { return Ok(Seen::InParts(found.parts.len())) };
        let packed = part.content.clone().unwrap_or_default();
        let unpacked = aside(move || unpack(packed.expose())).await?;
        Ok(unpacked.map_or(Seen::Unreadable, |text| Seen::Whole(Content { text, found })))
    }

    /// Copies it as it is now, as it is done before every apply.
    pub async fn copy(&self, content: &Content) -> Result<(), Failure> {
        Ok(snapshot::take(&self.client, &self.place, &content.found, None).await?)
    }

    /// Writes it, unless it is no longer what was read.
    pub async fn write(&self, read: &Content, text: Vec<u8>) -> Result<(), Failure> {
        self.put(read, text, json!({})).await
    }

    /// Writes it with these annotations, unless it is no longer what was read.
    async fn put(
        &self,
        read: &Content,
        text: Vec<u8>,
        annotations: serde_json::Value,
    ) -> Result<(), Failure> {
        let packed = aside(move || pack(&text)).await?;
        let name = self.place.state_secret();
        let metadata = read.found.parts.first().map(|part| &part.metadata);
        let patch = json!({
            "metadata": {
                "uid": metadata.and_then(|metadata| metadata.uid.as_ref()),
                "resourceVersion": metadata.and_then(|metadata| metadata.resource_version.as_ref()),
                "annotations": annotations,
            },
            "data": { state::KEY: ByteString(packed) },
        });
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), &self.place.state.namespace);
        kept::merge(&secrets, &name, &patch, &format!("writing the state in Secret `{}`", self.secret()))
            .await?;
        Ok(())
    }
}

/// A state that CAPT has not placed is where it is noted to be.
fn located(place: Place, note: Option<&String>) -> Place {
    match note.and_then(|note| place.noted_elsewhere(note)) {
        Some(state) => place.with_state(state),
        None => place,
    }
}
