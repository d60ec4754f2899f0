//! Leaves a Workspace to Crossplane.

use capt_api::names::{Reason, annotation};
use capt_core::apply::Blocked;
use capt_core::workspace::handover;
use kube::ResourceExt;
use serde_json::json;
use tracing::info;

use super::{Acting, Done};
use crate::context::to_the_second;
use crate::error::Error;
use crate::workspace::{candidate, plan_text, preview, state};

impl Acting<'_> {
    /// Nothing of ours holds the state any more, and nothing that CAPT knows of it outlives this: once Crossplane has run it, that
    /// is not true any more. The pause ends last, and in the same write in which the Workspace stops being CAPT's.
    pub(super) async fn hand_back(&self) -> Result<Done, Error> {
        let (client, place) = (&self.context.client, self.place);
        if self.seen.found.is_some()
            && let Some(holder) = state::lock_holder(client, place).await?
        {
            let message = format!(
                "the Workspace is to be handed back to Crossplane, but its state is locked ({}); it is looked at again",
                holder.id
            );
            return Ok(Done::Blocked(Blocked::new(Reason::Locked, message)));
        }
        if self.seen.found.is_some() {
            state::let_go(client, place).await?;
        }
        if place.apply.is_some() {
            // Crossplane destroys what is there, and takes no note away.
            state::note(client, place, self.seen.state_note.as_deref(), false).await?;
        }
        plan_text::remove(client, place, true).await?;
        if self.workspace.annotations().contains_key(annotation::PLAN_REQUESTED_AT) {
            preview::remove(client, place).await?;
            candidate::remove(client, place).await?;
        }
        self.terraform.records.remove(client, place).await?;
        self.give_up_access().await?;
        let now = to_the_second(self.terraform.now()).0.to_string();
        // As it was before it was removed.
        let applied = self.seen.record.memory.applied.is_some();
        let annotations = handover::back(self.workspace, &place.terraform_workspace, applied, &now);
        let patch = json!({ "metadata": {
            "uid": self.workspace.uid(),
            "resourceVersion": self.workspace.resource_version(),
            "annotations": annotations,
        } });
        self.patch(&patch, "handing back").await?;
        info!(workspace = place.workspace, "handed the Workspace back to Crossplane");
        self.terraform.runs.forget(&place.workspace_uid);
        Ok(Done::Released)
    }
}
