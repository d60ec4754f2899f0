//! The driver of `WorkspaceTemplateApply`: observe → decide → act → report.

mod act;
mod observe;
mod report;
mod secret_file;
mod sources;

use std::sync::Arc;
use std::time::Instant;

use capt_api::WorkspaceTemplateApply;
use capt_core::apply::decide::{Step, decide};
use k8s_openapi::api::rbac::v1::PolicyRule;
use kube::runtime::controller::Action;

use act::Done;
pub(crate) use observe::facts;

use crate::context::Context;
use crate::error::Error;
use crate::metrics::{Kind, Outcome};
use crate::rbac::rule;
use crate::store::key_of;

/// A claim is followed by a write in the same reconcile; more rounds than this mean that somebody works against us.
const MOST_ROUNDS: u32 = 4;

/// What this driver needs permission for.
pub(crate) fn rules() -> Vec<PolicyRule> {
    let infrastructure = capt_api::names::group::INFRASTRUCTURE;
    vec![
        rule(infrastructure, &["workspacetemplateapplies"], &["get", "list", "watch", "patch"]),
        rule(infrastructure, &["workspacetemplateapplies/status"], &["patch"]),
        rule(infrastructure, &["workspacetemplateapplies/finalizers"], &["update"]),
        rule(infrastructure, &["workspacetemplates"], &["get", "list", "watch"]),
        rule(
            capt_api::names::group::TERRAFORM,
            &["workspaces"],
            &["get", "list", "watch", "create", "patch", "delete"],
        ),
        rule(capt_api::names::group::CLUSTER, &["clusters"], &["get", "list", "watch"]),
        rule("", &["secrets"], &["get", "list", "watch", "create", "patch", "delete"]),
        rule("", &["configmaps", "namespaces"], &["get", "list", "watch"]),
    ]
}

/// Brings one apply in line.
pub(crate) async fn reconcile(apply: WorkspaceTemplateApply, context: Arc<Context>) -> Result<Action, Error> {
    let started = Instant::now();
    let key = key_of(&apply.metadata);
    let result = rounds(apply, &context).await;
    let outcome = match &result {
        Ok(Step::Settled { .. }) => Outcome::Settled,
        Ok(_) => Outcome::Waiting,
        Err(_) => Outcome::Failed,
    };
    context.metrics.reconciled(Kind::WorkspaceTemplateApply, outcome, started.elapsed());
    match result {
        Ok(_) => {
            context.attempts.succeeded(Kind::WorkspaceTemplateApply, key);
            Ok(Action::await_change())
        }
        Err(error) => {
            context.metrics.failed(Kind::WorkspaceTemplateApply, error.reason());
            Err(error)
        }
    }
}

async fn rounds(mut apply: WorkspaceTemplateApply, context: &Context) -> Result<Step, Error> {
    let mut round = 1;
    loop {
        apply = context.applies.newest(apply);
        let seen = observe::observe(&apply, context).await;
        let template_generation = seen.as_ref().ok().and_then(|seen| seen.template_generation);
        let step = match &seen {
            Ok(seen) => decide(&apply, &seen.observed),
            Err(error) => Step::Hold(error.blocked()),
        };
        let done = match &seen {
            Ok(seen) => act::act(&apply, &step, seen, context).await,
            Err(_) => seen.map(|_| Done::Waited),
        };
        if matches!(done, Ok(Done::Again)) && round < MOST_ROUNDS {
            round += 1;
            continue;
        }
        report::report(&apply, &step, template_generation, done, context).await?;
        return Ok(step);
    }
}
