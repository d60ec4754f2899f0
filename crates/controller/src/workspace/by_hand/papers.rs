//! What the engine has written down of its runs.

use capt_core::workspace::run_log::RunLog;
use capt_terraform::{Redactor, Run};

use super::{Answer, Failure, Shown, StateOf};
use crate::workspace::{plan_text, preview, record};

impl StateOf {
    /// The plan that waits for approval, or that is only told.
    pub async fn shown_plan(&self) -> Result<Option<Shown>, Failure> {
        Ok(plan_text::look(&self.client, &self.place).await?)
    }

    /// What came of the last request to see a plan.
    pub async fn preview(&self) -> Result<Option<Answer>, Failure> {
        Ok(preview::look(&self.client, &self.place).await?)
    }

    /// Waits until a request to see a plan is answered.
    pub async fn await_preview(&self, request: &str) -> Result<Answer, Failure> {
        Ok(preview::wait(&self.client, &self.place, request).await?)
    }

    /// The logs of the last runs, oldest first, by their numbers.
    pub async fn run_logs(&self) -> Result<Vec<(u64, RunLog)>, Failure> {
        Ok(record::run_logs(&self.client, &self.place).await?)
    }

    /// Knows every value that went into the last apply from a Secret, as far as that is kept. What the Workspace's own spec
    /// says is no secret for whoever looks at its state.
    pub async fn redactor(&self) -> Result<Redactor, Failure> {
        let kept = record::kept_run(&self.client, &self.place).await?;
        let kept = kept.map(|run| Run { hidden: Vec::new(), ..run });
        Ok(kept.as_ref().map(Redactor::of).unwrap_or_default())
    }
}
