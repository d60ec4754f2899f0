//! What is put on record about a run that ended.

use k8s_openapi::jiff::Timestamp;

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

    /// What is on record once reality was compared with the Workspace, and perhaps found in line. What an earlier version put on
    /// record says from then on whose it is.
    #[must_use]
    pub fn confirmed_by(self, ended: &Ended, in_line: bool, workspace: &str) -> Self {
        let unsaid = in_line && self.workspace.is_none();
        Self {
            checked_at: self.checked_at.max(Some(ended.at)),
            restored: self.restored && !in_line,
            workspace: if unsaid { Some(workspace.to_owned()) } else { self.workspace },
            ..self
        }
    }

    /// The same, beside a Workspace that was made at this time. What an earlier version put on record does not say whose it is: if it
    /// is older than the Workspace, it is of the one before a move.
    #[must_use]
    pub fn beside(self, created: Option<Timestamp>) -> Self {
        let applied = self.applied.as_ref().map(|applied| applied.at);
        let at = applied.max(self.begun.as_ref().map(|begun| begun.at));
        let is_older = at.zip(created).is_some_and(|(at, created)| at < created);
        let workspace = self.workspace.or_else(|| is_older.then(String::new));
        Self { workspace, ..self }
    }

    /// Whether it is of another Workspace than the one with this uid: of the one before a move.
    pub fn is_of_another(&self, workspace: &str) -> bool {
        self.workspace.as_ref().is_some_and(|known| known != workspace)
    }
}

#[cfg(test)]
mod tests;
