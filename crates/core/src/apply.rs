//! `WorkspaceTemplateApply`: from template and variables to a Workspace.
//!
//! `collect` gathers the values, `render` makes the Workspace's spec, `difference` compares it with one that somebody else
//! wrote, `decide` says what to do, `status` what to tell.

pub mod decide;
pub mod difference;
pub mod readable;
pub mod render;
pub mod status;
pub mod variables;

use capt_api::names::Reason;

/// Why an apply does not go on for now. It is looked at again when something it depends on changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// One word.
    pub reason: Reason,
    /// A sentence that names the object and the field, and says what to do.
    pub message: String,
}

impl Blocked {
    /// Puts the two together.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }
}
