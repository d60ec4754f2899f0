//! An engine that has nothing to do.

use std::collections::BTreeSet;
use std::sync::Mutex;

use capt_terraform::scripted::failure;
use capt_terraform::{
    Answer, Engine, Error, Identity, Left, Observer, Outcome, Run, Unfinished, Verb, Version,
};

/// Remembers what it was asked to do, and fails it.
pub(super) struct Idle {
    version: Version,
    runs: Mutex<Vec<String>>,
}

impl Idle {
    /// As the engine that ran before.
    pub(super) fn of(version: Version) -> Self {
        Self { version, runs: Mutex::default() }
    }

    pub(super) fn runs(&self) -> Vec<String> {
        self.runs.lock().unwrap().clone()
    }
}

impl Engine for Idle {
    fn version(&self) -> &Version {
        &self.version
    }

    fn run<'a>(&'a self, run: &'a Run, _: &'a dyn Observer) -> Answer<'a, Outcome> {
        self.runs.lock().unwrap().push(format!("{:?} of {}", run.operation, run.workspace));
        Box::pin(async { Err(failure(Verb::Plan, "nothing was to be run")) })
    }

    fn interrupt<'a>(&'a self, _: &'a Identity) -> Answer<'a, bool> {
        Box::pin(async { Ok(false) })
    }

    fn stop(&self) {}

    fn unfinished(&self) -> Answer<'_, Vec<Unfinished>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn left<'a>(&'a self, _: &'a Identity) -> Answer<'a, Left> {
        Box::pin(async { Ok(Left::default()) })
    }

    fn collect<'a>(&'a self, _: &'a BTreeSet<Identity>) -> Answer<'a, Vec<Identity>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn provider_lock(&self, _: &Identity) -> Result<Option<String>, Error> {
        Ok(None)
    }

    fn log(&self, _: &Identity, _: Verb) -> Result<Option<String>, Error> {
        Ok(None)
    }
}
