//! Lets go of a Workspace.

use capt_api::names::{Reason, annotation, finalizer};
use capt_core::apply::Blocked;
use kube::ResourceExt;
use serde_json::json;
use tracing::info;

use super::{Acting, Done};
use crate::error::Error;
use crate::workspace::{candidate, connection_secret, plan_text, preview, snapshot, state};

impl Acting<'_> {
    /// Nothing of the infrastructure is left. What is known of it goes first, what would be missed last.
    pub(super) async fn finish(&self) -> Result<Done, Error> {
        let (client, place) = (&self.context.client, self.place);
        state::note(client, place, self.seen.state_note.as_deref(), false).await?;
        if let Some(target) = &self.workspace.spec.write_connection_secret_to_ref {
            connection_secret::remove(client, place, target).await?;
        }
        plan_text::remove(client, place, true).await?;
        if self.workspace.annotations().contains_key(annotation::PLAN_REQUESTED_AT) {
            preview::remove(client, place).await?;
            candidate::remove(client, place).await?;
        }
        snapshot::remove(client, place).await?;
        if self.seen.found.is_some() {
            state::discard(client, place).await?;
            if self.seen.record.memory.begun.is_some() {
                // Whoever holds it is over: that was looked at before.
                state::remove_lock(client, place).await?;
            }
        }
        self.terraform.records.remove(client, place).await?;
        self.let_go().await
    }

    /// What is in the way of letting go: somebody who holds the lock may be making what nobody knows of yet.
    pub(super) async fn lock_holder(&self) -> Result<Option<Blocked>, Error> {
        if self.seen.found.is_none() || self.seen.record.memory.begun.is_none() {
            return Ok(None);
        }
        let holder = state::lock_holder(&self.context.client, self.place).await?;
        let forced = self.workspace.annotations().get(annotation::FORCE_UNLOCK);
        // A run of ours has just ended here, after every process of an earlier manager on this machine.
        let is_over = |holder: &state::LockHolder| {
            forced == Some(&holder.id) || holder.host.as_ref() == Some(&self.terraform.options.host)
        };
        Ok(holder.filter(|holder| !is_over(holder)).map(|state::LockHolder { id: holder, .. }| {
            let message = format!(
                "nothing is left to destroy, but the state is locked ({holder}), so somebody may still make something; it is looked at again"
            );
            Blocked::new(Reason::Locked, message)
        }))
    }

    /// The infrastructure and its state stay; nothing of ours holds them any more.
    pub(super) async fn orphan(&self) -> Result<Done, Error> {
        state::let_go(&self.context.client, self.place).await?;
        plan_text::remove(&self.context.client, self.place, self.has_shown_plan()).await?;
        self.terraform.records.remove(&self.context.client, self.place).await?;
        self.let_go().await
    }

    /// The apply lives on elsewhere, or is gone: whatever is left here is not ours to destroy.
    pub(super) async fn abandon(&self) -> Result<Done, Error> {
        state::let_go(&self.context.client, self.place).await?;
        self.terraform.records.remove(&self.context.client, self.place).await?;
        self.let_go().await
    }

    async fn let_go(&self) -> Result<Done, Error> {
        let options = &self.terraform.options;
        self.terraform.access.give_up(&self.context.client, options, &self.place.namespace).await?;
        let (held, rest): (Vec<_>, Vec<_>) =
            self.workspace.finalizers().iter().partition(|entry| *entry == finalizer::MANAGED_RESOURCE);
        if !held.is_empty() {
            let patch = json!({ "metadata": {
                "uid": self.workspace.uid(),
                "resourceVersion": self.workspace.resource_version(),
                "finalizers": rest,
            } });
            self.patch(&patch, "letting go of").await?;
            info!(workspace = self.place.workspace, "let go of the Workspace");
        }
        self.terraform.runs.forget(&self.place.workspace_uid);
        Ok(Done::Released)
    }
}
