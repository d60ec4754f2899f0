//! An engine that remembers what it was asked to do.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use capt_terraform::{
    Answer, Engine, Error, Identity, Left, Locking, Observer, Operation, Outcome, Run, Unfinished, Verb,
    Version,
};

/// Hands everything on, and remembers it. It does not wait long for locks, and tells nothing of a run before its end: whatever
/// follows has to follow from that.
pub(crate) struct Recording {
    inner: Arc<dyn Engine>,
    operations: Mutex<Vec<Operation>>,
}

impl Recording {
    pub(crate) fn new(inner: Arc<dyn Engine>) -> Self {
        Self { inner, operations: Mutex::default() }
    }

    /// What was asked for so far.
    pub(crate) fn operations(&self) -> Vec<Operation> {
        self.operations.lock().unwrap().clone()
    }

    /// What was asked for since this was called last.
    pub(crate) fn take(&self) -> Vec<Operation> {
        std::mem::take(&mut self.operations.lock().unwrap())
    }
}

impl Engine for Recording {
    fn version(&self) -> &Version {
        self.inner.version()
    }

    fn run<'a>(&'a self, run: &'a Run, observer: &'a dyn Observer) -> Answer<'a, Outcome> {
        self.operations.lock().unwrap().push(run.operation.clone());
        let mut run = run.clone();
        if matches!(run.locking, Locking::Wait(_)) {
            run.locking = Locking::Wait(Duration::from_secs(1));
        }
        Box::pin(async move { self.inner.run(&run, observer).await })
    }

    fn interrupt<'a>(&'a self, identity: &'a Identity) -> Answer<'a, bool> {
        self.inner.interrupt(identity)
    }

    fn stop(&self) {
        self.inner.stop();
    }

    fn unfinished(&self) -> Answer<'_, Vec<Unfinished>> {
        self.inner.unfinished()
    }

    fn left<'a>(&'a self, identity: &'a Identity) -> Answer<'a, Left> {
        self.inner.left(identity)
    }

    fn collect<'a>(&'a self, known: &'a BTreeSet<Identity>) -> Answer<'a, Vec<Identity>> {
        self.inner.collect(known)
    }

    fn provider_lock(&self, identity: &Identity) -> Result<Option<String>, Error> {
        self.inner.provider_lock(identity)
    }

    fn log(&self, identity: &Identity, verb: Verb) -> Result<Option<String>, Error> {
        self.inner.log(identity, verb)
    }
}
