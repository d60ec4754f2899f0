//! Tells what came of a reconcile: status and Events, on every exit.

use capt_api::WorkspaceTemplateApply;
use capt_core::apply::decide::{Step, WorkspaceFacts};
use capt_core::apply::status::{self, Effect, Report};
use capt_core::tie::{self, ApplyKey};
use kube::{Api, ResourceExt};

use super::act::Done;
use super::observe;
use crate::context::{Context, now};
use crate::error::Error;
use crate::events;
use crate::write;

/// Writes the status if it has changed, publishes Events, and hands on what went wrong.
pub(super) async fn report(
    apply: &WorkspaceTemplateApply,
    step: &Step,
    template_generation: Option<i64>,
    done: Result<Done, Error>,
    context: &Context,
) -> Result<(), Error> {
    let outcome = match &done {
        Ok(Done::Written { generation }) => Ok(Effect::Written { generation: *generation }),
        Ok(Done::Waited | Done::Again | Done::Released) => Ok(Effect::Nothing),
        Err(error) => Err(error.blocked()),
    };
    let workspace = workspace(apply, step, context);
    let now = now();
    let facts = Report {
        apply,
        step,
        outcome: &outcome,
        workspace: workspace.as_ref(),
        template_generation,
        now: &now,
    };
    let told = if matches!(done, Ok(Done::Released)) {
        events::publish_done(context, apply, facts).await;
        Ok(())
    } else {
        tell(apply, facts, context).await
    };
    done.and(told)
}

/// The Workspace as it is after the step, if it is ours and we may look at it.
fn workspace(apply: &WorkspaceTemplateApply, step: &Step, context: &Context) -> Option<WorkspaceFacts> {
    if matches!(step, Step::Leave | Step::Pause(_)) {
        return None;
    }
    observe::workspace_facts(&tie::workspace_name(apply), context)
        .filter(|facts| tie::is_of(&facts.metadata, apply))
}

async fn tell(apply: &WorkspaceTemplateApply, facts: Report<'_>, context: &Context) -> Result<(), Error> {
    let Some(next) = status::status(facts) else { return Ok(()) };
    events::publish(context, apply, &status::notes(facts, &next)).await;
    if apply.status.as_ref() == Some(&next) {
        return Ok(());
    }
    let namespace = apply.namespace().unwrap_or_default();
    let applies: Api<WorkspaceTemplateApply> = Api::namespaced(context.client.clone(), &namespace);
    let doing = format!("writing the status of WorkspaceTemplateApply `{}`", ApplyKey::of(apply));
    if let Some(written) = Error::unless_gone(write::apply_status(&applies, apply, &next, &doing).await)? {
        context.applies.remember(written);
    }
    Ok(())
}
