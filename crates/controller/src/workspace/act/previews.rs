//! Answers whoever asked to see a plan.

use capt_core::workspace::decide::Step;
use capt_core::workspace::status::Effect;

use super::{Acting, Done};
use crate::error::Error;
use crate::workspace::preview;

impl Acting<'_> {
    /// Shows the plan that somebody asked for.
    pub(super) async fn show_preview(&self) -> Result<Done, Error> {
        let Some(made) = self.terraform.runs.previewed(&self.place.workspace_uid) else {
            return Ok(Done::Told(Effect::Nothing));
        };
        self.keep_logs().await;
        let result = made.result.as_ref().map_err(|blocked| blocked.message.as_str());
        self.answer(&made.request, result).await?;
        Ok(Done::Again)
    }

    /// Says why no plan is made, where that takes somebody to change.
    pub(super) async fn refuse_preview(&self, step: &Step) -> Result<(), Error> {
        let Some(request) = &self.seen.preview else { return Ok(()) };
        let deleting = self.workspace.metadata.deletion_timestamp.is_some();
        let why = match step {
            Step::Hold { blocked, until: _ } => blocked.message.as_str(),
            Step::Pause => "the Workspace is paused: its spec.managementPolicies are empty",
            _ if deleting => "the Workspace is being deleted",
            _ => return Ok(()),
        };
        self.answer(request, Err(why)).await
    }

    async fn answer(&self, request: &str, result: Result<&capt_terraform::Plan, &str>) -> Result<(), Error> {
        preview::answer(&self.context.client, self.place, request, result).await?;
        self.terraform.runs.answer(&self.place.workspace_uid, request);
        Ok(())
    }
}
