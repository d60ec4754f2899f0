//! Lets go of a Workspace.

use capt_api::Workspace;
use capt_api::names::{Reason, annotation, finalizer};
use capt_core::apply::Blocked;
use capt_core::workspace::lock::{Holder, Lock};
use capt_core::workspace::observed::{Observed, Remains};
use capt_core::workspace::standing::Freeze;
use capt_core::workspace::status::Effect;
use kube::{Api, ResourceExt};
use serde_json::json;
use tracing::info;

use super::{Acting, Done};
use crate::error::Error;
use crate::workspace::place::Place;
use crate::workspace::place::kept::merge;
use crate::workspace::{
    access, candidate, connection_secret, lock_holder, plan_text, preview, snapshot, state,
};
use crate::{freezing, write};

impl Acting<'_> {
    /// Nothing of the infrastructure is left. What is known of it goes first, what would be missed last.
    ///
    /// Whoever repeats it may find only parts of what was kept, so that nothing is to be missed is on the Workspace before.
    pub(super) async fn finish(&self) -> Result<Done, Error> {
        let (client, place) = (&self.context.client, self.place);
        let version = self.accept_that_nothing_is_left().await?;
        if place.apply.is_some() {
            state::note(client, place, self.seen.state_note.as_deref(), false).await?;
        }
        state::forget_made(client, place, self.seen.made_noted).await?;
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
        self.let_go_of(version).await
    }

    /// Notes on the Workspace that its state is missing rightly from now on. The version that it has then.
    async fn accept_that_nothing_is_left(&self) -> Result<Option<String>, Error> {
        let noted = self.workspace.annotations().get(annotation::ACCEPT_MISSING_STATE);
        let before = self.workspace.resource_version();
        if noted.is_some_and(|noted| noted == "true") {
            return Ok(before);
        }
        let mut annotations = json!({ annotation::ACCEPT_MISSING_STATE: "true" });
        if self.place.apply.is_none() {
            annotations[annotation::STATE] = json!(null);
        }
        let name = &self.place.workspace;
        let patch = json!({ "metadata": {
            "uid": self.workspace.uid(), "resourceVersion": before, "annotations": annotations,
        } });
        let workspaces: Api<Workspace> = Api::all(self.context.client.clone());
        let doing = format!("noting on Workspace `{name}` that nothing is left");
        let noted = Error::unless_gone(merge(&workspaces, name, &patch, &doing).await)?;
        Ok(noted.and_then(|noted| noted.resource_version()))
    }

    /// What is in the way of letting go: somebody who holds the lock may be making what nobody knows of yet.
    pub(super) async fn lock_holder(&self) -> Result<Option<Blocked>, Error> {
        let (Some(_), Some(begun)) = (&self.seen.found, &self.seen.record.memory.begun) else {
            return Ok(None);
        };
        let (client, forced) =
            (&self.context.client, self.workspace.annotations().get(annotation::FORCE_UNLOCK));
        let Some(state::LockHolder { id, who }) = state::lock_holder(client, self.place).await? else {
            return Ok(None);
        };
        if forced == Some(&id) {
            return Ok(None);
        }
        let lock = Lock {
            id,
            who: who.unwrap_or_default(),
            operation: String::new(),
            since: String::new(),
            holder: Holder::Unknown,
        };
        if lock_holder::is_holder_dead(&lock, begun, client, self.place, self.terraform).await? {
            return Ok(None);
        }
        let message = format!(
            "nothing is left to destroy, but the state is locked ({}), so somebody may still make something; it is looked at again",
            lock.id
        );
        Ok(Some(Blocked::new(Reason::Locked, message)))
    }

    /// The infrastructure and its state stay; nothing of ours holds them any more.
    pub(super) async fn orphan(&self) -> Result<Done, Error> {
        if self.place.apply.is_some() {
            // Else its apply would miss it.
            state::note(&self.context.client, self.place, self.seen.state_note.as_deref(), false).await?;
        }
        state::let_go(&self.context.client, self.place).await?;
        plan_text::remove(&self.context.client, self.place, self.has_shown_plan()).await?;
        self.terraform.records.remove(&self.context.client, self.place).await?;
        self.let_go().await
    }

    /// The apply lives on elsewhere, or is gone: whatever is left here is not ours to destroy. What is kept moves with its
    /// apply, and is that one's where it came back.
    pub(super) async fn abandon(&self, freeze: &Freeze) -> Result<Done, Error> {
        match freeze {
            Freeze::ApplyMoved(_) | Freeze::Superseded { .. } | Freeze::ApplyPaused(_) => {}
            Freeze::ApplyGone(_) => {
                state::let_go(&self.context.client, self.place).await?;
                self.terraform.records.remove(&self.context.client, self.place).await?;
            }
        }
        self.let_go().await
    }

    /// The apply lives on elsewhere: nobody needs the Workspace here any more. It is let go when it is seen to be deleted.
    ///
    /// It is frozen before, so that nothing is destroyed when its apply comes back while it goes. One that its apply has taken up
    /// again in between is not the one that was frozen, and stays.
    pub(super) async fn drop_workspace(&self) -> Result<Done, Error> {
        if matches!(self.seen.observed, Observed::LeftBehind { remains: Remains::EmptyState, .. }) {
            state::discard_empty(&self.context.client, self.place).await?;
        }
        let name = &self.place.workspace;
        let frozen = freezing::freeze(&self.context.client, name, Some(&self.place.workspace_uid)).await?;
        let Some(frozen) = frozen else { return Ok(Done::Told(Effect::Nothing)) };
        let workspaces: Api<Workspace> = Api::all(self.context.client.clone());
        let doing = format!("removing Workspace `{name}`, which was moved");
        write::delete_as_seen(&workspaces, &frozen, &doing).await?;
        info!(
            workspace = name,
            "removed the Workspace: its apply was moved to another cluster, nothing is destroyed"
        );
        Ok(Done::Told(Effect::Nothing))
    }

    /// What an earlier version of CAPT gave to Terraform: access to where the state is, and to where everything else is kept.
    pub(super) async fn give_up_access(&self) -> Result<(), Error> {
        let (client, home) = (&self.context.client, &self.terraform.options.home_namespace);
        let Place { namespace, state, .. } = self.place;
        access::give_up(client, home, &state.namespace).await?;
        if *namespace != state.namespace {
            access::give_up(client, home, namespace).await?;
        }
        Ok(())
    }

    async fn let_go(&self) -> Result<Done, Error> {
        self.let_go_of(self.workspace.resource_version()).await
    }

    /// Lets go of the Workspace in this version.
    async fn let_go_of(&self, version: Option<String>) -> Result<Done, Error> {
        self.give_up_access().await?;
        let (held, rest): (Vec<_>, Vec<_>) =
            self.workspace.finalizers().iter().partition(|entry| *entry == finalizer::MANAGED_RESOURCE);
        if !held.is_empty() {
            let patch = json!({ "metadata": {
                "uid": self.workspace.uid(),
                "resourceVersion": version,
                "finalizers": rest,
            } });
            self.patch(&patch, "letting go of").await?;
            info!(workspace = self.place.workspace, "let go of the Workspace");
        }
        self.terraform.runs.forget(&self.place.workspace_uid);
        Ok(Done::Released)
    }
}
