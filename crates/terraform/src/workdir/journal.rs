//! Written before a command begins and removed when its end was seen, so that nothing that was begun is forgotten.

use std::fs;
use std::io;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Lock, Workdir};
use crate::engine::Verb;
use crate::error::Error;
use crate::plan::PlanHash;
use crate::private;

/// The command that was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Journal {
    pub(crate) verb: Verb,
    /// Missing for the moment between the decision to start and the start.
    pub(crate) pid: Option<i32>,
    pub(crate) started_at: Timestamp,
    pub(crate) plan: Option<PlanHash>,
    pub(crate) steps: u64,
    /// A second signal would make Terraform give up at once, so the first is remembered.
    pub(crate) interrupted: bool,
}

impl Journal {
    /// The journal of a directory. One that cannot be understood is told as if it were not there: the lock still
    /// says whether a process lives.
    pub(crate) fn read(workdir: &Workdir) -> Result<Option<Self>, Error> {
        let path = path(workdir);
        match fs::read(&path) {
            Ok(content) => Ok(serde_json::from_slice(&content).ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::file(path)(error)),
        }
    }

    pub(crate) fn write(&self, workdir: &Workdir) -> Result<(), Error> {
        let path = path(workdir);
        let content = serde_json::to_vec(self).map_err(|error| Error::file(&path)(error.into()))?;
        // It outlives us without reaching the disk; where the machine dies, the command dies too.
        private::put(&path, content).map_err(Error::file(path))
    }

    /// While it is held, nobody else changes the journal of a command that runs: two who want it to stop send one signal.
    pub(crate) fn guard(workdir: &Workdir) -> Result<Lock, Error> {
        let path = workdir.path().join("journal.lock");
        Lock::wait(&path).map_err(Error::file(path))
    }

    /// Notes the process, once it is there.
    pub(crate) fn note_process(workdir: &Workdir, pid: Option<i32>) -> Result<(), Error> {
        let _guard = Self::guard(workdir)?;
        Self::read(workdir)?.map_or(Ok(()), |journal| Self { pid, ..journal }.write(workdir))
    }

    pub(crate) fn remove(workdir: &Workdir) -> Result<(), Error> {
        private::remove(&path(workdir)).map_err(Error::file(path(workdir)))
    }
}

fn path(workdir: &Workdir) -> PathBuf {
    workdir.path().join("journal.json")
}
