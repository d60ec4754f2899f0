//! The conditions of a control plane.

use capt_api::capt_control_plane::{CAPTControlPlaneStatus, SecretState};
use capt_api::names::{Reason, condition as type_};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use super::{Probe, Report, Secrets};
use crate::condition::{Stamp, Statement, Truth, upsert};
use crate::control_plane::decide::{self, Step};
use crate::control_plane::names;
use crate::control_plane::observed::WorkspaceSeen;

/// Puts all conditions in, for a status whose other fields are there.
pub(super) fn put(status: &mut CAPTControlPlaneStatus, report: Report<'_>, stamp: &Stamp) {
    let mut put = |name: &str, statement: Statement| {
        upsert(&mut status.conditions, statement.into_condition(name, stamp));
    };
    put(type_::PAUSED, Statement::new(Truth::False, Reason::NotPaused, ""));
    put(type_::SECRETS_READY, secrets_ready(report.secrets));
    put(type_::READY, ready(report));
    put(type_::DELETING, deleting(report));
    if let Some(probe) = report.probe {
        put(type_::REACHABLE, reachable(probe));
    }
    let initialized = status.initialized;
    let rolling_out = rolling_out(status, report);
    let mut put = |name: &str, statement: Statement| {
        upsert(&mut status.conditions, statement.into_condition(name, stamp));
    };
    put(type_::ROLLING_OUT, rolling_out);
    put(type_::AVAILABLE, available(initialized, report));
}

fn secrets_ready(secrets: &Secrets) -> Statement {
    let Secrets { state, reason, message, .. } = secrets;
    let truth = if *state == SecretState::Ready { Truth::True } else { Truth::False };
    Statement::new(truth, *reason, message.clone())
}

/// What holds up the control plane first is told.
fn ready(report: Report<'_>) -> Statement {
    let Report { step, outcome, secrets, .. } = report;
    if report.control_plane.metadata.deletion_timestamp.is_some() {
        return Statement::new(Truth::False, Reason::Deleting, "the control plane is being taken down");
    }
    if let Err(blocked) = outcome {
        return blocked.into();
    }
    if let Step::Hold { blocked, .. } = step {
        return blocked.into();
    }
    if let Some(waiting) = workspace_not_ready(report) {
        return late(waiting, report);
    }
    match secrets.state {
        SecretState::Ready => Statement::new(Truth::True, Reason::ControlPlaneReady, ""),
        SecretState::WaitingForSecret | SecretState::ValidatingSecret | SecretState::Failed => {
            Statement::new(Truth::False, secrets.reason, secrets.message.clone())
        }
    }
}

/// Why the Workspace is not ready: the apply's word where it is in trouble or there is no Workspace, else the Workspace's own.
fn workspace_not_ready(report: Report<'_>) -> Option<Statement> {
    let Report { apply, workspace, .. } = report;
    if workspace.is_some_and(WorkspaceSeen::is_ready) {
        return None;
    }
    let told = apply.and_then(|apply| {
        let conditions = &apply.status.as_ref()?.conditions;
        conditions.iter().find(|entry| entry.type_ == type_::READY && entry.status != Truth::True.as_str())
    });
    Some(match told.map(|told| (known_reason(told), told)) {
        Some((reason, told)) if reason != Reason::ControlPlaneNotReady => {
            Statement::new(Truth::False, reason, told.message.clone())
        }
        // How far Terraform is, its apply tells: said here too, every step would be a write.
        Some(_) | None => {
            let name = names::apply(report.control_plane);
            Statement::new(
                Truth::False,
                Reason::ControlPlaneNotReady,
                format!("WorkspaceTemplateApply `{name}` makes the control plane"),
            )
        }
    })
}

fn known_reason(told: &Condition) -> Reason {
    match Reason::find(&told.reason) {
        Some(Reason::WorkspaceNotReady | Reason::WorkspaceMissing) | None => Reason::ControlPlaneNotReady,
        Some(reason) => reason,
    }
}

/// Waiting that takes too long is told as late; trouble has a word of its own already.
fn late(waiting: Statement, report: Report<'_>) -> Statement {
    if !report.overdue || waiting.reason.is_trouble() {
        return waiting;
    }
    let minutes = decide::timeouts(report.control_plane).1;
    Statement::new(
        Truth::False,
        Reason::ControlPlaneOverdue,
        format!(
            "the control plane is not there after {minutes} minutes (controlPlaneConfig.timeouts.controlPlaneTimeout) and is waited for: {}",
            waiting.message
        ),
    )
}

/// A control plane that has been there is available as long as the kubeconfig in place is good.
fn available(initialized: bool, report: Report<'_>) -> Statement {
    let Secrets { reason, message, .. } = report.secrets;
    if !initialized {
        let statement = ready(report);
        return match statement.truth {
            Truth::True => Statement::new(Truth::False, Reason::ControlPlaneNotReady, ""),
            Truth::False | Truth::Unknown => statement,
        };
    }
    match reason {
        Reason::CredentialsRejected | Reason::CredentialsExpired => {
            Statement::new(Truth::False, *reason, message.clone())
        }
        _ => Statement::new(Truth::True, Reason::ControlPlaneReady, ""),
    }
}

fn deleting(report: Report<'_>) -> Statement {
    match report.step {
        Step::AwaitClearing { blocked, .. } => {
            Statement::new(Truth::True, blocked.reason, blocked.message.clone())
        }
        Step::DeleteApply { .. } => {
            Statement::new(Truth::True, Reason::Deleting, "the control plane is being taken down")
        }
        Step::AwaitDeletion { apply, message } => Statement::new(
            Truth::True,
            Reason::Deleting,
            format!("waiting until WorkspaceTemplateApply `{apply}` is gone: {message}"),
        ),
        Step::Finish | Step::LetGo => Statement::new(Truth::True, Reason::Deleting, "everything is gone"),
        Step::Leave
        | Step::Pause(_)
        | Step::Claim { .. }
        | Step::Hold { .. }
        | Step::Write { .. }
        | Step::Settled => {
            let truth = if report.control_plane.metadata.deletion_timestamp.is_some() {
                (Truth::True, Reason::Deleting)
            } else {
                (Truth::False, Reason::NotDeleting)
            };
            Statement::new(truth.0, truth.1, "")
        }
    }
}

fn reachable(probe: &Probe) -> Statement {
    match probe {
        Probe::Answered { version } if version.is_empty() => {
            Statement::new(Truth::True, Reason::Reachable, "the API server answers")
        }
        Probe::Answered { version } => {
            Statement::new(Truth::True, Reason::Reachable, format!("the API server answers ({version})"))
        }
        Probe::Rejected { .. } => Statement::new(
            Truth::False,
            Reason::CredentialsRejected,
            "the API server answers but does not accept the credentials",
        ),
        Probe::Unreachable { message } => Statement::new(Truth::False, Reason::Unreachable, message.clone()),
    }
}

fn rolling_out(status: &CAPTControlPlaneStatus, report: Report<'_>) -> Statement {
    let wanted = &report.control_plane.spec.version;
    match &status.version {
        Some(running) if crate::kubernetes_version::is_rolling_out(wanted, running) => Statement::new(
            Truth::True,
            Reason::RollingOut,
            format!("version {running} runs and {wanted} is on its way"),
        ),
        Some(_) | None => Statement::new(Truth::False, Reason::NotRollingOut, ""),
    }
}
