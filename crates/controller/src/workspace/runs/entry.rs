//! What is known of the runs of one Workspace.

use std::sync::Arc;
use std::time::{Duration, Instant};

use capt_api::engine_status::{ActivityStatus, RunOperation, RunPhase, RunStatus};
use capt_api::names::Reason;
use capt_core::apply::Blocked;
use capt_core::note::Note;
use capt_core::workspace::decide::{Operation, Which};
use capt_core::workspace::run_log::{Cause, Lines, RunLog};
use capt_core::workspace::status::progress_note;
use capt_terraform::{Event, FailedImport, Identity, Outcome, Plan, Progress};
use k8s_openapi::jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::Order;
use super::ended::{Over, Told};
use crate::context::to_the_second;

/// Of what is being worked on, the status names so much.
const SHOWN: usize = 5;
/// Progress is worth an Event no more often than this.
const BETWEEN_EVENTS: Duration = Duration::from_secs(60);

/// More logs than these are not kept in memory until they are stored.
const MOST_LOGS: usize = 4;

/// What is known of the runs of one Workspace.
#[derive(Default)]
pub(super) struct Entry {
    pub(super) stage: Stage,
    pub(super) failures: Failures,
    pub(super) handled: Option<String>,
    /// The request for a plan that was answered last.
    pub(super) answered: Option<String>,
    /// The plan that somebody asked for, until it is shown.
    pub(super) previewed: Option<Arc<Previewed>>,
    /// The logs of runs that ended and that are not stored yet, oldest first.
    pub(super) logs: Vec<Arc<RunLog>>,
    pub(super) elsewhere: Option<String>,
    pub(super) not_imported: Vec<FailedImport>,
    pub(super) scheduled: bool,
    notes: Vec<Note>,
    progress_told: Option<Instant>,
}

/// Where the runs of a Workspace stand.
#[derive(Default)]
pub(super) enum Stage {
    /// There is none.
    #[default]
    Idle,
    /// One waits or goes on. A plan that is only shown leaves what came before it as it was.
    Going { going: Going, identity: Identity, cancel: CancellationToken, before: Option<Arc<Over>> },
    /// The last one ended like this.
    Over(Arc<Over>),
}

/// Failures in a row.
#[derive(Default)]
pub(super) struct Failures {
    fingerprint: String,
    count: u32,
}

impl Failures {
    /// Counts one more. Other inputs start anew, unless everything is being destroyed: then both kinds of inputs take turns.
    pub(super) fn add(&mut self, fingerprint: &str, destroys: bool) -> u32 {
        if !destroys && self.fingerprint != fingerprint {
            self.count = 0;
        }
        fingerprint.clone_into(&mut self.fingerprint);
        self.count = self.count.saturating_add(1);
        self.count
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
    }
}

impl Entry {
    /// Marks that a look is scheduled; `true` if it was already.
    pub(super) fn schedule(&mut self) -> bool {
        std::mem::replace(&mut self.scheduled, true)
    }

    /// Asks a run that waits or goes on to stop, and answers whose directory it works in; nothing if it was asked before, or
    /// there is none.
    pub(super) fn cancel(&self) -> Option<Identity> {
        match &self.stage {
            Stage::Going { cancel, identity, .. } if !cancel.is_cancelled() => {
                cancel.cancel();
                Some(identity.clone())
            }
            Stage::Going { .. } | Stage::Idle | Stage::Over(_) => None,
        }
    }

    /// Takes back a run that was never begun, and with it that the user's request is handled.
    pub(super) fn withdraw(&mut self) {
        self.handled = None;
        if let Stage::Going { before, .. } = std::mem::take(&mut self.stage) {
            self.stage = before.map_or(Stage::Idle, Stage::Over);
        }
    }

    /// Takes in how a run ended. A plan that was only to be shown leaves what came before it as it was.
    pub(super) fn end(
        &mut self,
        order: &Order,
        result: Result<Outcome, capt_terraform::Error>,
        now: Timestamp,
    ) -> &'static str {
        let (going, before) = match std::mem::take(&mut self.stage) {
            Stage::Going { going, before, .. } => (going, before),
            Stage::Idle | Stage::Over(_) => (Going::new(order, now), None),
        };
        let (log, word) = if let Some(request) = &order.preview {
            self.stage = before.map_or(Stage::Idle, Stage::Over);
            self.previewed = Previewed::new(request, result).map(Arc::new);
            let Some(made) = self.previewed.clone() else { return "stopped" };
            let (succeeded, result) = made.told();
            let quiet = made.result.as_ref().is_ok_and(Plan::is_empty);
            (going.log(order, &Told { succeeded, result: &result, quiet }, now), "shown")
        } else {
            let over = Arc::new(Over::new(order, result, self, now));
            self.stage = Stage::Over(Arc::clone(&over));
            (going.log(order, &over.told(), now), over.word())
        };
        self.logs.push(Arc::new(log));
        if self.logs.len() > MOST_LOGS {
            self.logs.remove(0);
        }
        word
    }

    /// Keeps what is worth an Event.
    pub(super) fn note(&mut self, event: &Event) {
        let note = |reason, message: &str| Note { warning: false, reason, message: message.to_owned() };
        match event {
            Event::StatePushed => self.notes.push(note(
                Reason::StatePushed,
                "the state of an earlier apply could not be stored then; it is stored now",
            )),
            Event::StateNotStored(why) => self.notes.push(Note {
                warning: true,
                reason: Reason::StatePushFailed,
                message: format!("the state cannot be stored at the moment; it is in the working directory, and CAPT goes on trying: {why}"),
            }),
            Event::Survived(survived) => self.notes.push(note(
                Reason::Planned,
                &format!(
                    "{} of an earlier manager, begun {}, has ended by itself; planning again to see what it did",
                    survived.verb, survived.started_at
                ),
            )),
            Event::Progress(_) => {
                let Stage::Going { going, .. } = &self.stage else { return };
                if self.progress_told.is_none_or(|told| told.elapsed() >= BETWEEN_EVENTS) {
                    self.progress_told = Some(Instant::now());
                    self.notes.extend(progress_note(&going.status()));
                }
            }
            Event::Waiting(_)
            | Event::Started(_)
            | Event::Interrupting(_)
            | Event::Calls(_)
            | Event::Line(..) => {}
        }
    }

    pub(super) fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }
}

/// A plan that somebody asked for.
pub(in crate::workspace) struct Previewed {
    /// His request.
    pub(in crate::workspace) request: String,
    /// The plan, or why there is none.
    pub(in crate::workspace) result: Result<Plan, Blocked>,
}

/// A run that waits or goes on.
#[derive(Clone, Debug)]
pub(in crate::workspace) struct Going {
    pub(in crate::workspace) operation: RunOperation,
    phase: RunPhase,
    since: Timestamp,
    progress: Option<Progress>,
    /// What it printed so far.
    lines: Lines,
}

impl Going {
    pub(super) fn new(order: &Order, now: Timestamp) -> Self {
        Self {
            operation: kind(&order.start.operation),
            phase: RunPhase::Queued,
            since: now,
            progress: None,
            lines: Lines::default(),
        }
    }

    pub(super) fn begin(&mut self) {
        self.phase = RunPhase::Running;
    }

    pub(super) fn observe(&mut self, event: &Event) {
        match event {
            Event::Waiting(_) => self.phase = RunPhase::WaitingForEarlierRun,
            Event::Survived(_) | Event::StatePushed | Event::Started(_) => self.phase = RunPhase::Running,
            Event::Interrupting(_) => self.phase = RunPhase::Stopping,
            Event::Progress(progress) => self.progress = Some(progress.clone()),
            Event::Line(_, line) => self.lines.add(line),
            Event::StateNotStored(_) | Event::Calls(_) => {}
        }
    }

    /// What is kept of it once it has ended.
    pub(super) fn log(self, order: &Order, over: &Told<'_>, now: Timestamp) -> RunLog {
        let (lines, gap) = self.lines.into_parts();
        let Told { succeeded, result, quiet } = over;
        RunLog {
            operation: self.operation,
            cause: Cause::of(&order.start.operation, order.start.priority),
            started_at: self.since,
            ended_at: now,
            succeeded: *succeeded,
            result: (*result).to_owned(),
            quiet: *quiet,
            lines,
            gap,
        }
    }

    /// For the status of the Workspace.
    pub(in crate::workspace) fn status(&self) -> RunStatus {
        let progress = self.progress.as_ref();
        let current = progress.map(|progress| progress.current.as_slice()).unwrap_or_default();
        RunStatus {
            operation: self.operation,
            phase: self.phase,
            since: to_the_second(self.since),
            done: progress.map(|progress| progress.done),
            total: progress.map(|progress| progress.total),
            current: current
                .iter()
                .take(SHOWN)
                .map(|activity| ActivityStatus {
                    address: activity.address.clone(),
                    action: activity.action.clone(),
                    since: to_the_second(activity.since),
                })
                .collect(),
        }
    }
}

/// What an operation is called in the status.
pub(super) fn kind(operation: &Operation) -> RunOperation {
    match operation {
        Operation::Plan => RunOperation::Plan,
        Operation::Preview => RunOperation::Preview,
        Operation::PlanDestroy => RunOperation::PlanDestroy,
        Operation::Apply { .. } => RunOperation::Apply,
        Operation::Destroy { .. } => RunOperation::Destroy,
        Operation::Outputs => RunOperation::Outputs,
        Operation::Unlock { .. } => RunOperation::Unlock,
    }
}

/// Whether what went into the last apply went in.
pub(super) fn is_kept(order: &Order) -> bool {
    order.start.inputs == Which::Kept
}
