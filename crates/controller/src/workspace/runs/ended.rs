//! What came of a run, in the words of those who decide.

use capt_api::names::Reason;
use capt_core::apply::Blocked;
use capt_core::cause::sentence;
use capt_core::workspace::backend::DECLARED;
use capt_core::workspace::decide::Operation;
use capt_core::workspace::lock::{Holder, Lock};
use capt_core::workspace::observed::{
    Effect, Ended, Ending, Failure, Planned, PlannedAction, PlannedChange, Retry,
};
use capt_terraform::{Action, Backend, Error, FailedImport, Import, Outcome, Outputs, Plan, Source};
use k8s_openapi::jiff::Timestamp;

use super::Order;
use super::entry::{Entry, Previewed, is_kept};

/// What is told of a plan that changes nothing.
const NOTHING_TO_DO: &str = "nothing to do";

/// What came of a run.
pub(in crate::workspace) struct Over {
    /// For decisions.
    pub(in crate::workspace) ended: Ended,
    /// The plan that was made.
    pub(in crate::workspace) plan: Option<Plan>,
    /// The outputs that were read.
    pub(in crate::workspace) outputs: Option<Outputs>,
    /// The backend that keeps the state, where it is not CAPT's choice, as the last plan showed.
    pub(in crate::workspace) elsewhere: Option<String>,
    /// What the last plan was asked to import.
    pub(in crate::workspace) imports: Vec<Import>,
    /// What an interrupted apply has made and the last plan did not take in.
    pub(in crate::workspace) not_imported: Vec<FailedImport>,
    /// The digest that the Workspace's apply had written when it began.
    pub(in crate::workspace) digest: Option<String>,
    /// The earlier state that somebody had put back when it began.
    pub(in crate::workspace) restored: Option<String>,
}

/// What came of a run, in few words.
pub(super) struct Told<'run> {
    pub(super) succeeded: bool,
    /// One sentence.
    pub(super) result: &'run str,
    /// Whether it was a plan that found nothing to do.
    pub(super) quiet: bool,
}

impl Over {
    pub(super) fn new(
        order: &Order,
        result: Result<Outcome, Error>,
        entry: &mut Entry,
        now: Timestamp,
    ) -> Self {
        let destroys = matches!(order.start.operation, Operation::PlanDestroy | Operation::Destroy { .. });
        let (mut plan, mut outputs) = (None, None);
        let result = match result {
            Ok(Outcome::Planned(made)) => {
                let declared = matches!(order.run.backend, Backend::Declared { .. });
                let elsewhere = made.elsewhere.clone().or_else(|| declared.then(|| DECLARED.to_owned()));
                entry.elsewhere.clone_from(&elsewhere);
                entry.not_imported.clone_from(&made.not_imported);
                let ending = Ending::Planned(planned(&made, elsewhere, &order.run.source));
                plan = Some(made);
                ending
            }
            Ok(Outcome::Applied(applied)) => {
                entry.failures.clear();
                outputs = Some(applied.outputs);
                Ending::Applied { destroyed: destroys }
            }
            Ok(Outcome::Outputs(read)) => {
                entry.failures.clear();
                outputs = Some(read);
                Ending::Outputs
            }
            Ok(Outcome::Unlocked) => Ending::Unlocked,
            Err(error) => {
                let attempt = entry.failures.add(&order.fingerprint, destroys);
                Ending::Failed(failure(&error, attempt, is_kept(order), destroys))
            }
        };
        let ended = Ended { fingerprint: order.fingerprint.clone(), at: now, result };
        Self {
            ended,
            plan,
            outputs,
            elsewhere: entry.elsewhere.clone(),
            imports: order.run.imports.clone(),
            not_imported: entry.not_imported.clone(),
            digest: order.digest.clone(),
            restored: order.restored.clone(),
        }
    }

    /// The same in few words.
    pub(super) fn told(&self) -> Told<'_> {
        let succeeded = |result| Told { succeeded: true, result, quiet: false };
        match &self.ended.result {
            Ending::Planned(plan) if plan.is_empty() => {
                Told { succeeded: true, result: NOTHING_TO_DO, quiet: true }
            }
            Ending::Planned(plan) => succeeded(&plan.summary),
            Ending::Applied { destroyed: false } => succeeded("applied"),
            Ending::Applied { destroyed: true } => succeeded("destroyed"),
            Ending::Outputs => succeeded("outputs read"),
            Ending::Unlocked => succeeded("lock released"),
            Ending::Failed(failure) => {
                Told { succeeded: false, result: &failure.blocked.message, quiet: false }
            }
        }
    }

    /// One word for logs.
    pub(super) fn word(&self) -> &'static str {
        match &self.ended.result {
            Ending::Planned(_) => "planned",
            Ending::Applied { .. } => "applied",
            Ending::Outputs => "outputs read",
            Ending::Unlocked => "unlocked",
            Ending::Failed(failure) => failure.blocked.reason.as_str(),
        }
    }
}

impl Previewed {
    /// What came of a plan that somebody asked for; nothing when it was stopped, since it is made again then.
    pub(super) fn new(request: &str, result: Result<Outcome, Error>) -> Option<Self> {
        let result = match result {
            Ok(Outcome::Planned(plan)) => Ok(plan),
            Ok(Outcome::Applied(_) | Outcome::Outputs(_) | Outcome::Unlocked)
            | Err(Error::Stopping | Error::Interrupted { .. }) => return None,
            Err(error) => Err(Blocked::new(reason(&error), sentence(&error))),
        };
        Some(Self { request: request.to_owned(), result })
    }

    /// The same in few words.
    pub(super) fn told(&self) -> (bool, String) {
        match &self.result {
            Ok(plan) if plan.is_empty() => (true, NOTHING_TO_DO.to_owned()),
            Ok(plan) => (true, summary(plan)),
            Err(blocked) => (false, blocked.message.clone()),
        }
    }
}

/// What a plan would do, in one line.
fn summary(plan: &Plan) -> String {
    plan.to_string().lines().next().unwrap_or_default().to_owned()
}

fn planned(plan: &Plan, elsewhere: Option<String>, source: &Source) -> Planned {
    let outputs_alone = match source {
        // The module may be another one than that which was applied, although its address is the same.
        Source::Remote { .. } | Source::Directory { .. } => plan.changes_only_unknown_outputs(),
        Source::Inline { .. } | Source::Archive { .. } => plan.changes_outputs_alone(),
    };
    Planned {
        hash: plan.hash.as_str().to_owned(),
        destroy: plan.destroy,
        summary: summary(plan),
        changes: plan
            .changes
            .iter()
            .map(|change| PlannedChange { address: change.address.clone(), action: action(change.action) })
            .collect(),
        effect: match () {
            () if plan.is_empty() => Effect::Nothing,
            () if outputs_alone => Effect::OutputsAlone,
            () => Effect::Resources,
        },
        elsewhere,
        not_imported: plan.not_imported.iter().map(|failed| failed.address.clone()).collect(),
    }
}

fn action(action: Action) -> PlannedAction {
    match action {
        Action::Create => PlannedAction::Create,
        Action::Update => PlannedAction::Update,
        Action::Replace => PlannedAction::Replace,
        Action::Delete => PlannedAction::Delete,
        Action::Read => PlannedAction::Read,
        Action::Forget => PlannedAction::Forget,
        Action::Import => PlannedAction::Import,
        Action::Move => PlannedAction::Move,
        Action::Unknown => PlannedAction::Unknown,
    }
}

fn failure(error: &Error, attempt: u32, kept_inputs: bool, destroying: bool) -> Failure {
    Failure {
        blocked: Blocked::new(reason(error), sentence(error)),
        retry: match error.retry() {
            capt_terraform::Retry::OnChange => Retry::OnChange,
            capt_terraform::Retry::Backoff => Retry::Backoff,
            capt_terraform::Retry::Replan => Retry::Replan,
        },
        attempt,
        lock: error.lock().map(|(lock, left_behind)| Lock {
            id: lock.id.clone(),
            who: lock.who.clone(),
            operation: lock.operation.clone(),
            since: lock.created.clone(),
            holder: if left_behind { Holder::Dead } else { Holder::Unknown },
        }),
        kept_inputs,
        destroying,
    }
}

fn reason(error: &Error) -> Reason {
    let word = error.reason();
    Reason::find(word).unwrap_or(Reason::TerraformFailed)
}
