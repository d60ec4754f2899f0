//! What is put on record about a run that ended.

use super::observed::{AppliedRecord, Ended, Ending, Memory};

impl Memory {
    /// What is on record once the outputs of a run are published. The digest is the one that the apply had written when the run
    /// was begun.
    ///
    /// Outputs that were read while nothing may be changed prove nothing: what is there may differ from what goes in, and whoever
    /// permits changes later has not approved them. Outputs that are only published once more change nothing.
    #[must_use]
    pub fn published_by(
        self,
        ended: &Ended,
        digest: Option<String>,
        may_change: bool,
        workspace: &str,
    ) -> Self {
        let is_applied = matches!(ended.result, Ending::Applied { .. });
        let known = self.begun.is_none()
            && !self.is_of_another(workspace)
            && self.applied.as_ref().is_some_and(|known| known.fingerprint == ended.fingerprint);
        if known && !is_applied {
            return self;
        }
        let checked_at = self.checked_at.max(Some(ended.at));
        if !is_applied && !may_change {
            return Self { observed: Some(ended.fingerprint.clone()), checked_at, ..self };
        }
        let applied = AppliedRecord { fingerprint: ended.fingerprint.clone(), digest, at: ended.at };
        let restored = self.restored && !is_applied;
        let workspace = Some(workspace.to_owned());
        Self { applied: Some(applied), begun: None, observed: None, checked_at, restored, workspace, ..self }
    }

    /// What is on record once reality was compared with the Workspace, and perhaps found in line.
    #[must_use]
    pub fn confirmed_by(self, ended: &Ended, in_line: bool) -> Self {
        Self { checked_at: self.checked_at.max(Some(ended.at)), restored: self.restored && !in_line, ..self }
    }

    /// Whether it is of another Workspace than the one with this uid: of the one before a move.
    pub fn is_of_another(&self, workspace: &str) -> bool {
        self.workspace.as_ref().is_some_and(|known| known != workspace)
    }
}

#[cfg(test)]
mod tests;
