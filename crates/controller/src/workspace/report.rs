//! Tells what came of a reconcile: status and Events, on every exit.

use capt_api::Workspace;
use capt_api::engine_status::{PlanStatus, StateStatus};
use capt_api::names::Reason;
use capt_core::workspace::backend;
use capt_core::workspace::decide::Step;
use capt_core::workspace::observed::{Ending, State};
use capt_core::workspace::status::{self, Effect, Report};
use kube::{Api, ResourceExt};

use super::act::Done;
use super::observe::Seen;
use super::{Terraform, plan_text};
use crate::context::{Context, to_the_second};
use crate::error::Error;
use crate::events;
use crate::metrics::WorkspaceState;
use crate::write;

/// Writes the status if it has changed, publishes Events, and hands on what went wrong.
pub(super) async fn report(
    workspace: &Workspace,
    step: &Step,
    seen: Option<&Seen>,
    done: Result<Done, Error>,
    context: &Context,
    terraform: &Terraform,
) -> Result<(), Error> {
    let uid = workspace.uid().unwrap_or_default();
    let outcome = match &done {
        Ok(Done::Told(effect)) => Ok(effect.clone()),
        Ok(Done::Blocked(blocked)) => Err(blocked.clone()),
        Ok(Done::Again | Done::Released) => Ok(Effect::Nothing),
        Err(error) => Err(error.blocked()),
    };
    let now = to_the_second(terraform.now());
    let run = terraform.runs.going(&uid).map(|going| going.status());
    let plan = seen.and_then(plan);
    let state = seen.and_then(state);
    let tool = terraform.options.engine.version().to_string();
    let facts = Report {
        workspace,
        step,
        outcome: &outcome,
        run: run.as_ref(),
        plan: plan.as_ref(),
        state: state.as_ref(),
        interrupted: seen
            .and_then(|seen| seen.interrupted.as_ref())
            .map(|interrupted| interrupted.calls.as_slice()),
        tool: &tool,
        now: &now,
    };
    events::publish(context, workspace, &terraform.runs.take_notes(&uid)).await;
    let told = if matches!((&done, step), (Ok(Done::Released), _) | (Ok(_), Step::Pass(_))) {
        let notes: Vec<_> = status::done(facts).into_iter().collect();
        events::publish(context, workspace, &notes).await;
        Ok(())
    } else {
        tell(workspace, facts, context, terraform).await
    };
    done.map(drop).and(told)
}

async fn tell(
    workspace: &Workspace,
    facts: Report<'_>,
    context: &Context,
    terraform: &Terraform,
) -> Result<(), Error> {
    let Some(mut next) = status::status(facts) else { return Ok(()) };
    context.metrics.workspace_is(&workspace.name_any(), Some(WorkspaceState::of(&next.conditions)));
    events::publish(context, workspace, &status::notes(facts, &next)).await;
    terraform.serving.borrow().fields().trim(&mut next);
    if workspace.status.as_ref() == Some(&next) {
        return Ok(());
    }
    let workspaces: Api<Workspace> = Api::all(context.client.clone());
    let doing = format!("writing the status of Workspace `{}`", workspace.name_any());
    let may_be_answered =
        matches!(facts.step, Step::Hold { blocked, .. } if blocked.reason == Reason::HandoverUnanswered);
    let written = if may_be_answered {
        // An answer that came meanwhile must not be written over: Crossplane gives it once.
        write::apply_status_as_seen(&workspaces, workspace, &next, &doing).await
    } else {
        write::apply_status(&workspaces, workspace, &next, &doing).await
    };
    if let Some(mut written) = Error::unless_gone(written)? {
        crate::watches::trim_workspace(&mut written);
        context.workspaces.remember(written);
    }
    Ok(())
}

/// The plan at hand.
fn plan(seen: &Seen) -> Option<PlanStatus> {
    let over = seen.over.as_ref()?;
    let Ending::Planned(planned) = &over.ended.result else { return None };
    Some(PlanStatus {
        hash: planned.hash.clone(),
        summary: planned.summary.clone(),
        config_map: seen.place.as_ref().map(plan_text::full_name),
    })
}

/// Where the state is, as far as it was looked for.
fn state(seen: &Seen) -> Option<StateStatus> {
    let place = seen.place.as_ref()?;
    if let Some(found) = &seen.found {
        return match found.state {
            State::Present { .. } => Some(StateStatus {
                backend: "kubernetes".to_owned(),
                secret: Some(place.state_title()),
                bytes: Some(found.bytes),
            }),
            State::Absent | State::Elsewhere | State::NotOurs { .. } => None,
        };
    }
    let backend =
        backend::kind(seen.record.memory.elsewhere.as_deref().unwrap_or(backend::DECLARED)).to_owned();
    seen.resolved.as_ref().map(|_| StateStatus { backend, secret: None, bytes: None })
}
