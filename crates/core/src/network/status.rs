//! What to tell about a network: its status, computed from what was decided and what came of it.

mod notes;
mod words;

use capt_api::capt_cluster::{CAPTClusterStatus, InfrastructureInitialization, VpcApplyStatus};
use capt_api::names::{Reason, condition as type_};
use capt_api::{CAPTCluster, WorkspaceTemplateApply};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::decide::Step;
use super::observed::WorkspaceFacts;
use super::outputs::{self, Outputs};
use crate::apply::Blocked;
use crate::condition::{Stamp, Statement, Truth, condition, upsert};
use crate::tie;

pub use notes::notes;

/// Everything that the status is computed from.
#[derive(Clone, Copy, Debug)]
pub struct Report<'facts> {
    /// The network as it was read.
    pub network: &'facts CAPTCluster,
    /// What was decided.
    pub step: &'facts Step,
    /// What came of it.
    pub outcome: &'facts Result<(), Blocked>,
    /// The apply after the step, if it is there and ours.
    pub apply: Option<&'facts WorkspaceTemplateApply>,
    /// The apply's Workspace after the step, if it is there.
    pub workspace: Option<&'facts WorkspaceFacts>,
    /// Now.
    pub now: &'facts Time,
}

/// The status of a network; `None` where nothing may be written.
pub fn status(report: Report<'_>) -> Option<CAPTClusterStatus> {
    let Report { network, step, workspace, now, .. } = report;
    let stamp = Stamp { generation: network.metadata.generation, now: now.clone() };
    let mut status = network.status.clone().unwrap_or_default();
    match step {
        Step::Leave => return None,
        Step::Pause(pause) => {
            let message = pause.message("CAPTCluster");
            let paused = condition(type_::PAUSED, Truth::True, Reason::Paused, &message, &stamp);
            upsert(&mut status.conditions, paused);
            return Some(status);
        }
        _ => {}
    }
    status.observed_generation = network.metadata.generation;
    status.failure_reason = None;
    status.failure_message = None;
    status.conditions.retain(|entry| !type_::LEGACY.contains(&entry.type_.as_str()));
    let read = workspace.map(|workspace| outputs::read(&workspace.outputs)).unwrap_or_default();
    follow_outputs(&mut status, report, &read);

    let statement = words::statement(report, status.vpc_id.as_deref(), &read.problems);
    let ready = statement.truth == Truth::True;
    status.ready = ready;
    let was = status.initialization.as_ref().is_some_and(|known| known.provisioned);
    status.initialization = Some(InfrastructureInitialization { provisioned: was || ready });
    follow_apply(&mut status, report, &statement);

    upsert(&mut status.conditions, condition(type_::PAUSED, Truth::False, Reason::NotPaused, "", &stamp));
    for name in [type_::READY, type_::VPC_READY] {
        let Statement { truth, reason, message } = &statement;
        upsert(&mut status.conditions, condition(name, *truth, *reason, message, &stamp));
    }
    Some(status)
}

/// What Terraform reported. An identifier that is missing for a moment is kept: others have it in use.
fn follow_outputs(status: &mut CAPTClusterStatus, report: Report<'_>, read: &Outputs) {
    if let Step::Use { vpc } = report.step {
        status.vpc_id = Some(vpc.clone());
    }
    if let Some(vpc) = &read.vpc {
        status.vpc_id = Some(vpc.clone());
    }
    if report.workspace.is_some_and(|workspace| !workspace.outputs.is_empty()) {
        status.failure_domains.clone_from(&read.failure_domains);
    }
}

/// What the apply reported. What was applied is told when it has succeeded, as earlier versions did: until then it would only
/// cost a write.
fn follow_apply(status: &mut CAPTClusterStatus, report: Report<'_>, statement: &Statement) {
    let Some(apply) = report.apply else {
        if let Some(known) = &mut status.workspace_template_status {
            known.ready = status.ready;
        }
        return;
    };
    let name = Some(tie::workspace_name(apply));
    status.vpc_workspace_name.clone_from(&name);
    let applied = apply.status.clone().unwrap_or_default();
    let revision = applied.template_generation.map(|generation| generation.to_string());
    let mut next = VpcApplyStatus {
        ready: status.ready,
        workspace_name: name,
        ..status.workspace_template_status.take().unwrap_or_default()
    };
    if status.ready {
        next.last_applied_revision = revision;
        next.last_applied_time = applied.last_applied_time;
        next.last_failed_revision = None;
        next.last_failure_message = None;
    } else if let Some(failure) = words::failure(report, statement) {
        next.last_failed_revision = revision;
        next.last_failure_message = Some(failure);
    }
    status.workspace_template_status = Some(next);
}

#[cfg(test)]
mod tests;
