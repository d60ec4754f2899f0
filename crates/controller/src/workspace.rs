//! The driver of Workspaces that CAPT runs itself: observe → decide → act → report.
//!
//! A run takes longer than a reconcile may: it goes on by itself in [`runs`], and brings the Workspace up again when there is
//! something to tell.

mod access;
mod act;
mod asked;
pub mod by_hand;
mod candidate;
mod connection_secret;
mod disown;
mod flux;
mod garbage;
mod handover;
mod inputs;
mod journal;
mod keeper;
mod limit;
mod lock_holder;
mod observe;
mod place;
mod plan_text;
mod preview;
mod provider_config;
mod record;
mod report;
mod runs;
mod serving;
mod snapshot;
mod state;

use std::sync::Arc;
use std::time::{Duration, Instant};

use capt_api::Workspace;
use capt_api::names::{Reason, condition};
use capt_core::workspace::decide::{Step, decide};
use capt_core::workspace::handover::Serves;
use capt_core::workspace::status::Effect;
use capt_terraform::{Identity, Left};
use k8s_openapi::api::rbac::v1::PolicyRule;
use k8s_openapi::jiff::Timestamp;
use kube::runtime::controller::Action;
use tokio::sync::watch;
use tracing::warn;

use act::Done;

use crate::context::Context;
use crate::error::Error;
use crate::metrics::{Kind, Metrics, Outcome};
use crate::options::TerraformOptions;
use crate::rbac::rule;
use crate::store::key_of;

pub(crate) use disown::disown;
pub(crate) use garbage::collect_garbage;
pub(crate) use runs::Runs;
pub(crate) use serving::{Serving, follow_owner};

/// Steps that write follow each other in one reconcile; more than these mean that somebody works against us.
const MOST_ROUNDS: u32 = 5;
/// What cannot be published is tried again after this, if nothing else happens.
const PATIENCE: Duration = Duration::from_secs(300);
/// After what was written it is looked again, if nothing else brings that about.
const MOMENT: Duration = Duration::from_secs(1);
/// What could not be fetched is tried again after this.
const FETCHED_AGAIN: Duration = Duration::from_secs(60);

/// What running Terraform needs beside the API server. It outlives a leadership, as runs do.
pub(crate) struct Terraform {
    pub(crate) options: TerraformOptions,
    pub(crate) runs: Arc<Runs>,
    pub(crate) serving: watch::Sender<Serving>,
    records: record::Records,
    asked: asked::Asked,
}

impl Terraform {
    pub(crate) fn new(options: TerraformOptions, metrics: Metrics) -> Self {
        Self {
            runs: Arc::new(Runs::new(&options, metrics)),
            serving: watch::Sender::new(Serving::Unknown),
            records: record::Records::default(),
            asked: asked::Asked::default(),
            options,
        }
    }

    /// Forgets what another manager may have changed meanwhile.
    pub(crate) fn begin_leadership(&self) {
        self.records.clear();
    }

    /// What runs of the Workspace with this uid have left on this machine. Where that cannot be told, everything is there.
    async fn left(&self, workspace_uid: &str) -> Left {
        let Ok(identity) = Identity::try_from(workspace_uid.to_owned()) else { return Left::default() };
        self.options.engine.left(&identity).await.unwrap_or_else(|error| {
            warn!(error = &error as &dyn std::error::Error, "what runs have left behind is not known");
            Left { alive: true, unfinished: true, unstored: true }
        })
    }

    /// Who runs the Workspaces that say nothing, if that is known.
    pub(crate) fn serves(&self) -> Option<Serves> {
        self.serving.borrow().serves()
    }

    fn now(&self) -> Timestamp {
        self.options.clock.now()
    }
}

/// What this driver needs permission for.
pub(crate) fn rules() -> Vec<PolicyRule> {
    let terraform = capt_api::names::group::TERRAFORM;
    let mut rules = vec![
        rule(terraform, &["workspaces"], &["get", "list", "watch", "patch", "delete"]),
        rule(terraform, &["workspaces/status"], &["patch"]),
        rule(terraform, &["workspaces/finalizers"], &["update"]),
        rule(terraform, &["providerconfigs"], &["get", "list", "watch"]),
        rule(
            capt_api::names::group::FLUX_SOURCES,
            &["gitrepositories", "ocirepositories", "buckets"],
            &["get", "list", "watch"],
        ),
        rule("coordination.k8s.io", &["leases"], &["delete"]),
        // A lock whose holder was a pod on a node that is gone is dead, too.
        rule("", &["nodes"], &["get"]),
    ];
    rules.extend(access::rules());
    rules.extend(state::rules());
    rules
}

/// What this driver needs permission for in CAPT's own namespace.
pub(crate) fn own_namespace_rules() -> Vec<PolicyRule> {
    let mut rules = access::own_namespace_rules();
    // A lock whose holder was a pod is dead when the pod is.
    rules.push(rule("", &["pods"], &["get"]));
    rules
}

/// Brings one Workspace in line.
pub(crate) async fn reconcile(workspace: Workspace, context: Arc<Context>) -> Result<Action, Error> {
    let started = Instant::now();
    let Some(terraform) = context.terraform.clone() else { return Ok(Action::await_change()) };
    let key = key_of(&workspace.metadata);
    let result = Box::pin(rounds(workspace, &context, &terraform)).await;
    let outcome = match &result {
        Ok((Step::Settled { .. }, _)) => Outcome::Settled,
        Ok(_) => Outcome::Waiting,
        Err(_) => Outcome::Failed,
    };
    context.metrics.reconciled(Kind::Workspace, outcome, started.elapsed());
    match result {
        Ok((step, blocked)) => {
            context.attempts.succeeded(Kind::Workspace, key);
            Ok(next_look(&step, blocked, terraform.now()))
        }
        Err(error) => {
            context.metrics.failed(Kind::Workspace, error.reason());
            Err(error)
        }
    }
}

async fn rounds(
    mut workspace: Workspace,
    context: &Context,
    terraform: &Arc<Terraform>,
) -> Result<(Step, bool), Error> {
    let mut round = 1;
    loop {
        let seen = Box::pin(observe::observe(&workspace, context, terraform)).await;
        let step = match &seen {
            Ok(seen) => decide(&seen.observed),
            Err(error) => Step::Hold { blocked: error.blocked(), until: None },
        };
        let done = match &seen {
            Ok(seen) => act::act(&step, seen, context, terraform).await,
            Err(_) => Ok(Done::Told(Effect::Nothing)),
        };
        let again = matches!(done, Ok(Done::Again)) && round < MOST_ROUNDS;
        round += 1;
        // That drift is over is told here: the step that comes next knows nothing of it.
        if again && !(step == Step::Confirm && seen.as_ref().is_ok_and(tells_drift)) {
            continue;
        }
        let (seen, error) = match seen {
            Ok(seen) => (Some(seen), None),
            Err(error) => (None, Some(error)),
        };
        if let Some(full) = seen.as_ref().and_then(|seen| seen.full.clone()) {
            workspace = full;
        }
        let blocked = matches!(done, Ok(Done::Blocked(_)));
        report::report(&workspace, &step, seen.as_ref(), done, context, terraform).await?;
        if again {
            continue;
        }
        return match error {
            Some(error) => Err(error),
            None => Ok((step, blocked)),
        };
    }
}

/// Whether the status says that the infrastructure differs.
fn tells_drift(seen: &observe::Seen) -> bool {
    let status = seen.full.as_ref().and_then(|workspace| workspace.status.as_ref());
    let mut conditions = status.into_iter().flat_map(|status| &status.conditions);
    conditions.any(|told| told.type_ == condition::DRIFTED && told.status == "True")
}

/// When a Workspace is looked at again without an event.
fn next_look(step: &Step, blocked: bool, now: Timestamp) -> Action {
    let until = match step {
        _ if blocked => return Action::requeue(PATIENCE),
        // What is fetched from elsewhere has no event.
        Step::Hold { blocked, until: None } if blocked.reason == Reason::SourceNotReady => {
            return Action::requeue(FETCHED_AGAIN);
        }
        // What follows from it need not have an event, the next comparison with reality least of all.
        Step::Publish | Step::Confirm | Step::Claim | Step::ShowPreview | Step::Settle(_) => {
            return Action::requeue(MOMENT);
        }
        Step::Hold { until, .. } => *until,
        Step::AwaitLock { until, .. } | Step::AwaitCrossplane { until } => Some(*until),
        Step::Settled { next_check }
        | Step::AwaitApproval { next_check, .. }
        | Step::ReportDrift { next_check, .. } => *next_check,
        Step::Leave
        | Step::Pass(_)
        | Step::HandBack
        | Step::Freeze(_)
        | Step::Abandon(_)
        | Step::Drop(_)
        | Step::Pause
        | Step::Wait
        | Step::Interrupt
        | Step::Start(_)
        | Step::AwaitOthers(_)
        | Step::Orphan
        | Step::Finish => None,
    };
    match until {
        None => Action::await_change(),
        Some(until) => {
            let pause = Duration::try_from(until.duration_since(now)).unwrap_or(Duration::ZERO);
            // A moment later, so that the time has come when it is looked at.
            Action::requeue(pause + Duration::from_millis(500))
        }
    }
}
