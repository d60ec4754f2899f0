//! The engine as others see it.

use std::collections::BTreeSet;
use std::fmt;
use std::pin::Pin;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::binary::Version;
use crate::calls::Calls;
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::keeper::StateKeeper;
use crate::output::Outputs;
use crate::plan::{Plan, PlanHash};
use crate::run::{Identity, Run};
use crate::stream::Progress;

/// What an engine answers in its own time.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// Does runs. All that it reports is free of the run's secrets, except the outputs, which are hidden by their type.
pub trait Engine: Send + Sync {
    /// Which tool does the work; part of the fingerprint.
    fn version(&self) -> &Version;

    /// Does one run. Work on the same identity never overlaps: a second run waits for the first, and for a process
    /// that an earlier engine left behind.
    ///
    /// Dropping the future leaves the process to end by itself; the next run of that identity waits for it.
    fn run<'a>(&'a self, run: &'a Run, observer: &'a dyn Observer) -> Answer<'a, Outcome>;

    /// Asks the work on this identity to stop, at most once; `false` when there is none. Its run ends with
    /// [`Error::Interrupted`] when what was begun is finished and saved.
    fn interrupt<'a>(&'a self, identity: &'a Identity) -> Answer<'a, bool>;

    /// Begins nothing new and asks everything that runs to stop, once. The runs end by themselves.
    fn stop(&self);

    /// What is running, and what an earlier engine left unfinished: to be looked at before new work is given out.
    fn unfinished(&self) -> Answer<'_, Vec<Unfinished>>;

    /// What work on this identity has left on this machine that must not be passed over.
    fn left<'a>(&'a self, identity: &'a Identity) -> Answer<'a, Left>;

    /// Removes the working directories of identities that are not in `known`, which has to be complete.
    ///
    /// One with a process, or with a state that could not be stored, stays whatever `known` says. Returns what was removed.
    fn collect<'a>(&'a self, known: &'a BTreeSet<Identity>) -> Answer<'a, Vec<Identity>>;

    /// The lock file of the providers that was kept for this identity, to be carried to where its directory is not;
    /// see [`Run::provider_lock`].
    fn provider_lock(&self, identity: &Identity) -> Result<Option<String>, Error>;

    /// The log of the last run of a command, without secrets; `None` when there is none.
    fn log(&self, identity: &Identity, verb: Verb) -> Result<Option<String>, Error>;
}

/// Sees what happens in a run while it happens, and says who keeps its state.
pub trait Observer: Send + Sync {
    /// Called from the run itself: must return at once.
    fn observe(&self, event: Event);

    /// Who keeps a state in Secrets of Kubernetes; without a keeper the tool does that itself.
    fn keeper(&self) -> Option<&dyn StateKeeper> {
        None
    }
}

impl<F: Fn(Event) + Send + Sync> Observer for F {
    fn observe(&self, event: Event) {
        self(event);
    }
}

/// Sees what another observer sees, before it does, and keeps the state as that one does.
pub struct Beside<'o, F> {
    /// The other one.
    pub observer: &'o dyn Observer,
    /// Sees each event first.
    pub also: F,
}

impl<F: Fn(&Event) + Send + Sync> Observer for Beside<'_, F> {
    fn observe(&self, event: Event) {
        (self.also)(&event);
        self.observer.observe(event);
    }

    fn keeper(&self) -> Option<&dyn StateKeeper> {
        self.observer.keeper()
    }
}

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Another process works in the same directory; the run waits for its end.
    Waiting(Unfinished),
    /// A process that an earlier engine left behind has ended.
    Survived(Survived),
    /// A state that could not be stored earlier is stored now.
    StatePushed,
    /// The last version of the state cannot be stored at the moment; the run goes on trying.
    StateNotStored(String),
    /// A command began.
    Started(Verb),
    /// A command was asked to stop.
    Interrupting(Verb),
    /// An apply went on.
    Progress(Progress),
    /// What an apply has begun and finished so far; nothing once its state is stored.
    Calls(Calls),
    /// A line of the command's log.
    Line(Verb, String),
}

/// What became of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Of [`Operation::Plan`](crate::Operation::Plan) and [`Operation::PlanDestroy`](crate::Operation::PlanDestroy).
    Planned(Plan),
    /// Of [`Operation::Apply`](crate::Operation::Apply).
    Applied(Applied),
    /// Of [`Operation::Outputs`](crate::Operation::Outputs).
    Outputs(Outputs),
    /// Of [`Operation::ForceUnlock`](crate::Operation::ForceUnlock).
    Unlocked,
}

/// A plan was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The outputs as they are now; none after a destroy.
    pub outputs: Outputs,
    /// What Terraform warned of.
    pub warnings: Vec<Diagnostic>,
}

/// A command that was begun and whose end was not seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    /// Whose it is.
    pub identity: Identity,
    /// The command; unknown when another engine is between two commands.
    pub verb: Option<Verb>,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// Whether something is still running.
    pub alive: bool,
}

/// What work on an identity has left on this machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Left {
    /// Whether a process works.
    pub alive: bool,
    /// Whether a command was begun whose end was not seen.
    pub unfinished: bool,
    /// Whether a state is there that could not be stored. The next run stores it before anything else.
    pub unstored: bool,
}

/// What is known of a command that ended while nobody looked. Its exit code is not; plan again to see what it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survived {
    /// The command.
    pub verb: Verb,
    /// When it began.
    pub started_at: Timestamp,
    /// The plan that was applied.
    pub plan: Option<PlanHash>,
    /// Whether it said itself that its work is complete.
    pub completed: bool,
    /// What it said about failures; nothing where it had ended before this engine started, which then removed what it
    /// had printed.
    pub diagnostics: Vec<Diagnostic>,
    /// What an apply had begun and finished, where that is known: nothing where it came to its own end and its state is stored.
    pub calls: Option<Calls>,
}

/// A command of Terraform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verb {
    /// `version`
    Version,
    /// `init -from-module`
    Fetch,
    /// `init`
    Init,
    /// `plan`
    Plan,
    /// `show`
    Show,
    /// `apply`
    Apply,
    /// `output`
    Output,
    /// `state push`
    StatePush,
    /// `force-unlock`
    ForceUnlock,
    /// `state pull`
    StatePull,
    /// `state rm`
    StateRemove,
    /// `import`
    Import,
}

impl Verb {
    /// Whether it may be killed: it changes neither the world nor the state.
    pub fn may_be_killed(self) -> bool {
        match self {
            Self::Version
            | Self::Fetch
            | Self::Init
            | Self::Plan
            | Self::Show
            | Self::Output
            | Self::StatePull => true,
            Self::Apply | Self::StatePush | Self::ForceUnlock | Self::StateRemove | Self::Import => false,
        }
    }

    /// Whether its standard output is a stream of JSON messages.
    pub(crate) fn streams(self) -> bool {
        matches!(self, Self::Plan | Self::Apply)
    }

    /// For file names.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::Fetch => "fetch",
            Self::Init => "init",
            Self::Plan => "plan",
            Self::Show => "show",
            Self::Apply => "apply",
            Self::Output => "output",
            Self::StatePush => "state-push",
            Self::ForceUnlock => "force-unlock",
            Self::StatePull => "state-pull",
            Self::StateRemove => "state-rm",
            Self::Import => "import",
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Fetch => "fetching the module",
            Self::StatePush => "state push",
            Self::StatePull => "state pull",
            Self::StateRemove => "state rm",
            other => other.name(),
        })
    }
}
