//! What to tell about an apply: its status and Events, computed from what was decided and what came of it.

use capt_api::WorkspaceTemplateApply;
use capt_api::names::{Reason, condition as type_};
use capt_api::workspace_template_apply::WorkspaceTemplateApplyStatus;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::Blocked;
use super::decide::{Mode, Step, WorkspaceFacts};
use crate::condition::{Stamp, Statement, Truth, condition, find, upsert};
use crate::note::{GOES_ON, is_same_to_people};
use crate::tie;

pub use crate::note::Note;

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing was written to the Workspace.
    Nothing,
    /// The Workspace was written and has this generation now.
    Written {
        /// The generation.
        generation: Option<i64>,
    },
}

/// Everything that the status is computed from.
#[derive(Clone, Copy, Debug)]
pub struct Report<'facts> {
    /// The apply as it was read.
    pub apply: &'facts WorkspaceTemplateApply,
    /// What was decided.
    pub step: &'facts Step,
    /// What came of it.
    pub outcome: &'facts Result<Effect, Blocked>,
    /// The Workspace after the step, if it is there and ours.
    pub workspace: Option<&'facts WorkspaceFacts>,
    /// The generation of the template.
    pub template_generation: Option<i64>,
    /// Now.
    pub now: &'facts Time,
}

/// The status of an apply; `None` where nothing may be written.
pub fn status(report: Report<'_>) -> Option<WorkspaceTemplateApplyStatus> {
    let Report { apply, step, outcome, workspace, template_generation, now } = report;
    let stamp = Stamp { generation: apply.metadata.generation, now: now.clone() };
    let mut status = apply.status.clone().unwrap_or_default();
    match step {
        Step::Leave => return None,
        Step::Pause(pause) => {
            let message = pause.message("WorkspaceTemplateApply");
            upsert(
                &mut status.conditions,
                condition(type_::PAUSED, Truth::True, Reason::Paused, &message, &stamp),
            );
            return Some(status);
        }
        _ => {}
    }
    status.observed_generation = apply.metadata.generation;
    status.pending_digest = None;
    upsert(&mut status.conditions, condition(type_::PAUSED, Truth::False, Reason::NotPaused, "", &stamp));

    if let (Step::Write { rendered, .. }, Ok(Effect::Written { generation })) = (step, outcome) {
        status.workspace_generation = *generation;
        status.last_applied_time = Some(now.clone());
        status.applied_digest = Some(rendered.digest.clone());
        status.template_generation = template_generation;
    }
    // A template whose change does not reach the Workspace (a new description) has been carried over all the same.
    if let Step::Settled { .. } = step {
        status.template_generation = template_generation;
    }
    if let Step::HoldChange { pending, .. } | Step::TakeOver { pending, .. } = step {
        status.pending_digest = Some(pending.clone());
    }
    status.applied = workspace.is_some();
    if let Some(workspace) = workspace {
        status.workspace_name = Some(workspace.name().to_owned());
    }
    let applied = applied(report);
    let ready = ready(step, &applied, workspace);
    upsert(&mut status.conditions, applied.into_condition(type_::APPLIED, &stamp));
    upsert(&mut status.conditions, ready.into_condition(type_::READY, &stamp));
    upsert(&mut status.conditions, synced(workspace).into_condition(type_::SYNCED, &stamp));
    Some(status)
}

fn applied(report: Report<'_>) -> Statement {
    let Report { apply, step, outcome, workspace, .. } = report;
    if let Err(blocked) = outcome {
        return blocked.into();
    }
    match step {
        Step::Hold(blocked) | Step::HoldChange { blocked, .. } | Step::TakeOver { blocked, .. } => {
            blocked.into()
        }
        Step::Write { rendered, .. } | Step::Settled { rendered } => {
            let message = if rendered.ignored.is_empty() || is_offered(apply) {
                String::new()
            } else {
                format!(
                    "the module does not declare these variables, and they are left out: {}",
                    rendered.ignored.join(", ")
                )
            };
            Statement::new(Truth::True, Reason::UpToDate, message)
        }
        Step::Claim(record) => Statement::new(
            Truth::False,
            Reason::WorkspaceMissing,
            format!("Workspace `{}` is about to be made", record.workspace),
        ),
        Step::Note(_) => {
            let message = "what Crossplane does with the Workspace is about to be noted";
            Statement::new(Truth::False, Reason::WorkspaceMissing, message)
        }
        Step::AwaitDependents(dependents) => {
            let names = dependents.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
            let name = workspace.map_or("", WorkspaceFacts::name);
            Statement::new(
                Truth::False,
                Reason::WaitingForDependents,
                format!(
                    "Workspace `{name}` is destroyed when these applies, which use it, are gone: {names}"
                ),
            )
        }
        Step::DeleteWorkspace { name, .. } | Step::AwaitDeletion { name } => {
            Statement::new(Truth::False, Reason::Deleting, format!("Workspace `{name}` is being destroyed"))
        }
        Step::Leave | Step::Pause(_) | Step::LetGo { .. } | Step::Retain { .. } | Step::Finish => {
            Statement::new(Truth::False, Reason::Deleting, "this apply is being deleted")
        }
    }
}

/// Whether the variables are an offer, as a network or control plane makes it, from which a module takes what it likes.
fn is_offered(apply: &WorkspaceTemplateApply) -> bool {
    let owners = apply.metadata.owner_references.iter().flatten();
    owners.into_iter().any(|owner| ["CAPTCluster", "CAPTControlPlane"].contains(&owner.kind.as_str()))
}

/// The Workspace's word counts where there is one: a template that is gone does not make a running cluster unready.
fn ready(step: &Step, applied: &Statement, workspace: Option<&WorkspaceFacts>) -> Statement {
    let Some(workspace) = workspace.filter(|workspace| !is_going(step, workspace)) else {
        return match applied.truth {
            Truth::True => {
                Statement::new(Truth::False, Reason::WorkspaceNotReady, "the Workspace has not reported yet")
            }
            Truth::False | Truth::Unknown => {
                Statement::new(Truth::False, applied.reason, applied.message.clone())
            }
        };
    };
    let name = workspace.name();
    let trouble = workspace.synced.as_ref().filter(|synced| !synced.holds && !synced.message.is_empty());
    let trouble = trouble.map_or_else(String::new, |synced| format!("; last attempt: {}", synced.message));
    match &workspace.ready {
        Some(verdict) if verdict.holds => {
            let held = matches!(step, Step::HoldChange { .. } | Step::TakeOver { .. });
            let behind = if held { "; a change is held back" } else { "" };
            Statement::new(
                Truth::True,
                Reason::WorkspaceReady,
                format!("Workspace `{name}` is ready{behind}{trouble}"),
            )
        }
        Some(verdict) => {
            let why = if verdict.message.is_empty() { &verdict.reason } else { &verdict.message };
            Statement::new(
                Truth::False,
                Reason::WorkspaceNotReady,
                format!("Workspace `{name}` is not ready: {why}{trouble}"),
            )
        }
        None => Statement::new(
            Truth::False,
            Reason::WorkspaceNotReady,
            format!("Workspace `{name}` has not reported yet whether it is ready{trouble}"),
        ),
    }
}

/// What is being taken down is not ready, whatever it says and whatever goes wrong on the way.
fn is_going(step: &Step, workspace: &WorkspaceFacts) -> bool {
    match step {
        Step::LetGo { .. }
        | Step::Retain { .. }
        | Step::AwaitDependents(_)
        | Step::DeleteWorkspace { .. }
        | Step::AwaitDeletion { .. }
        | Step::Finish => true,
        Step::Leave
        | Step::Pause(_)
        | Step::Claim(_)
        | Step::Note(_)
        | Step::Hold(_)
        | Step::HoldChange { .. }
        | Step::TakeOver { .. }
        | Step::Write { .. }
        | Step::Settled { .. } => workspace.metadata.deletion_timestamp.is_some(),
    }
}

fn synced(workspace: Option<&WorkspaceFacts>) -> Statement {
    match workspace.and_then(|workspace| workspace.synced.as_ref()) {
        Some(verdict) if verdict.holds => {
            Statement::new(Truth::True, Reason::UpToDate, verdict.message.clone())
        }
        Some(verdict) => {
            let why = if verdict.message.is_empty() { &verdict.reason } else { &verdict.message };
            Statement::new(Truth::False, Reason::WorkspaceNotReady, why.clone())
        }
        None => {
            Statement::new(Truth::Unknown, Reason::WorkspaceNotReady, "the Workspace has not reported yet")
        }
    }
}

/// The Events that a reconcile gives rise to: what was done, and conditions that changed.
pub fn notes(report: Report<'_>, next: &WorkspaceTemplateApplyStatus) -> Vec<Note> {
    let mut notes = Vec::new();
    notes.extend(done(report));
    for name in [type_::APPLIED, type_::READY, type_::PAUSED] {
        let before = report.apply.status.as_ref().and_then(|status| find(&status.conditions, name));
        let Some(after) = find(&next.conditions, name) else { continue };
        let same = before.is_some_and(|before| is_same_to_people(before, after));
        let first_and_dull =
            before.is_none() && (name == type_::PAUSED) == (after.status == Truth::False.as_str());
        // A Workspace that is not ready yet is no news; one that no longer is, is.
        let was_true = before.is_some_and(|before| before.status == Truth::True.as_str());
        if let Some(reason) = Reason::find(&after.reason)
            && !same
            && !first_and_dull
            && !notes.iter().any(|note| note.reason == reason)
            && reason != Reason::UpToDate
            && (was_true || reason != Reason::WorkspaceNotReady)
        {
            let message =
                if reason == Reason::NotPaused { GOES_ON.to_owned() } else { after.message.clone() };
            notes.push(Note { warning: reason.is_trouble(), reason, message });
        }
    }
    notes
}

/// What was done, where it is worth an Event by itself.
pub fn done(report: Report<'_>) -> Option<Note> {
    let note = |reason, message| Some(Note { warning: false, reason, message });
    let name = || tie::workspace_name(report.apply);
    report.outcome.as_ref().ok()?;
    match report.step {
        Step::Write { mode: Mode::Create, .. } => {
            note(Reason::WorkspaceCreated, format!("created Workspace `{}`", name()))
        }
        Step::Write { mode: Mode::Adopt { .. }, .. } => {
            note(Reason::WorkspaceAdopted, format!("took over Workspace `{}`", name()))
        }
        Step::TakeOver { mode: Mode::Adopt { .. }, .. } => {
            note(Reason::WorkspaceAdopted, format!("took over Workspace `{}` as it is", name()))
        }
        Step::Write { mode: Mode::Update { .. }, rendered } => {
            let before = report.apply.status.as_ref().and_then(|status| status.applied_digest.as_ref());
            (before != Some(&rendered.digest)).then(|| Note {
                warning: false,
                reason: Reason::WorkspaceUpdated,
                message: format!("updated Workspace `{}`", name()),
            })
        }
        Step::Retain { workspace } => note(
            Reason::WorkspaceRetained,
            format!("Workspace `{workspace}` stays, as spec.retainWorkspaceOnDelete says"),
        ),
        Step::LetGo { workspace: Some(workspace) } => note(
            Reason::WorkspaceMoved,
            format!("this apply lives on in another cluster; Workspace `{workspace}` is frozen here"),
        ),
        Step::Leave
        | Step::Pause(_)
        | Step::LetGo { workspace: None }
        | Step::AwaitDependents(_)
        | Step::DeleteWorkspace { .. }
        | Step::AwaitDeletion { .. }
        | Step::Finish
        | Step::Claim(_)
        | Step::Note(_)
        | Step::Hold(_)
        | Step::HoldChange { .. }
        | Step::TakeOver { .. }
        | Step::Settled { .. } => None,
    }
}

#[cfg(test)]
mod tests;
