//! The time in which a run has its working directory to itself.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::active::Signal;
use super::{Settings, blocking};
use crate::binary::Version;
use crate::engine::{Observer, Verb};
use crate::error::Error;
use crate::plan::PlanHash;
use crate::redact::Redactor;
use crate::run::{Locking, Run};
use crate::workdir::{Lock, Workdir};

/// Everything that the commands of one run share.
pub(super) struct Session<'a> {
    pub(super) settings: &'a Settings,
    pub(super) version: &'a Version,
    pub(super) run: Arc<Run>,
    pub(super) workdir: &'a Workdir,
    pub(super) lock: &'a Lock,
    pub(super) redactor: Redactor,
    pub(super) observer: &'a dyn Observer,
    pub(super) stop: Signal,
    /// Whether the state is a file that a keeper stores. Known once the module is in place: it may declare a backend of its own.
    pub(super) kept: AtomicBool,
    /// Whether a command came to its own end: once its state is stored, that says more than its calls.
    pub(super) settled: AtomicBool,
}

/// One command. No argument is or holds a value of the user's; those are in files and in the environment.
pub(super) struct Command {
    pub(super) verb: Verb,
    pub(super) arguments: Vec<OsString>,
    pub(super) directory: PathBuf,
    /// The user's own arguments, and Terraform's word for the command in the name of the variable they go in.
    pub(super) extra: Option<(&'static str, Vec<String>)>,
    /// Whether it works on the workspace of the run, or on the default one.
    pub(super) in_workspace: bool,
    /// The plan that is applied, and its steps.
    pub(super) plan: Option<(PlanHash, u64)>,
}

impl Session<'_> {
    /// A command in the entrypoint without anything of the user's.
    pub(super) fn plain(&self, verb: Verb, arguments: &[&str]) -> Command {
        Command {
            verb,
            arguments: arguments.iter().map(OsString::from).collect(),
            directory: self.workdir.entrypoint(&self.run),
            extra: None,
            in_workspace: true,
            plan: None,
        }
    }

    /// Where providers are shared with other runs, if they are.
    pub(super) fn plugin_cache(&self) -> Option<&Path> {
        self.settings.plugin_cache.as_deref().filter(|_| self.run.plugin_cache)
    }

    /// How a command that changes the state deals with its lock.
    pub(super) fn locking(&self) -> String {
        match self.run.locking {
            // The keeper holds the lock.
            Locking::Wait(_) if self.is_kept() => "-lock=false".to_owned(),
            Locking::Wait(time) => format!("-lock-timeout={}s", time.as_secs()),
            Locking::None => "-lock=false".to_owned(),
        }
    }

    /// Does work on the files of the directory where it holds up nobody.
    ///
    /// It goes on when the run is dropped, and keeps the directory locked until it is done.
    pub(super) async fn off_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Workdir, &Run) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let lock = self.lock.shared().map_err(Error::file(self.workdir.path()))?;
        let (workdir, run) = (self.workdir.clone(), Arc::clone(&self.run));
        blocking(move || {
            let _lock = lock;
            work(&workdir, &run)
        })
        .await
    }

    /// Refuses to go on when the run was asked to stop between two commands.
    pub(super) fn go_on(&self, verb: Verb) -> Result<(), Error> {
        if *self.stop.borrow() { Err(Error::Interrupted { verb }) } else { Ok(()) }
    }
}
