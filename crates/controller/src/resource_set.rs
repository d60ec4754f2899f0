//! The driver of `ClusterResourceSet`, where CAPT looks after those itself: observe → decide → act → report.
//!
//! What is brought to a cluster is a task of its own, so that a cluster that is slow or does not answer holds up no other.

mod act;
mod binding;
mod memory;
mod observe;
mod report;
mod serve;

use std::sync::Arc;
use std::time::{Duration, Instant};

use capt_api::ClusterResourceSet;
use capt_api::names::{group, label};
use capt_core::resource_set::decide::{Step, Word, decide};
use k8s_openapi::api::rbac::v1::PolicyRule;
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;
use kube::runtime::controller::Action;

use act::Done;
pub(crate) use memory::ResourceSetMemories;

use crate::context::Context;
use crate::error::Error;
use crate::index::Dependent;
use crate::metrics::{Kind, Outcome};
use crate::rbac::rule;
use crate::store::key_of;

/// A claim and what is brought follow each other in one reconcile, and content may change meanwhile.
const MOST_ROUNDS: u32 = 4;
/// How soon a set that is being deleted is looked at again while something is still on its way.
const STOPPING: Duration = Duration::from_secs(1);

/// What this driver needs permission for.
pub(crate) fn rules() -> Vec<PolicyRule> {
    vec![
        rule(group::ADDONS, &["clusterresourcesets"], &["get", "list", "watch", "patch"]),
        rule(group::ADDONS, &["clusterresourcesets/status"], &["patch"]),
        rule(
            group::ADDONS,
            &["clusterresourcesetbindings"],
            &["get", "list", "watch", "create", "patch", "delete"],
        ),
        rule(group::CLUSTER, &["clusters"], &["get", "list", "watch"]),
        rule("", &["secrets", "configmaps"], &["get", "list", "watch"]),
    ]
}

/// Brings one set in line, if that is for us to do.
pub(crate) async fn reconcile(set: ClusterResourceSet, context: Arc<Context>) -> Result<Action, Error> {
    let started = Instant::now();
    let key = key_of(&set.metadata);
    if !context.cluster_serving.is_ours() || !is_for_us(&set, &context) {
        context.index.forget(&Dependent::ResourceSet(key.clone()));
        context.resource_set_memories.stop(&set);
        context.attempts.succeeded(Kind::ClusterResourceSet, key);
        return Ok(Action::await_change());
    }
    let result = rounds(set, &context).await;
    let outcome = match &result {
        Ok(step) if is_settled(step) => Outcome::Settled,
        Ok(_) => Outcome::Waiting,
        Err(_) => Outcome::Failed,
    };
    context.metrics.reconciled(Kind::ClusterResourceSet, outcome, started.elapsed());
    match result {
        Ok(step) => {
            context.attempts.succeeded(Kind::ClusterResourceSet, key);
            Ok(next(&step, context.now()))
        }
        Err(error) => {
            context.metrics.failed(Kind::ClusterResourceSet, error.reason());
            Err(error)
        }
    }
}

/// Whether the set carries the label that the manager was told.
fn is_for_us(set: &ClusterResourceSet, context: &Context) -> bool {
    let wanted = context.options.watch_filter.as_ref();
    wanted.is_none_or(|wanted| set.labels().get(label::WATCH_FILTER) == Some(wanted))
}

fn is_settled(step: &Step) -> bool {
    match step {
        Step::Serve(plan) => plan.clusters.iter().all(|judged| judged.word == Word::Applied),
        Step::Leave
        | Step::Pause(_)
        | Step::LetGo
        | Step::Claim
        | Step::AwaitDeliveries
        | Step::Finish { .. }
        | Step::Hold(_) => false,
    }
}

/// When it is looked at again without an event.
fn next(step: &Step, now: Timestamp) -> Action {
    match step {
        Step::AwaitDeliveries => Action::requeue(STOPPING),
        Step::Serve(plan) => plan.next.map_or_else(Action::await_change, |next| {
            let pause = Duration::try_from(next.duration_since(now)).unwrap_or(Duration::ZERO);
            // A moment later, so that the time has come when it is looked at.
            Action::requeue(pause + Duration::from_millis(100))
        }),
        Step::Leave | Step::Pause(_) | Step::LetGo | Step::Claim | Step::Finish { .. } | Step::Hold(_) => {
            Action::await_change()
        }
    }
}

async fn rounds(mut set: ClusterResourceSet, context: &Arc<Context>) -> Result<Step, Error> {
    let mut round = 1;
    loop {
        set = context.resource_sets.newest(set);
        let seen = observe::observe(&set, context).await;
        let step = match &seen {
            Ok(seen) => decide(&set, &seen.observed, context.now()),
            Err(error) => Step::Hold(error.blocked()),
        };
        let done = match seen {
            Ok(seen) => act::act(&set, &step, seen, context).await,
            Err(error) => Err(error),
        };
        if matches!(done, Ok(Done::Again)) && round < MOST_ROUNDS {
            round += 1;
            continue;
        }
        report::report(&set, &step, done, context).await?;
        return Ok(step);
    }
}
