//! The sentence about a network.

use capt_api::WorkspaceTemplateApply;
use capt_api::names::{Reason, condition as type_};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use super::Report;
use crate::apply::Blocked;
use crate::condition::{self, Statement, Truth};
use crate::network::decide::Step;
use crate::network::observed::{ControlPlane, WorkspaceFacts};

fn ready(message: impl Into<String>) -> Statement {
    Statement::new(Truth::True, Reason::NetworkReady, message)
}

fn not_ready(reason: Reason, message: impl Into<String>) -> Statement {
    Statement::new(Truth::False, reason, message)
}

/// What is said about the network. The Workspace's word counts where there is one: an apply that cannot be changed does not
/// make a running network unready.
pub(super) fn statement(report: Report<'_>, vpc: Option<&str>, problems: &[String]) -> Statement {
    let failed = report.outcome.as_ref().err();
    if report.step.takes_down() {
        return failed.map_or_else(|| taken_down(report), Statement::from);
    }
    let blocked = match report.step {
        Step::Hold(blocked) => Some(blocked),
        _ => failed,
    };
    if let Step::Use { vpc } = report.step {
        return ready(format!("VPC `{vpc}` was there already and is used as it is"));
    }
    match (is_running(report), blocked) {
        (true, blocked) => ready(running(report, vpc, problems, blocked)),
        (false, Some(blocked)) => blocked.into(),
        (false, None) => coming(report),
    }
}

fn is_running(report: Report<'_>) -> bool {
    let kept = report.apply.is_some_and(|apply| apply.metadata.deletion_timestamp.is_none());
    let runs = |workspace: &WorkspaceFacts| {
        !workspace.going && workspace.ready.as_ref().is_some_and(|verdict| verdict.holds)
    };
    let stays = report.network.metadata.deletion_timestamp.is_none();
    stays && kept && report.workspace.is_some_and(runs)
}

fn running(report: Report<'_>, vpc: Option<&str>, problems: &[String], blocked: Option<&Blocked>) -> String {
    let first = vpc.map_or_else(|| "the network is ready".to_owned(), |vpc| format!("VPC `{vpc}` is ready"));
    let behind = report.apply.and_then(|apply| {
        let applied =
            find(apply, type_::APPLIED).filter(|applied| applied.status == Truth::False.as_str())?;
        Some(format!("{}: {}", named(apply), applied.message))
    });
    let parts = [Some(first)].into_iter().chain(problems.iter().cloned().map(Some)).chain([
        last_attempt(report),
        behind,
        blocked.map(|blocked| blocked.message.clone()),
    ]);
    parts.flatten().collect::<Vec<_>>().join("; ")
}

/// A network that is on its way. How far Terraform has come is told by the Workspace; here only what holds it up is, so that
/// the status is not written with every step.
fn coming(report: Report<'_>) -> Statement {
    let Some(apply) = report.apply else {
        return not_ready(Reason::NetworkNotReady, "the network is about to be made");
    };
    if let Some((reason, message)) = word(apply) {
        return not_ready(reason, message);
    }
    let making = format!("{} makes the network", named(apply));
    let message =
        last_attempt(report).map_or_else(|| making.clone(), |attempt| format!("{making}; {attempt}"));
    not_ready(Reason::NetworkNotReady, message)
}

fn taken_down(report: Report<'_>) -> Statement {
    match report.step {
        Step::AwaitControlPlanes(control_planes) => {
            not_ready(Reason::WaitingForControlPlane, awaited(control_planes))
        }
        Step::DeleteApply { name } | Step::AwaitDeletion { name } => {
            let told = report.apply.and_then(word);
            let (reason, message) = told.unwrap_or_else(|| {
                (Reason::Deleting, format!("WorkspaceTemplateApply `{name}` is being deleted"))
            });
            not_ready(reason, message)
        }
        _ => not_ready(Reason::Deleting, "this CAPTCluster is being deleted"),
    }
}

fn awaited(control_planes: &[ControlPlane]) -> String {
    let list = |going: bool| {
        let names = control_planes.iter().filter(|entry| entry.going == going);
        names.map(|entry| format!("`{}`", entry.name)).collect::<Vec<_>>().join(", ")
    };
    let all = [list(true), list(false)].into_iter().filter(|names| !names.is_empty()).collect::<Vec<_>>();
    let first = format!("the network is taken down when its control planes are gone: {}", all.join(", "));
    match list(false) {
        staying if staying.is_empty() => first,
        staying => format!(
            "{first}; not being deleted yet: {staying}: delete the Cluster, or these CAPTControlPlanes"
        ),
    }
}

/// What holds an apply up, in its own words, so that the cause is seen at the top. Mere progress is not among it.
fn word(apply: &WorkspaceTemplateApply) -> Option<(Reason, String)> {
    let told = |condition: &Condition| format!("{}: {}", named(apply), condition.message);
    let paused = find(apply, type_::PAUSED).filter(|paused| paused.status == Truth::True.as_str());
    if let Some(paused) = paused {
        return Some((Reason::Paused, told(paused)));
    }
    let ready = find(apply, type_::READY).filter(|ready| ready.status != Truth::True.as_str())?;
    match Reason::find(&ready.reason).unwrap_or(Reason::NetworkNotReady) {
        Reason::WorkspaceNotReady | Reason::WorkspaceMissing | Reason::Deleting => None,
        reason => Some((reason, told(ready))),
    }
}

/// What went wrong when the Workspace was brought in line last.
fn last_attempt(report: Report<'_>) -> Option<String> {
    let synced = report.workspace?.synced.as_ref().filter(|synced| !synced.holds)?;
    let why = if synced.message.is_empty() { &synced.reason } else { &synced.message };
    Some(format!("last attempt: {why}"))
}

/// Why the apply did not succeed, if it is more than a wait.
pub(super) fn failure(report: Report<'_>, statement: &Statement) -> Option<String> {
    let trouble = statement.reason.is_trouble() || last_attempt(report).is_some();
    trouble.then(|| statement.message.clone())
}

fn find<'apply>(apply: &'apply WorkspaceTemplateApply, type_: &str) -> Option<&'apply Condition> {
    condition::find(&apply.status.as_ref()?.conditions, type_)
}

fn named(apply: &WorkspaceTemplateApply) -> String {
    format!("WorkspaceTemplateApply `{}`", apply.metadata.name.as_deref().unwrap_or_default())
}
