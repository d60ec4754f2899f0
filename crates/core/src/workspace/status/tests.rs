use capt_api::crossplane::WorkspaceCondition;
use capt_api::engine_status::{ActivityStatus, RunOperation, RunPhase};
use k8s_openapi::jiff::Timestamp;
use rstest::rstest;
use serde_json::json;

use super::super::decide::{Concern, Operation, Priority, Start, Which};
use super::super::lock::{Holder, Lock, Release};
use super::super::observed::{Failure, Retry};
use super::super::standing::Freeze;
use super::*;
use crate::note::Note;
use crate::tie::ApplyKey;

mod conditions;
mod engine;
mod events;

const HASH: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn at(second: i64) -> Time {
    Time(Timestamp::from_second(second).unwrap())
}

fn workspace() -> Workspace {
    serde_json::from_value(json!({
        "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace",
        "metadata": { "name": "demo", "generation": 3 },
        "spec": { "forProvider": { "source": "Inline", "module": "locals {}" } },
    }))
    .unwrap()
}

fn start(operation: Operation) -> Step {
    Step::Start(Start { operation, inputs: Which::Current, priority: Priority::Change })
}

fn apply() -> Step {
    start(Operation::Apply { hash: HASH.to_owned() })
}

fn destroy() -> Step {
    start(Operation::Destroy { hash: HASH.to_owned() })
}

fn unlock(why: Release) -> Step {
    start(Operation::Unlock { id: "id".to_owned(), why })
}

fn settled() -> Step {
    Step::Settled { next_check: Some(at(3600).0) }
}

fn blocked() -> Blocked {
    Blocked::new(Reason::ApplyFailed, "apply failed: no quota")
}

fn hold() -> Step {
    Step::Hold { blocked: blocked(), until: None }
}

fn await_lock() -> Step {
    let text = ToOwned::to_owned;
    let lock = Lock {
        id: text("id"),
        who: text("me@there"),
        operation: text("OperationTypeApply"),
        since: text("today"),
        holder: Holder::Unknown,
    };
    let failure = Failure {
        blocked: Blocked::new(Reason::Locked, "the state is locked"),
        retry: Retry::Backoff,
        attempt: 1,
        lock: Some(lock),
        kept_inputs: false,
        destroying: false,
    };
    Step::AwaitLock { failure, until: at(70).0 }
}

fn await_approval() -> Step {
    let addresses = (1..=7).map(|number| format!("aws_vpc.v{number}")).collect();
    let why = vec![Concern::TakenOver, Concern::Protected(addresses), Concern::ChangedUnderneath];
    Step::AwaitApproval { hash: HASH.to_owned(), why, next_check: Some(at(3600).0) }
}

fn report_drift() -> Step {
    Step::ReportDrift { summary: "0 to add, 1 to change".to_owned(), next_check: Some(at(3600).0) }
}

fn freeze() -> Freeze {
    Freeze::ApplyPaused(ApplyKey { namespace: "team-a".to_owned(), name: "demo-apply".to_owned() })
}

fn run(operation: RunOperation, phase: RunPhase) -> RunStatus {
    RunStatus { operation, phase, since: at(30), done: None, total: None, current: Vec::new() }
}

fn plan() -> PlanStatus {
    PlanStatus {
        hash: HASH.to_owned(),
        summary: "1 to add, 0 to change, 1 to replace, 0 to destroy".to_owned(),
        config_map: Some("team-a/demo-plan".to_owned()),
    }
}

/// One reconcile: what was there before, what was decided, and what came of it.
struct Scene {
    workspace: Workspace,
    step: Step,
    outcome: Result<Effect, Blocked>,
    run: Option<RunStatus>,
    plan: Option<PlanStatus>,
    state: Option<StateStatus>,
    interrupted: Option<Vec<InterruptedCall>>,
    now: Time,
}

impl Scene {
    fn of(step: Step) -> Self {
        let outcome = Ok(match step {
            Step::Publish => Effect::Published {
                outputs: [("name".to_owned(), json!("demo"))].into(),
                applied: true,
                remote_source: None,
            },
            _ => Effect::Nothing,
        });
        let (run, plan, state) = (None, None, None);
        Self { workspace: workspace(), step, outcome, run, plan, state, interrupted: None, now: at(60) }
    }

    /// The same Workspace after it became ready.
    fn ready(step: Step) -> Self {
        Self::of(Step::Publish).then(Self::of(step))
    }

    fn running(self, operation: RunOperation, phase: RunPhase) -> Self {
        Self { run: Some(run(operation, phase)), ..self }
    }

    fn planned(self) -> Self {
        Self { plan: Some(plan()), ..self }
    }

    fn sized(self, bytes: u64) -> Self {
        let secret = Some("team-a/tfstate-demo-capt".to_owned());
        let state = StateStatus { backend: "kubernetes".to_owned(), secret, bytes: Some(bytes) };
        Self { state: Some(state), ..self }
    }

    /// With so many calls of an apply that died.
    fn interrupted(self, count: i64) -> Self {
        let call = |index| InterruptedCall {
            address: format!("aws_vpc.v{index}"),
            action: "create".to_owned(),
            at: at(index).0,
            made: None,
        };
        Self { interrupted: Some((0..count).map(call).collect()), ..self }
    }

    fn failed(self) -> Self {
        Self { outcome: Err(Blocked::new(Reason::ApiError, "the API server is away")), ..self }
    }

    fn deleted(mut self) -> Self {
        self.workspace.metadata.deletion_timestamp = Some(at(50));
        self
    }

    /// What comes after this one.
    fn then(self, next: Self) -> Self {
        let mut workspace = next.workspace;
        workspace.status = self.status();
        Self { workspace, now: at(120), ..next }
    }

    fn report(&self) -> Report<'_> {
        let Self { workspace, step, outcome, run, plan, state, interrupted, now } = self;
        Report {
            workspace,
            step,
            outcome,
            run: run.as_ref(),
            plan: plan.as_ref(),
            state: state.as_ref(),
            interrupted: interrupted.as_deref(),
            tool: "OpenTofu 1.12.6",
            now,
        }
    }

    fn status(&self) -> Option<WorkspaceStatus> {
        status(self.report())
    }

    fn condition(&self, name: &str) -> Option<WorkspaceCondition> {
        self.status().unwrap().conditions.into_iter().find(|condition| condition.type_ == name)
    }

    /// Each condition in a line.
    fn told(&self) -> Vec<String> {
        let line = |condition: WorkspaceCondition| {
            let WorkspaceCondition { type_, status, reason, message, .. } = condition;
            format!("{type_} {status}, {reason}: {}", message.unwrap_or_default())
        };
        self.status().unwrap().conditions.into_iter().map(line).collect()
    }

    /// Each Event in a line.
    fn events(&self) -> Vec<String> {
        notes(self.report(), &self.status().unwrap()).iter().map(line).collect()
    }
}

fn line(Note { warning, reason, message }: &Note) -> String {
    format!("{} {reason}: {message}", if *warning { "Warning" } else { "Normal" })
}
