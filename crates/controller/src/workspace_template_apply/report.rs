//! Tells what came of a reconcile: status and Events, on every exit.

use capt_api::WorkspaceTemplateApply;
use capt_core::apply::Blocked;
use capt_core::apply::decide::{Observed, Step, WorkspaceFacts};
use capt_core::apply::status::{self, Effect, Report};
use capt_core::tie::{self, ApplyKey};
use kube::{Api, ResourceExt};

use super::act::Done;
use super::observe::{self, Seen};
use crate::context::{Context, now};
use crate::error::Error;
use crate::events;
use crate::write;

/// Writes the status if it has changed, publishes Events, and hands on what went wrong.
pub(super) async fn report(
    apply: &WorkspaceTemplateApply,
    step: Option<Step>,
    seen: Result<Seen, Error>,
    done: Result<Done, Error>,
    context: &Context,
) -> Result<Step, Error> {
    let (seen, trouble) = match seen {
        Ok(seen) => (Some(seen), None),
        Err(error) => (None, Some(error)),
    };
    let (done, trouble) = match done {
        Ok(done) => (Some(done), trouble),
        Err(error) => (None, Some(error)),
    };
    let outcome = match (&trouble, &done) {
        (Some(error), _) => Err(Blocked::new(error.reason(), error.sentence())),
        (None, Some(Done::Written { generation })) => Ok(Effect::Written { generation: *generation }),
        (None, _) => Ok(Effect::Nothing),
    };
    let blind = Step::Hold(Blocked::new(capt_api::names::Reason::ApiError, String::new()));
    let workspace = workspace(apply, seen.as_ref(), context);
    let now = now();
    let facts = Report {
        apply,
        step: step.as_ref().unwrap_or(&blind),
        outcome: &outcome,
        workspace: workspace.as_ref(),
        template_generation: seen.as_ref().and_then(|seen| seen.template_generation),
        now: &now,
    };
    let told = if matches!(done, Some(Done::Released)) {
        events::publish_done(context, apply, facts).await;
        Ok(())
    } else {
        tell(apply, facts, context).await
    };
    match (trouble, step) {
        (Some(error), _) => Err(error),
        (None, Some(step)) => told.map(|()| step),
        (None, None) => told.map(|()| blind),
    }
}

/// The Workspace as it is after the step, if it is ours.
fn workspace(
    apply: &WorkspaceTemplateApply,
    seen: Option<&Seen>,
    context: &Context,
) -> Option<WorkspaceFacts> {
    if seen.is_some_and(|seen| matches!(seen.observed, Observed::ExternallyManaged | Observed::Paused(_))) {
        return None;
    }
    observe::workspace_facts(&tie::workspace_name(apply), context)
        .filter(|facts| observe::is_ours(apply, facts))
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
    match write::apply_status(&applies, apply, &next, &doing).await {
        Ok(written) => {
            context.applies.remember(written);
            Ok(())
        }
        Err(error) if error.is_not_found() => Ok(()),
        Err(error) => Err(error),
    }
}
