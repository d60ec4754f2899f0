//! What is kept of a run: what it did and why, what came of it, and what was printed.

mod lines;
mod shelf;

use capt_api::engine_status::RunOperation;
use k8s_openapi::jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::decide::{Operation, Priority};

pub use lines::Lines;
pub use shelf::{Shelf, Stored};

/// What is kept of a run. It holds no secrets: its lines passed the redactor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunLog {
    /// What it did.
    pub operation: RunOperation,
    /// Why.
    pub cause: Cause,
    /// When it was given out; it may have waited for its turn.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// Whether it ended well.
    pub succeeded: bool,
    /// What came of it, in one sentence.
    pub result: String,
    /// Whether it was a plan that found nothing to do.
    #[serde(default)]
    pub quiet: bool,
    /// What was printed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    /// Where lines were left out because there were too many: before the line with this index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
}

/// Lines that are missing in the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// How many lines stand before them.
    pub after: usize,
    /// How many there are.
    pub lines: u64,
}

/// Why a run began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// Nothing was made yet.
    Creation,
    /// What goes in has changed, or an apply was not finished, or somebody approved a plan.
    Change,
    /// Reality was compared with the Workspace.
    Check,
    /// The Workspace is being deleted.
    Deletion,
    /// Somebody asked to see a plan.
    Asked,
}

impl Cause {
    /// Why a run of this kind begins.
    pub fn of(operation: &Operation, priority: Priority) -> Self {
        match (operation, priority) {
            (Operation::Preview, _) => Self::Asked,
            (_, Priority::Deletion) => Self::Deletion,
            (_, Priority::Creation) => Self::Creation,
            (_, Priority::Change) => Self::Change,
            (_, Priority::Check) => Self::Check,
        }
    }

    /// The same for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Creation => "nothing was made yet",
            Self::Change => "what goes in has changed, or was not finished",
            Self::Check => "a look at reality was due",
            Self::Deletion => "the Workspace is being deleted",
            Self::Asked => "somebody asked to see a plan",
        }
    }
}
