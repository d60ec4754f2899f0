//! The driver of `Cluster`, where CAPT looks after Clusters itself: observe → decide → act → report.

mod act;
mod observe;
mod report;
mod serving;

use std::sync::Arc;
use std::time::Instant;

use capt_api::Cluster;
use capt_api::names::{group, label};
use capt_core::cluster::decide::{Step, decide};
use k8s_openapi::api::rbac::v1::PolicyRule;
use kube::ResourceExt;
use kube::runtime::controller::Action;

use act::Done;

use crate::context::{A_MOMENT, Context};
use crate::error::Error;
use crate::index::Dependent;
use crate::metrics::{Kind, Outcome};
use crate::rbac::rule;
use crate::store::key_of;

pub(crate) use serving::{Serving, follow_kinds, follow_owner};

/// Claim, two marks and the endpoint may follow each other in one reconcile; more rounds mean that somebody works against us.
const MOST_ROUNDS: u32 = 6;

/// What this driver needs permission for.
pub(crate) fn rules() -> Vec<PolicyRule> {
    let (network, control_plane) = (["captclusters"], ["captcontrolplanes"]);
    vec![
        rule(group::CLUSTER, &["clusters"], &["get", "list", "watch", "patch"]),
        rule(group::CLUSTER, &["clusters/status"], &["patch"]),
        // Whoever makes an object block its owner's deletion must be able to block that himself.
        rule(group::CLUSTER, &["clusters/finalizers"], &["update"]),
        rule(group::INFRASTRUCTURE, &network, &["get", "list", "watch", "patch", "delete"]),
        rule(group::CONTROL_PLANE, &control_plane, &["get", "list", "watch", "patch", "delete"]),
    ]
}

/// Brings one Cluster in line, if that is for us to do.
pub(crate) async fn reconcile(cluster: Cluster, context: Arc<Context>) -> Result<Action, Error> {
    let started = Instant::now();
    let key = key_of(&cluster.metadata);
    if !context.cluster_serving.is_ours() || !is_for_us(&cluster, &context) {
        context.index.forget(&Dependent::Cluster(key.clone()));
        context.attempts.succeeded(Kind::Cluster, key);
        return Ok(Action::await_change());
    }
    let result = rounds(cluster, &context).await;
    let outcome = match &result {
        Ok((Step::Settled, _)) => Outcome::Settled,
        Ok(_) => Outcome::Waiting,
        Err(_) => Outcome::Failed,
    };
    context.metrics.reconciled(Kind::Cluster, outcome, started.elapsed());
    match result {
        Ok((_, next)) => {
            context.attempts.succeeded(Kind::Cluster, key);
            Ok(next)
        }
        Err(error) => {
            context.metrics.failed(Kind::Cluster, error.reason());
            Err(error)
        }
    }
}

/// Whether the Cluster carries the label that the manager was told, as the objects it refers to must.
fn is_for_us(cluster: &Cluster, context: &Context) -> bool {
    let wanted = context.options.watch_filter.as_ref();
    wanted.is_none_or(|wanted| cluster.labels().get(label::WATCH_FILTER) == Some(wanted))
}

async fn rounds(mut cluster: Cluster, context: &Context) -> Result<(Step, Action), Error> {
    let mut round = 1;
    loop {
        cluster = context.clusters.newest(cluster);
        let seen = observe::observe(&cluster, context);
        let step = decide(&cluster, &seen);
        let done = act::act(&cluster, &step, context).await;
        if matches!(done, Ok(Done::Again)) && round < MOST_ROUNDS {
            round += 1;
            continue;
        }
        // What was just taken hold of for the first time mostly has more to tell in a moment.
        if round > 1 && step == Step::Settled && cluster.status.is_none() {
            return Ok((step, Action::requeue(A_MOMENT)));
        }
        report::report(&cluster, &seen, &step, done, context).await?;
        return Ok((step, Action::await_change()));
    }
}
