//! An engine that counts what it is asked for and what it starts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use capt_terraform::{
    Answer, Beside, Engine, Error, Event, Identity, Left, Observer, Outcome, ProcessEngine, Run, Unfinished,
    Verb, Version,
};
use serde_json::{Value, json};

/// What was counted since it was taken last.
#[derive(Clone, Default)]
pub(super) struct Counter(Arc<Counted>);

#[derive(Default)]
struct Counted {
    runs: AtomicU32,
    going: AtomicU32,
    processes: Mutex<BTreeMap<String, u32>>,
}

/// What an engine did.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) runs: u32,
    /// By command.
    commands: BTreeMap<String, u32>,
}

impl Counts {
    pub(super) fn processes(&self) -> u32 {
        self.commands.values().sum()
    }

    pub(super) fn to_json(&self) -> Value {
        json!({ "runs": self.runs, "processes": self.processes(), "processes_by_command": self.commands })
    }
}

impl Counter {
    /// What was counted; from here on it is counted anew.
    pub(super) fn take(&self) -> Counts {
        let mut processes = self.0.processes.lock().unwrap_or_else(PoisonError::into_inner);
        Counts { runs: self.0.runs.swap(0, Ordering::SeqCst), commands: std::mem::take(&mut *processes) }
    }

    /// Whether a run goes on.
    pub(super) fn is_busy(&self) -> bool {
        self.0.going.load(Ordering::SeqCst) > 0
    }

    fn started(&self, verb: Verb) {
        let mut processes = self.0.processes.lock().unwrap_or_else(PoisonError::into_inner);
        *processes.entry(verb.to_string()).or_default() += 1;
    }
}

/// A run that goes on until this is dropped.
struct Going(Counter);

impl Going {
    fn begin(counter: &Counter) -> Self {
        counter.0.runs.fetch_add(1, Ordering::SeqCst);
        counter.0.going.fetch_add(1, Ordering::SeqCst);
        Self(counter.clone())
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        self.0.0.going.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The real engine, with a counter.
pub(super) struct CountingEngine {
    engine: ProcessEngine,
    counter: Counter,
}

impl CountingEngine {
    pub(super) fn new(engine: ProcessEngine, counter: Counter) -> Self {
        Self { engine, counter }
    }
}

impl Engine for CountingEngine {
    fn version(&self) -> &Version {
        self.engine.version()
    }

    fn run<'a>(&'a self, run: &'a Run, observer: &'a dyn Observer) -> Answer<'a, Outcome> {
        Box::pin(async move {
            let _going = Going::begin(&self.counter);
            let also = |event: &Event| {
                if let Event::Started(verb) = event {
                    self.counter.started(*verb);
                }
            };
            self.engine.run(run, &Beside { observer, also }).await
        })
    }

    fn interrupt<'a>(&'a self, identity: &'a Identity) -> Answer<'a, bool> {
        self.engine.interrupt(identity)
    }

    fn stop(&self) {
        self.engine.stop();
    }

    fn unfinished(&self) -> Answer<'_, Vec<Unfinished>> {
        self.engine.unfinished()
    }

    fn left<'a>(&'a self, identity: &'a Identity) -> Answer<'a, Left> {
        self.engine.left(identity)
    }

    fn collect<'a>(&'a self, known: &'a BTreeSet<Identity>) -> Answer<'a, Vec<Identity>> {
        self.engine.collect(known)
    }

    fn provider_lock(&self, identity: &Identity) -> Result<Option<String>, Error> {
        self.engine.provider_lock(identity)
    }

    fn log(&self, identity: &Identity, verb: Verb) -> Result<Option<String>, Error> {
        self.engine.log(identity, verb)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_is_not_counted_again() {
        let counter = Counter::default();
        let going = Going::begin(&counter);
        counter.started(Verb::Plan);
        counter.started(Verb::Plan);
        counter.started(Verb::Show);
        assert!(counter.is_busy());
        drop(going);
        assert!(!counter.is_busy());
        let counts = counter.take();
        assert_eq!((counts.runs, counts.processes(), counts.commands["plan"]), (1, 3, 2));
        assert_eq!(counter.take(), Counts::default());
    }
}
