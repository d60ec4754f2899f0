//! An engine without processes, for tests of those who use one.
//!
//! A function decides what each run comes to, so that a test says in one place what the world does.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;

use crate::binary::{Tool, Version};
use crate::diagnostic::Diagnostic;
use crate::engine::{Applied, Engine, Event, Observer, Outcome, Unfinished, Verb};
use crate::error::Error;
use crate::output::Outputs;
use crate::plan::{Action, Change, Plan, PlanHash};
use crate::run::{Identity, Operation, Run};

type Script = Box<dyn Fn(&Run) -> Turn + Send + Sync>;

/// What a run comes to.
pub struct Turn {
    /// Reported first, in this order.
    pub events: Vec<Event>,
    /// How it ends; `None` hangs until it is interrupted.
    pub end: Option<Result<Outcome, Error>>,
}

impl Turn {
    /// Ends well, at once.
    pub fn succeeds(outcome: Outcome) -> Self {
        Self { events: Vec::new(), end: Some(Ok(outcome)) }
    }

    /// Ends badly, at once.
    pub fn fails(error: Error) -> Self {
        Self { events: Vec::new(), end: Some(Err(error)) }
    }

    /// Goes on until it is interrupted.
    pub fn hangs() -> Self {
        Self { events: Vec::new(), end: None }
    }

    /// Reports this before it ends.
    #[must_use]
    pub fn after(mut self, event: Event) -> Self {
        self.events.push(event);
        self
    }
}

/// Does what its script says.
pub struct ScriptedEngine {
    version: Version,
    script: Script,
    runs: Mutex<Vec<Run>>,
    hanging: Mutex<Vec<(Identity, watch::Sender<bool>)>>,
    unfinished: Mutex<Vec<Unfinished>>,
    directories: Mutex<BTreeSet<Identity>>,
}

impl ScriptedEngine {
    /// An engine that asks the script about every run.
    pub fn new(script: impl Fn(&Run) -> Turn + Send + Sync + 'static) -> Self {
        Self {
            version: Version { tool: Tool::OpenTofu, version: "0.0.0".to_owned() },
            script: Box::new(script),
            runs: Mutex::default(),
            hanging: Mutex::default(),
            unfinished: Mutex::default(),
            directories: Mutex::default(),
        }
    }

    /// An engine in which everything succeeds: every plan makes one resource, every apply gives these outputs.
    pub fn succeeding(outputs: Outputs) -> Self {
        Self::new(move |run| {
            Turn::succeeds(match &run.operation {
                Operation::Plan => Outcome::Planned(plan(&[("terraform_data.one", Action::Create)])),
                Operation::PlanDestroy => Outcome::Planned(plan(&[("terraform_data.one", Action::Delete)])),
                Operation::Apply { .. } => {
                    Outcome::Applied(Applied { outputs: outputs.clone(), warnings: Vec::new() })
                }
                Operation::Outputs => Outcome::Outputs(outputs.clone()),
                Operation::ForceUnlock { .. } => Outcome::Unlocked,
            })
        })
    }

    /// Pretends that an earlier engine left these behind.
    pub fn leave_unfinished(&self, unfinished: Vec<Unfinished>) {
        *lock(&self.unfinished) = unfinished;
    }

    /// The runs so far, in the order in which they began.
    pub fn runs(&self) -> Vec<Run> {
        lock(&self.runs).clone()
    }
}

impl Engine for ScriptedEngine {
    fn version(&self) -> &Version {
        &self.version
    }

    async fn run(&self, run: &Run, observer: &dyn Observer) -> Result<Outcome, Error> {
        run.validate()?;
        let Turn { events, end } = (self.script)(run);
        lock(&self.runs).push(run.clone());
        lock(&self.directories).insert(run.identity.clone());
        let stop = watch::Sender::new(false);
        let mut stopped = stop.subscribe();
        if end.is_none() {
            lock(&self.hanging).push((run.identity.clone(), stop));
        }
        for event in events {
            observer.observe(event);
        }
        if let Some(end) = end {
            return end;
        }
        // A sender that is gone was interrupted too.
        let _ = stopped.wait_for(|stop| *stop).await;
        Err(Error::Interrupted { verb: verb(&run.operation) })
    }

    async fn interrupt(&self, identity: &Identity) -> Result<bool, Error> {
        let mut hanging = lock(&self.hanging);
        let before = hanging.len();
        hanging.retain(|(running, stop)| {
            let asked = running == identity;
            if asked {
                stop.send_replace(true);
            }
            !asked
        });
        Ok(hanging.len() < before)
    }

    async fn unfinished(&self) -> Result<Vec<Unfinished>, Error> {
        Ok(lock(&self.unfinished).clone())
    }

    async fn collect(&self, known: &BTreeSet<Identity>) -> Result<Vec<Identity>, Error> {
        let mut directories = lock(&self.directories);
        let removed: Vec<Identity> = directories.difference(known).cloned().collect();
        directories.retain(|identity| known.contains(identity));
        Ok(removed)
    }
}

/// A plan that does this to these addresses. Its hash follows from them.
pub fn plan(changes: &[(&str, Action)]) -> Plan {
    let digest = crate::fingerprint::digest(&serde_json::json!(changes));
    let changes = changes.iter().map(|(address, action)| Change {
        address: (*address).to_owned(),
        action: *action,
        reason: None,
        attributes: Vec::new(),
    });
    Plan {
        hash: PlanHash::from_text(digest),
        destroy: false,
        changes: changes.collect(),
        outputs: Vec::new(),
        drift: Vec::new(),
        warnings: Vec::new(),
    }
}

/// The failure of a command with one diagnostic.
pub fn failure(verb: Verb, summary: &str) -> Error {
    Error::Failed { verb, exit: "exit status: 1".to_owned(), diagnostics: vec![Diagnostic::error(summary)] }
}

fn verb(operation: &Operation) -> Verb {
    match operation {
        Operation::Plan | Operation::PlanDestroy => Verb::Plan,
        Operation::Apply { .. } => Verb::Apply,
        Operation::Outputs => Verb::Output,
        Operation::ForceUnlock { .. } => Verb::ForceUnlock,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
