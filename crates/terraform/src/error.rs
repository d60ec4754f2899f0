//! What can go wrong with a run, and when it is worth another try.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::binary::BinaryError;
use crate::diagnostic::{Diagnostic, LockInfo, Severity};
use crate::engine::Verb;
use crate::run::InvalidRun;

/// Why a run did not succeed. Free of secrets.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The run is wrong in itself.
    #[error(transparent)]
    Invalid(#[from] InvalidRun),
    /// There is no usable binary.
    #[error(transparent)]
    Binary(#[from] BinaryError),
    /// A file of ours could not be read or written.
    #[error("working on `{}`{}", path.display(), advice(source))]
    File {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The binary could not be started.
    #[error("starting `{}` for {verb}", program.display())]
    Start {
        /// The command.
        verb: Verb,
        /// The binary.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The command failed and said why.
    #[error("{verb} failed ({exit}){}", told(diagnostics))]
    Failed {
        /// The command.
        verb: Verb,
        /// How it ended, for example `exit status: 1`.
        exit: String,
        /// What it said.
        diagnostics: Vec<Diagnostic>,
    },
    /// Somebody else holds the lock on the state.
    #[error(
        "the state is locked by {} for {} since {} (lock {}{})",
        lock.who, lock.operation, lock.created, lock.id, if *left_behind { ", left behind by a command that is over" } else { "" }
    )]
    Locked {
        /// The command.
        verb: Verb,
        /// Who, since when.
        lock: LockInfo,
        /// Whether a command of ours took it and is over, so that it can be released safely.
        left_behind: bool,
    },
    /// The saved plan is not the one that was asked for, or the state moved on since.
    #[error("the saved plan can no longer be applied ({why}): plan again")]
    StalePlan {
        /// What happened to it.
        why: &'static str,
    },
    /// The command was asked to stop, by the caller.
    #[error("{verb} was asked to stop; what it had begun is saved")]
    Interrupted {
        /// The command.
        verb: Verb,
    },
    /// The command was asked to stop because it took too long.
    #[error("{verb} took longer than {} seconds and was ended{}", limit.as_secs(), told(diagnostics))]
    TimedOut {
        /// The command.
        verb: Verb,
        /// How long it might have taken.
        limit: Duration,
        /// What it said.
        diagnostics: Vec<Diagnostic>,
    },
    /// A state that could not be stored before cannot be stored now either.
    #[error(
        "the state of an earlier apply is still only in `{}`, because storing it failed: nothing else is done until it is stored",
        path.display()
    )]
    StatePush {
        /// The file with the state.
        path: PathBuf,
        /// Why.
        source: Box<Error>,
    },
    /// The keeper could not read, store or lock the state.
    #[error("{doing}")]
    Keeper {
        /// What it was doing.
        doing: String,
        /// Why that failed.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Two versions of the state follow from the same one.
    #[error("the state has forked: {what}")]
    StateForked {
        /// Which versions, and what to do.
        what: String,
    },
    /// The module declares no backend, or insists on a local one, so that its state would be lost with its working
    /// directory.
    #[error("the module declares no backend that outlives its working directory: its state would be lost")]
    NoBackend,
    /// The command succeeded but what it printed cannot be read.
    #[error("reading what {verb} printed")]
    Unreadable {
        /// The command.
        verb: Verb,
        /// Why.
        source: serde_json::Error,
    },
    /// The engine takes no new work.
    #[error("the engine is stopping and begins nothing new")]
    Stopping,
}

/// When another try is worth it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// When something that goes in changes.
    OnChange,
    /// After a while.
    Backoff,
    /// At once, beginning with a plan.
    Replan,
}

impl Error {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }

    /// When another try is worth it.
    pub fn retry(&self) -> Retry {
        match self {
            Self::Invalid(_) | Self::NoBackend => Retry::OnChange,
            Self::StalePlan { .. } => Retry::Replan,
            Self::Binary(_)
            | Self::File { .. }
            | Self::Start { .. }
            | Self::Failed { .. }
            | Self::Locked { .. }
            | Self::Interrupted { .. }
            | Self::TimedOut { .. }
            | Self::StatePush { .. }
            | Self::Keeper { .. }
            | Self::StateForked { .. }
            | Self::Unreadable { .. }
            | Self::Stopping => Retry::Backoff,
        }
    }

    /// One word for conditions, Events and metrics.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "InvalidRun",
            Self::Binary(_) | Self::Start { .. } => "TerraformUnavailable",
            Self::File { .. } => "WorkingDirectoryFailed",
            Self::Failed { verb, .. } => match verb {
                Verb::Version
                | Verb::Show
                | Verb::Output
                | Verb::ForceUnlock
                | Verb::StatePull
                | Verb::StateRemove
                | Verb::Import => "TerraformFailed",
                Verb::Fetch => "ModuleUnavailable",
                Verb::Init => "InitFailed",
                Verb::Plan => "PlanFailed",
                Verb::Apply => "ApplyFailed",
                Verb::StatePush => "StatePushFailed",
            },
            Self::Locked { .. } => "Locked",
            Self::StalePlan { .. } => "PlanStale",
            Self::Interrupted { .. } | Self::Stopping => "Interrupted",
            Self::TimedOut { .. } => "TimedOut",
            Self::StatePush { .. } | Self::Keeper { .. } => "StatePushFailed",
            Self::StateForked { .. } => "StateForked",
            Self::NoBackend => "NoBackend",
            Self::Unreadable { .. } => "OutputUnreadable",
        }
    }

    /// The lock that is in the way, and whether its holder is known to be dead.
    pub fn lock(&self) -> Option<(&LockInfo, bool)> {
        match self {
            Self::Locked { lock, left_behind, .. } => Some((lock, *left_behind)),
            Self::StatePush { source, .. } => source.lock(),
            Self::Invalid(_)
            | Self::Binary(_)
            | Self::File { .. }
            | Self::Start { .. }
            | Self::Failed { .. }
            | Self::StalePlan { .. }
            | Self::Interrupted { .. }
            | Self::TimedOut { .. }
            | Self::Keeper { .. }
            | Self::StateForked { .. }
            | Self::NoBackend
            | Self::Unreadable { .. }
            | Self::Stopping => None,
        }
    }

    /// What Terraform said.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Self::Failed { diagnostics, .. } | Self::TimedOut { diagnostics, .. } => diagnostics,
            Self::StatePush { source, .. } => source.diagnostics(),
            Self::Invalid(_)
            | Self::Binary(_)
            | Self::File { .. }
            | Self::Start { .. }
            | Self::Locked { .. }
            | Self::StalePlan { .. }
            | Self::Interrupted { .. }
            | Self::Keeper { .. }
            | Self::StateForked { .. }
            | Self::NoBackend
            | Self::Unreadable { .. }
            | Self::Stopping => &[],
        }
    }
}

/// What to do about a failure of the file system.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ": the disk is full, make room there",
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            ": it cannot be written to, see its permissions"
        }
        _ => "",
    }
}

/// The first errors; the rest are in the log.
fn told(diagnostics: &[Diagnostic]) -> String {
    let errors: Vec<String> = diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error)
        .take(3)
        .map(ToString::to_string)
        .collect();
    if errors.is_empty() { String::new() } else { format!(": {}", errors.join("; ")) }
}
