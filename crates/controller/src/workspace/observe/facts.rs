//! What is known of a Workspace that no run works on, in the words of those who decide.

use capt_api::Workspace;
use capt_api::names::{annotation, finalizer};
use capt_core::apply::Blocked;
use capt_core::workspace::observed::{Active, Connection, Deleting, Ended, Inputs, Preview, State};
use capt_core::workspace::policy;
use capt_core::workspace::traces::Traces;
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;

use super::wishes::Wishes;
use crate::workspace::record::Record;

/// What is known of a Workspace.
pub(super) struct Facts<'reconcile> {
    pub(super) workspace: &'reconcile Workspace,
    pub(super) record: &'reconcile Record,
    /// The fingerprint of what goes in.
    pub(super) inputs: Result<String, Blocked>,
    pub(super) state: State,
    /// Where the state is noted to be.
    pub(super) state_note: Option<&'reconcile str>,
    pub(super) wishes: Wishes,
    pub(super) ended: Option<Ended>,
    pub(super) requested: bool,
    pub(super) restored: bool,
    pub(super) traces: Traces,
    pub(super) hand_back: Option<Result<(), Blocked>>,
    pub(super) unstored: bool,
    pub(super) preview: Preview,
    pub(super) now: Timestamp,
}

impl Facts<'_> {
    /// It is to be kept in line.
    pub(super) fn active(self, connection: Connection) -> Active {
        let inputs = self.inputs();
        Active {
            held: self.is_held(),
            missing_state_accepted: self.is_missing_state_accepted(),
            force_unlock: self.noted(annotation::FORCE_UNLOCK),
            inputs: self.wishes.unclear.map_or(inputs, Err),
            memory: self.record.memory.clone(),
            state: self.state,
            state_noted: self.state_note.is_some(),
            restored: self.restored,
            moved: self.record.memory.is_of_another(&self.workspace.uid().unwrap_or_default()),
            traces: self.traces,
            hand_back: self.hand_back,
            unstored: self.unstored,
            ended: self.ended,
            preview: self.preview,
            connection,
            permissions: policy::permissions(&self.workspace.spec),
            update_policy: self.wishes.update_policy,
            drift_policy: self.wishes.drift_policy,
            protection: self.wishes.protection,
            approvals: self.wishes.approvals,
            requested: self.requested,
            next_check: self.wishes.next_check,
            now: self.now,
        }
    }

    /// It is to be taken down.
    pub(super) fn deleting(self) -> Deleting {
        Deleting {
            held: self.is_held(),
            missing_state_accepted: self.is_missing_state_accepted(),
            force_unlock: self.noted(annotation::FORCE_UNLOCK),
            inputs: self.inputs(),
            destroys: policy::destroys(&self.workspace.spec),
            others: others(self.workspace),
            kept: self.record.kept.clone(),
            memory: self.record.memory.clone(),
            state: self.state,
            state_noted: self.state_note.is_some(),
            traces: self.traces,
            ended: self.ended,
            approvals: self.wishes.approvals,
            now: self.now,
        }
    }

    fn inputs(&self) -> Result<Inputs, Blocked> {
        let digest = self.noted(annotation::APPLIED_DIGEST);
        self.inputs.clone().map(|fingerprint| Inputs { fingerprint, digest })
    }

    fn is_held(&self) -> bool {
        self.workspace.finalizers().iter().any(|entry| entry == finalizer::MANAGED_RESOURCE)
    }

    fn is_missing_state_accepted(&self) -> bool {
        self.noted(annotation::ACCEPT_MISSING_STATE).as_deref() == Some("true")
    }

    fn noted(&self, key: &str) -> Option<String> {
        self.workspace.annotations().get(key).cloned()
    }
}

/// Finalizers that are neither ours nor the garbage collector's.
fn others(workspace: &Workspace) -> Vec<String> {
    const NOT_COUNTED: [&str; 3] = [finalizer::MANAGED_RESOURCE, "foregroundDeletion", "orphan"];
    let held = workspace.finalizers().iter();
    held.filter(|entry| !NOT_COUNTED.contains(&entry.as_str())).cloned().collect()
}
