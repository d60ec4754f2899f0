//! The runs that wait, go on, or have ended. They outlive a reconcile, and the leadership under which they began.
//!
//! Invariant: whoever does not lead begins none. One that waits, here or for an earlier run in its directory, ends with the
//! leadership under which it was wanted.

mod ended;
mod entry;
mod led;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use capt_core::note::Note;
use capt_core::workspace::decide::{Operation, Start};
use capt_core::workspace::run_log::RunLog;
use capt_terraform::{Engine, Event, Run, StateKeeper};
use futures::channel::mpsc::UnboundedSender;
use kube::runtime::reflector::ObjectRef;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info, info_span};

use super::journal::Journal;
use super::limit::Limit;
use crate::metrics::Metrics;
use crate::options::{Clock, TerraformOptions};
use crate::store::Guarded;
use crate::term::LeadershipTerm;
use entry::{Entry, Stage};

pub(super) use ended::Over;
use entry::Going;
pub(super) use entry::Previewed;

/// Progress is told no more often than this.
const BREATH: Duration = Duration::from_secs(2);

/// Where Workspaces that are to be looked at are announced.
pub(crate) type Announce = UnboundedSender<ObjectRef<Guarded<capt_api::Workspace>>>;

/// The runs of all Workspaces, by uid.
pub(crate) struct Runs {
    engine: Arc<dyn Engine>,
    clock: Clock,
    metrics: Metrics,
    plans: Arc<Limit>,
    applies: Arc<Limit>,
    entries: Mutex<HashMap<String, Entry>>,
    announce: Mutex<Option<Announce>>,
    going: watch::Sender<usize>,
    stopping: AtomicBool,
}

/// What a run needs beside what goes in.
pub(super) struct Order {
    /// The leadership under which it was decided: it begins in this one or not at all.
    pub(super) term: LeadershipTerm,
    /// The Workspace's name.
    pub(super) workspace: String,
    /// Its uid.
    pub(super) uid: String,
    /// What to do, and how urgent that is.
    pub(super) start: Start,
    /// What goes in.
    pub(super) run: Run,
    /// Names what goes in.
    pub(super) fingerprint: String,
    /// The digest that the Workspace's apply had written.
    pub(super) digest: Option<String>,
    /// Whether what Terraform prints goes to the manager's log.
    pub(super) logs: bool,
    /// The earlier state that somebody has put back.
    pub(super) restored: Option<String>,
    /// The request for a plan that is only shown.
    pub(super) preview: Option<String>,
    /// Who keeps the state, where it is in Secrets of this cluster.
    pub(super) keeper: Option<Box<dyn StateKeeper>>,
    /// Who puts on record what the run has begun and finished.
    pub(super) journal: Option<Journal>,
}

impl Runs {
    pub(super) fn new(options: &TerraformOptions, metrics: Metrics) -> Self {
        Self {
            engine: Arc::clone(&options.engine),
            clock: options.clock.clone(),
            metrics,
            plans: Limit::new(options.most_plans),
            applies: Limit::new(options.most_applies),
            entries: Mutex::default(),
            announce: Mutex::default(),
            going: watch::Sender::new(0),
            stopping: AtomicBool::new(false),
        }
    }

    /// From now on Workspaces whose run tells something are announced here.
    pub(crate) fn announce_to(&self, announce: Announce) {
        *self.announce.lock().unwrap_or_else(PoisonError::into_inner) = Some(announce);
    }

    /// Begins nothing new and asks every run to stop; they end by themselves.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.engine.stop();
        for entry in self.lock().values() {
            entry.cancel();
        }
    }

    /// How many runs wait or go on.
    pub(crate) fn count(&self) -> usize {
        *self.going.borrow()
    }

    /// Returns when no run goes on any more.
    pub(crate) async fn idle(&self) {
        // The sender lives as long as we do.
        let _ = self.going.subscribe().wait_for(|going| *going == 0).await;
    }

    /// The run of a Workspace that waits or goes on.
    pub(super) fn going(&self, uid: &str) -> Option<Going> {
        match &self.lock().get(uid)?.stage {
            Stage::Going { going, .. } => Some(going.clone()),
            Stage::Idle | Stage::Over(_) => None,
        }
    }

    /// What came of the last run of a Workspace.
    pub(super) fn over(&self, uid: &str) -> Option<Arc<Over>> {
        match &self.lock().get(uid)?.stage {
            Stage::Over(over) => Some(Arc::clone(over)),
            Stage::Idle | Stage::Going { .. } => None,
        }
    }

    /// Forgets what came of the last run, since it was used.
    pub(super) fn settle(&self, uid: &str) {
        if let Some(entry) = self.lock().get_mut(uid)
            && matches!(entry.stage, Stage::Over(_))
        {
            entry.stage = Stage::Idle;
            entry.failures.clear();
        }
    }

    /// Forgets a Workspace that is gone.
    pub(super) fn forget(&self, uid: &str) {
        let mut entries = self.lock();
        if entries.get(uid).is_some_and(|entry| !matches!(entry.stage, Stage::Going { .. })) {
            entries.remove(uid);
        }
    }

    /// The request of the user that was handled last by this process.
    pub(super) fn handled(&self, uid: &str) -> Option<String> {
        self.lock().get(uid)?.handled.clone()
    }

    /// Remembers that a request of the user is being handled.
    pub(super) fn handle(&self, uid: &str, request: &str) {
        self.lock().entry(uid.to_owned()).or_default().handled = Some(request.to_owned());
    }

    /// The request for a plan that was answered last by this process.
    pub(super) fn answered(&self, uid: &str) -> Option<String> {
        self.lock().get(uid)?.answered.clone()
    }

    /// Remembers that a request for a plan is answered.
    pub(super) fn answer(&self, uid: &str, request: &str) {
        let mut entries = self.lock();
        let entry = entries.entry(uid.to_owned()).or_default();
        entry.answered = Some(request.to_owned());
        entry.previewed = None;
    }

    /// The plan that somebody asked for and that is not shown yet.
    pub(super) fn previewed(&self, uid: &str) -> Option<Arc<Previewed>> {
        self.lock().get(uid)?.previewed.clone()
    }

    /// The logs of runs that ended and that are not stored yet.
    pub(super) fn logs(&self, uid: &str) -> Vec<Arc<RunLog>> {
        self.lock().get(uid).map(|entry| entry.logs.clone()).unwrap_or_default()
    }

    /// Forgets logs that are stored.
    pub(super) fn stored(&self, uid: &str, logs: &[Arc<RunLog>]) {
        if let Some(entry) = self.lock().get_mut(uid) {
            entry.logs.retain(|log| !logs.iter().any(|stored| Arc::ptr_eq(stored, log)));
        }
    }

    /// What is worth an Event since it was asked last.
    pub(super) fn take_notes(&self, uid: &str) -> Vec<Note> {
        self.lock().get_mut(uid).map(Entry::take_notes).unwrap_or_default()
    }

    /// Asks the run of a Workspace to stop, once.
    pub(super) async fn interrupt(&self, uid: &str) -> Result<(), capt_terraform::Error> {
        let asked = self.lock().get(uid).and_then(Entry::cancel);
        if let Some(identity) = asked {
            self.engine.interrupt(&identity).await?;
        }
        Ok(())
    }

    /// Starts a run, unless one of the same Workspace goes on, the manager stops, or it does not lead any more.
    pub(super) fn start(self: &Arc<Self>, order: Order) {
        let cancel = CancellationToken::new();
        {
            let mut entries = self.lock();
            let entry = entries.entry(order.uid.clone()).or_default();
            let goes_on = matches!(entry.stage, Stage::Going { .. });
            if goes_on || self.stopping.load(Ordering::SeqCst) || order.term.is_over() {
                return;
            }
            let going = Going::new(&order, self.clock.now());
            let before = match std::mem::take(&mut entry.stage) {
                Stage::Over(over) if order.preview.is_some() => Some(over),
                Stage::Over(_) | Stage::Idle | Stage::Going { .. } => None,
            };
            let identity = order.run.identity.clone();
            entry.stage = Stage::Going { going, identity, cancel: cancel.clone(), before };
        }
        self.going.send_modify(|count| *count += 1);
        let span = info_span!("run", workspace = order.workspace, operation = ?operation_kind(&order));
        let runs = Arc::clone(self);
        tokio::spawn(async move { runs.carry_out(order, cancel).await }.instrument(span));
    }

    async fn carry_out(self: Arc<Self>, order: Order, cancel: CancellationToken) {
        let limit = match order.start.operation {
            Operation::Apply { .. } | Operation::Destroy { .. } => &self.applies,
            Operation::Plan
            | Operation::Preview
            | Operation::PlanDestroy
            | Operation::Outputs
            | Operation::Unlock { .. } => &self.plans,
        };
        let pass = tokio::select! {
            pass = limit.enter(order.start.priority) => Some(pass),
            () = cancel.cancelled() => None,
            () = order.term.over() => None,
        };
        let began = std::time::Instant::now();
        let result = if pass.is_some() && !cancel.is_cancelled() {
            self.change(&order.uid, Going::begin);
            // A task of its own would hide a panic; here it would leave the run going for ever.
            let work = std::panic::AssertUnwindSafe(self.led(&order));
            futures::FutureExt::catch_unwind(work).await.unwrap_or(Some(Err(capt_terraform::Error::Stopping)))
        } else {
            (!order.term.is_over()).then_some(Err(capt_terraform::Error::Stopping))
        };
        drop(pass);
        if let Some(result) = result {
            self.metrics.terraform_ran(operation_kind(&order), result.is_ok(), began.elapsed());
            let now = self.clock.now();
            let word = self.lock().entry(order.uid.clone()).or_default().end(&order, result, now);
            info!(result = word, "run ended");
        } else {
            self.lock().entry(order.uid.clone()).or_default().withdraw();
            info!("run not begun, because this manager does not lead any more");
        }
        self.going.send_modify(|count| *count = count.saturating_sub(1));
        self.wake(&order.workspace);
    }

    /// Takes in what happens in a run.
    fn observe(self: &Arc<Self>, order: &Order, event: &Event) {
        if let Event::Line(verb, line) = event {
            if order.logs {
                info!(target: "capt::terraform", workspace = order.workspace, %verb, line);
            }
            self.change(&order.uid, |going| going.observe(event));
            return;
        }
        self.change(&order.uid, |going| going.observe(event));
        if let Some(entry) = self.lock().get_mut(&order.uid) {
            entry.note(event);
        }
        self.wake_soon(order);
    }

    /// Brings the Workspace up once in a while, however much there is to tell.
    fn wake_soon(self: &Arc<Self>, order: &Order) {
        let scheduled = self.lock().get_mut(&order.uid).is_none_or(Entry::schedule);
        if scheduled {
            return;
        }
        let (runs, uid, workspace) = (Arc::clone(self), order.uid.clone(), order.workspace.clone());
        tokio::spawn(async move {
            tokio::time::sleep(BREATH).await;
            if let Some(entry) = runs.lock().get_mut(&uid) {
                entry.scheduled = false;
            }
            runs.wake(&workspace);
        });
    }

    fn wake(&self, workspace: &str) {
        let announce = self.announce.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(announce) = announce.as_ref() {
            // Nobody listens while another manager leads.
            let _ = announce.unbounded_send(ObjectRef::new(workspace));
        }
    }

    fn change(&self, uid: &str, change: impl FnOnce(&mut Going)) {
        if let Some(Entry { stage: Stage::Going { going, .. }, .. }) = self.lock().get_mut(uid) {
            change(going);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn operation_kind(order: &Order) -> capt_api::engine_status::RunOperation {
    entry::kind(&order.start.operation)
}
