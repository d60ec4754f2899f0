//! The driver of `CAPTCluster`: observe → decide → act → report.

mod act;
mod observe;
mod report;

use std::sync::Arc;
use std::time::Instant;

use capt_api::CAPTCluster;
use capt_api::names::group;
use capt_core::network::decide::{Step, decide};
use k8s_openapi::api::rbac::v1::PolicyRule;
use kube::runtime::controller::Action;

use act::Done;

use crate::context::Context;
use crate::error::Error;
use crate::metrics::{Kind, Outcome};
use crate::rbac::rule;
use crate::store::key_of;

/// A claim is followed by a write in the same reconcile; more rounds than this mean that somebody works against us.
const MOST_ROUNDS: u32 = 4;

/// What this driver needs permission for.
pub(crate) fn rules() -> Vec<PolicyRule> {
    vec![
        rule(group::INFRASTRUCTURE, &["captclusters"], &["get", "list", "watch", "patch"]),
        rule(group::INFRASTRUCTURE, &["captclusters/status"], &["patch"]),
        rule(group::INFRASTRUCTURE, &["captclusters/finalizers"], &["update"]),
        rule(
            group::INFRASTRUCTURE,
            &["workspacetemplateapplies"],
            &["get", "list", "watch", "create", "patch", "delete"],
        ),
        rule(group::CONTROL_PLANE, &["captcontrolplanes"], &["get", "list", "watch"]),
        rule(group::TERRAFORM, &["workspaces"], &["get", "list", "watch"]),
        rule(group::CLUSTER, &["clusters"], &["get", "list", "watch"]),
    ]
}

/// Brings one network in line.
pub(crate) async fn reconcile(network: CAPTCluster, context: Arc<Context>) -> Result<Action, Error> {
    let started = Instant::now();
    let key = key_of(&network.metadata);
    let result = rounds(network, &context).await;
    let outcome = match &result {
        Ok(Step::Settled { .. } | Step::Use { .. }) => Outcome::Settled,
        Ok(_) => Outcome::Waiting,
        Err(_) => Outcome::Failed,
    };
    context.metrics.reconciled(Kind::CAPTCluster, outcome, started.elapsed());
    match result {
        Ok(_) => {
            context.attempts.succeeded(Kind::CAPTCluster, key);
            Ok(Action::await_change())
        }
        Err(error) => {
            context.metrics.failed(Kind::CAPTCluster, error.reason());
            Err(error)
        }
    }
}

async fn rounds(mut network: CAPTCluster, context: &Context) -> Result<Step, Error> {
    let mut round = 1;
    loop {
        network = context.networks.newest(network);
        let seen = observe::observe(&network, context);
        let step = match &seen {
            Ok(seen) => decide(&network, seen),
            Err(error) => Step::Hold(error.blocked()),
        };
        let done = match seen {
            Ok(seen) => act::act(&network, &step, &seen, context).await,
            Err(error) => Err(error),
        };
        if matches!(done, Ok(Done::Again)) && round < MOST_ROUNDS {
            round += 1;
            continue;
        }
        report::report(&network, &step, done, context).await?;
        return Ok(step);
    }
}
