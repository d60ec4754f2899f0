//! Answers whoever asked to see a plan.

use capt_core::workspace::decide::{Step, Which};
use capt_core::workspace::status::Effect;

use super::{Acting, Done};
use crate::error::Error;
use crate::workspace::{candidate, preview};

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

    /// Says why other content cannot be planned, where that is known before anything is started.
    pub(super) async fn refuse_candidate(&self, which: Which) -> Result<bool, Error> {
        match (which, &self.seen.candidate, &self.seen.preview) {
            (Which::Candidate, Some(Err(blocked)), Some(request)) => {
                self.answer(request, Err(&blocked.message)).await?;
                Ok(true)
            }
            (Which::Candidate | Which::Current | Which::Kept, _, _) => Ok(false),
        }
    }

    /// What was to be planned goes first: without it a request that was not answered is refused, and nothing is left behind.
    async fn answer(&self, request: &str, result: Result<&capt_terraform::Plan, &str>) -> Result<(), Error> {
        if candidate::is_asked(self.workspace, request) {
            candidate::remove(&self.context.client, self.place).await?;
        }
        preview::answer(&self.context.client, self.place, request, result).await?;
        self.terraform.runs.answer(&self.place.workspace_uid, request);
        Ok(())
    }
}
