//! What is worth an Event.

use capt_api::names::Reason;

/// Something worth an Event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Whether the user should look at it.
    pub warning: bool,
    /// One word.
    pub reason: Reason,
    /// A sentence.
    pub message: String,
}
