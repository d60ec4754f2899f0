//! A run is begun by whoever leads. Once it has begun, it ends by itself.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::task::Poll;

use capt_core::workspace::decide::Operation;
use capt_terraform::{Error, Event, Import, Observer, Outcome, StateKeeper, Survived, Verb};
use tokio::sync::watch;
use tracing::warn;

use super::{Order, Runs};
use crate::workspace::journal::Reported;

/// No command was started.
const WAITS: u8 = 0;
/// A command was started, but none yet that makes the run what it is.
const PREPARES: u8 = 1;
/// The run has begun.
const BEGUN: u8 = 2;

/// How far a run is.
#[derive(Default)]
struct Progress(AtomicU8);

impl Progress {
    /// Takes in that a command starts. What changes something begins with the command that does; before that it can be left.
    fn started(&self, operation: &Operation, verb: Verb) {
        let begins = match operation {
            Operation::Apply { .. } | Operation::Destroy { .. } | Operation::Unlock { .. } => {
                !verb.may_be_killed()
            }
            Operation::Plan | Operation::Preview | Operation::PlanDestroy | Operation::Outputs => true,
        };
        self.0.fetch_max(if begins { BEGUN } else { PREPARES }, Ordering::SeqCst);
    }

    fn is(&self, progress: u8) -> bool {
        self.0.load(Ordering::SeqCst) == progress
    }
}

/// Sees what happens in a run, and keeps its state.
struct Attending<'run, F> {
    observe: F,
    keeper: Option<&'run dyn StateKeeper>,
}

impl<F: Fn(Event) + Send + Sync> Observer for Attending<'_, F> {
    fn observe(&self, event: Event) {
        (self.observe)(event);
    }

    fn keeper(&self) -> Option<&dyn StateKeeper> {
        self.keeper
    }
}

impl Runs {
    /// Carries out a run; `None` when the leadership ended before it began. Whether we lead is asked each time before it goes on.
    /// When the manager stops, the engine begins nothing more, and what is under way is waited for.
    pub(super) async fn led(self: &Arc<Self>, order: &Order) -> Option<Result<Outcome, Error>> {
        let reports = watch::Sender::new(Reported::default());
        let observed = self.observed(order, &reports);
        let Some(journal) = &order.journal else { return observed.await };
        let mut keeping = std::pin::pin!(journal.keep(reports.subscribe()));
        let result = tokio::select! {
            result = observed => result,
            // It ends after the run.
            () = &mut keeping => None,
        };
        reports.send_modify(Reported::end);
        keeping.await;
        result
    }

    async fn observed(
        self: &Arc<Self>,
        order: &Order,
        reports: &watch::Sender<Reported>,
    ) -> Option<Result<Outcome, Error>> {
        let progress = Progress::default();
        // What an apply that died had made, and what this run does not know of.
        let found = AtomicBool::new(false);
        let observe = |event: Event| {
            match &event {
                Event::Started(verb) => progress.started(&order.start.operation, *verb),
                Event::Calls(calls) => reports.send_modify(|reported| reported.calls(calls)),
                Event::Survived(Survived { calls: Some(calls), .. }) => {
                    reports.send_modify(|reported| reported.calls(calls));
                    let is_unknown = |import: &Import| !order.run.imports.contains(import);
                    found.fetch_or(calls.made().iter().any(is_unknown), Ordering::SeqCst);
                }
                _ => {}
            }
            self.observe(order, &event);
        };
        let observer = Attending { observe, keeper: order.keeper.as_deref() };
        let mut run = self.engine.run(&order.run, &observer);
        let mut over = std::pin::pin!(order.term.over());
        let mut interrupting = None;
        let mut asked = false;
        poll_fn(|context| {
            let ended = (order.term.is_over() || over.as_mut().poll(context).is_ready())
                && !self.stopping.load(Ordering::SeqCst);
            if ended && progress.is(WAITS) {
                return Poll::Ready(None);
            }
            // A command that changes nothing has a process, which must not be left behind.
            if ended && progress.is(PREPARES) && !asked {
                let asking = interrupting.get_or_insert_with(|| self.engine.interrupt(&order.run.identity));
                if let Poll::Ready(answer) = asking.as_mut().poll(context) {
                    asked = true;
                    if let Err(error) = answer {
                        warn!(error = &error as &dyn std::error::Error, "a run could not be asked to stop");
                    }
                }
            }
            let result = run.as_mut().poll(context);
            result.map(|result| if asked && progress.is(PREPARES) { None } else { Some(result) })
        })
        .await
        .map(|result| match result {
            Ok(Outcome::Planned(_)) if found.load(Ordering::SeqCst) => {
                Err(Error::StalePlan { why: "it does not know what an interrupted apply has made" })
            }
            result => result,
        })
    }
}
