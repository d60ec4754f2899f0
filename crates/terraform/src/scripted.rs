//! An engine without processes, for tests of those who use one.
//!
//! A function decides what each run comes to, so that a test says in one place what the world does.

use std::collections::{BTreeMap, BTreeSet};
use std::future::ready;
use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;

use crate::binary::{Tool, Version};
use crate::diagnostic::Diagnostic;
use crate::engine::{Answer, Applied, Engine, Event, Left, Observer, Outcome, Unfinished, Verb};
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
    world: Mutex<World>,
}

#[derive(Default)]
struct World {
    stopping: bool,
    runs: Vec<Run>,
    hanging: Vec<(Identity, watch::Sender<bool>)>,
    unfinished: Vec<Unfinished>,
    directories: BTreeSet<Identity>,
    left: BTreeMap<Identity, Left>,
    provider_locks: BTreeMap<Identity, String>,
    logs: Vec<(Identity, Verb, String)>,
}

impl ScriptedEngine {
    /// An engine that asks the script about every run.
    pub fn new(script: impl Fn(&Run) -> Turn + Send + Sync + 'static) -> Self {
        Self {
            version: Version { tool: Tool::OpenTofu, version: "0.0.0".to_owned() },
            script: Box::new(script),
            world: Mutex::default(),
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
        lock(&self.world).unfinished = unfinished;
    }

    /// Pretends that this is left of the work on an identity.
    pub fn leave(&self, identity: Identity, left: Left) {
        lock(&self.world).left.insert(identity, left);
    }

    /// Pretends that this lock file of the providers was kept.
    pub fn keep_provider_lock(&self, identity: Identity, content: impl Into<String>) {
        lock(&self.world).provider_locks.insert(identity, content.into());
    }

    /// The runs so far, in the order in which they began.
    pub fn runs(&self) -> Vec<Run> {
        lock(&self.world).runs.clone()
    }

    async fn play(&self, run: &Run, observer: &dyn Observer) -> Result<Outcome, Error> {
        run.validate()?;
        if lock(&self.world).stopping {
            return Err(Error::Stopping);
        }
        let Turn { events, end } = (self.script)(run);
        let mut stopped = self.note(run, &events, end.is_none());
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

    /// Notes a run and its logs. The answer turns true when a run that hangs is interrupted.
    fn note(&self, run: &Run, events: &[Event], hangs: bool) -> watch::Receiver<bool> {
        let mut world = lock(&self.world);
        world.runs.push(run.clone());
        world.directories.insert(run.identity.clone());
        for event in events {
            match event {
                Event::Started(verb) => world.logs.push((run.identity.clone(), *verb, String::new())),
                Event::Line(verb, line) => match world.logs.last_mut() {
                    Some((identity, of, text)) if *identity == run.identity && of == verb => {
                        text.push_str(line);
                        text.push('\n');
                    }
                    _ => world.logs.push((run.identity.clone(), *verb, format!("{line}\n"))),
                },
                _ => {}
            }
        }
        let stop = watch::Sender::new(false);
        let stopped = stop.subscribe();
        if hangs {
            world.hanging.push((run.identity.clone(), stop));
        }
        stopped
    }
}

impl Engine for ScriptedEngine {
    fn version(&self) -> &Version {
        &self.version
    }

    fn run<'a>(&'a self, run: &'a Run, observer: &'a dyn Observer) -> Answer<'a, Outcome> {
        Box::pin(self.play(run, observer))
    }

    fn interrupt<'a>(&'a self, identity: &'a Identity) -> Answer<'a, bool> {
        let mut world = lock(&self.world);
        let before = world.hanging.len();
        world.hanging.retain(|(running, stop)| {
            let asked = running == identity;
            if asked {
                stop.send_replace(true);
            }
            !asked
        });
        let found = world.hanging.len() < before;
        Box::pin(ready(Ok(found)))
    }

    fn stop(&self) {
        let mut world = lock(&self.world);
        world.stopping = true;
        for (_, stop) in world.hanging.drain(..) {
            stop.send_replace(true);
        }
    }

    fn unfinished(&self) -> Answer<'_, Vec<Unfinished>> {
        Box::pin(ready(Ok(lock(&self.world).unfinished.clone())))
    }

    fn left<'a>(&'a self, identity: &'a Identity) -> Answer<'a, Left> {
        Box::pin(ready(Ok(lock(&self.world).left.get(identity).copied().unwrap_or_default())))
    }

    fn collect<'a>(&'a self, known: &'a BTreeSet<Identity>) -> Answer<'a, Vec<Identity>> {
        let directories = &mut lock(&self.world).directories;
        let removed: Vec<Identity> = directories.difference(known).cloned().collect();
        directories.retain(|identity| known.contains(identity));
        Box::pin(ready(Ok(removed)))
    }

    fn provider_lock(&self, identity: &Identity) -> Result<Option<String>, Error> {
        Ok(lock(&self.world).provider_locks.get(identity).cloned())
    }

    fn log(&self, identity: &Identity, verb: Verb) -> Result<Option<String>, Error> {
        let world = lock(&self.world);
        Ok(world
            .logs
            .iter()
            .rev()
            .find(|(whose, of, _)| whose == identity && *of == verb)
            .map(|log| log.2.clone()))
    }
}

/// A plan that does this to these addresses. Its hash follows from them.
pub fn plan(changes: &[(&str, Action)]) -> Plan {
    let digest = crate::fingerprint::digest(&serde_json::json!(changes));
    let changes = changes.iter().map(|(address, action)| Change {
        address: (*address).to_owned(),
        action: *action,
        reason: None,
        moved_from: None,
        imported: None,
        attributes: Vec::new(),
    });
    let changes: Vec<Change> = changes.collect();
    Plan {
        hash: PlanHash::from_text(digest),
        destroy: false,
        applicable: !changes.is_empty(),
        changes,
        outputs: Vec::new(),
        others: Vec::new(),
        drift: Vec::new(),
        warnings: Vec::new(),
        elsewhere: None,
        not_imported: Vec::new(),
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
