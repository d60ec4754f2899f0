//! What is worth an Event.

use capt_api::names::Reason;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

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

/// What an Event says at the end of a pause. The condition says nothing then, as Cluster API has it.
pub(crate) const GOES_ON: &str = "reconciling goes on";

/// Progress within one reason is no news; another trouble is.
pub(crate) fn is_same_to_people(before: &Condition, after: &Condition) -> bool {
    let trouble = Reason::find(&after.reason).is_some_and(Reason::is_trouble);
    before.status == after.status
        && before.reason == after.reason
        && (!trouble || before.message == after.message)
}
