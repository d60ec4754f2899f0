//! What to tell about a control plane: its status, computed from what was decided and what came of it.

mod conditions;
mod notes;
mod version;

use std::collections::BTreeMap;

use capt_api::capt_control_plane::{
    CAPTControlPlaneStatus, ControlPlaneApplyStatus, ControlPlaneInitialization, ControlPlaneWorkspaceStatus,
    Phase, SecretState,
};
use capt_api::endpoint::Endpoint;
use capt_api::names::{Reason, condition as type_};
use capt_api::{CAPTControlPlane, WorkspaceTemplateApply};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::decide::Step;
use super::observed::WorkspaceSeen;
use crate::apply::Blocked;
use crate::condition::{Stamp, Truth, condition, find, upsert};

pub use notes::notes;

/// Everything that the status is computed from.
#[derive(Clone, Copy, Debug)]
pub struct Report<'facts> {
    /// The control plane as it was read.
    pub control_plane: &'facts CAPTControlPlane,
    /// What was decided about its apply.
    pub step: &'facts Step,
    /// What came of it.
    pub outcome: &'facts Result<(), Blocked>,
    /// Its apply after the step, if it is there and ours.
    pub apply: Option<&'facts WorkspaceTemplateApply>,
    /// The apply's Workspace.
    pub workspace: Option<&'facts WorkspaceSeen>,
    /// Where its Secrets stand.
    pub secrets: &'facts Secrets,
    /// The endpoint that is in the spec now.
    pub endpoint: Option<&'facts Endpoint>,
    /// What the cluster itself answered last.
    pub probe: Option<&'facts Probe>,
    /// Whether the control plane should be there by now.
    pub overdue: bool,
    /// Now.
    pub now: &'facts Time,
}

/// Where the Secrets of a control plane stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secrets {
    /// The state.
    pub state: SecretState,
    /// One word.
    pub reason: Reason,
    /// A sentence.
    pub message: String,
    /// Whether there was something new: the source changed, or a Secret was written.
    pub news: bool,
    /// Whether a kubeconfig that was good once is in place.
    pub in_place: bool,
}

/// What a cluster answered when it was asked with the credentials that are handed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// It answered.
    Answered {
        /// The version that it says it has.
        version: String,
    },
    /// It does not know the credentials.
    Rejected {
        /// Who is to be given access, as far as that is known.
        identity: Option<String>,
    },
    /// It could not be reached.
    Unreachable {
        /// Why.
        message: String,
    },
}

/// The status of a control plane; `None` where nothing may be written.
pub fn status(report: Report<'_>) -> Option<CAPTControlPlaneStatus> {
    let Report { control_plane, step, now, .. } = report;
    let stamp = Stamp { generation: control_plane.metadata.generation, now: now.clone() };
    let mut status = control_plane.status.clone().unwrap_or_default();
    match step {
        Step::Leave => return None,
        Step::Pause(pause) => {
            let message = pause.message("CAPTControlPlane");
            upsert(
                &mut status.conditions,
                condition(type_::PAUSED, Truth::True, Reason::Paused, &message, &stamp),
            );
            return Some(status);
        }
        _ => {}
    }
    status.observed_generation = control_plane.metadata.generation;
    status.failure_reason = None;
    status.failure_message = None;
    status.external_managed_control_plane = Some(true);
    put_workspace(&mut status, report);
    put_secrets(&mut status, report);
    version::put(&mut status, report);
    conditions::put(&mut status, report, &stamp);
    status.ready = holds(&status, type_::READY);
    status.phase = Some(phase(&status, report));
    Some(status)
}

/// Whether a condition is True.
fn holds(status: &CAPTControlPlaneStatus, name: &str) -> bool {
    find(&status.conditions, name).is_some_and(|entry| entry.status == Truth::True.as_str())
}

fn put_secrets(status: &mut CAPTControlPlaneStatus, report: Report<'_>) {
    let Secrets { state, in_place, .. } = report.secrets;
    status.secret_state = Some(*state);
    status.secrets_ready = *state == SecretState::Ready;
    // No earlier than the kubeconfig, and for ever from then on.
    let initialized = status.initialized || (*in_place && report.endpoint.is_some());
    status.initialized = initialized;
    if initialized {
        status.initialization = Some(ControlPlaneInitialization { control_plane_initialized: true });
    }
}

/// What the apply and its Workspace say. On the way up it is always the same, so that no step of theirs is a write of ours.
fn put_workspace(status: &mut CAPTControlPlaneStatus, report: Report<'_>) {
    let Report { apply, workspace, .. } = report;
    let Some(apply) = apply else { return };
    status.workspace_template_status = Some(apply_status(apply, workspace, status));
    status.workspace_status = Some(ControlPlaneWorkspaceStatus {
        ready: workspace.is_some_and(WorkspaceSeen::is_ready),
        state: Some(workspace_state(workspace)),
        at_provider: workspace.and_then(|workspace| workspace.at_provider.clone()),
    });
}

fn workspace_state(workspace: Option<&WorkspaceSeen>) -> String {
    let reason =
        workspace.and_then(|workspace| workspace.facts.ready.as_ref()).map(|ready| ready.reason.clone());
    reason.filter(|reason| !reason.is_empty()).unwrap_or_else(|| Reason::Creating.to_string())
}

fn apply_status(
    apply: &WorkspaceTemplateApply,
    workspace: Option<&WorkspaceSeen>,
    before: &CAPTControlPlaneStatus,
) -> ControlPlaneApplyStatus {
    let past = before.workspace_template_status.clone().unwrap_or_default();
    let found = apply.status.as_ref();
    let ready = found.and_then(|status| find(&status.conditions, type_::READY));
    let revision =
        found.and_then(|status| status.template_generation).map(|generation| generation.to_string());
    if let Some(trouble) = ready.filter(|ready| is_trouble(&ready.reason)) {
        return ControlPlaneApplyStatus {
            ready: false,
            state: Some(trouble.reason.clone()),
            last_failed_revision: revision,
            last_failure_message: Some(trouble.message.clone()),
            ..past
        };
    }
    // The apply says the same as its Workspace, a moment later.
    if !workspace.is_some_and(WorkspaceSeen::is_ready) {
        let state = Some(Reason::WorkspaceNotReady.to_string());
        return ControlPlaneApplyStatus { ready: false, state, ..past };
    }
    let outputs = workspace.and_then(|workspace| workspace.at_provider.as_ref()?.get("outputs")?.as_object());
    let texts = outputs.into_iter().flatten();
    let outputs: BTreeMap<_, _> =
        texts.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect();
    ControlPlaneApplyStatus {
        ready: true,
        state: Some(Reason::WorkspaceReady.to_string()),
        last_applied_revision: revision,
        outputs,
        ..past
    }
}

/// Whether a condition's word calls for the user.
fn is_trouble(reason: &str) -> bool {
    Reason::find(reason).is_some_and(Reason::is_trouble)
}

fn phase(status: &CAPTControlPlaneStatus, report: Report<'_>) -> Phase {
    let ready = find(&status.conditions, type_::READY);
    let trouble =
        ready.is_some_and(|ready| ready.status != Truth::True.as_str() && is_trouble(&ready.reason));
    if report.control_plane.metadata.deletion_timestamp.is_some() {
        Phase::Deleting
    } else if trouble {
        Phase::Failed
    } else if !status.initialized {
        Phase::Creating
    } else if status.ready && !holds(status, type_::ROLLING_OUT) {
        Phase::Ready
    } else {
        Phase::Updating
    }
}

#[cfg(test)]
mod tests;
