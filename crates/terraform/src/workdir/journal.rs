//! Written before a command begins and emptied when its end was seen, so that nothing that was begun is forgotten.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Lock, Workdir};
use crate::engine::Verb;
use crate::error::Error;
use crate::plan::PlanHash;

/// More than any journal needs.
const LENGTH: usize = 1024;

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
    /// It said itself that its work is complete; noted when what it printed had to be removed.
    #[serde(default)]
    pub(crate) completed: bool,
}

impl Journal {
    /// The journal of a directory. One that cannot be understood is told as if it were not there: the lock still
    /// says whether a process lives.
    pub(crate) fn read(workdir: &Workdir) -> Result<Option<Self>, Error> {
        let path = path(workdir);
        match fs::read(&path) {
            Ok(content) => Ok(serde_json::from_slice(&content).ok().flatten()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::file(path)(error)),
        }
    }

    pub(crate) fn write(&self, workdir: &Workdir) -> Result<(), Error> {
        replace(workdir, Some(self))
    }

    /// While it is held, nobody else changes the journal of a command that runs: two who want it to stop send one signal.
    pub(crate) fn guard(workdir: &Workdir) -> Result<Lock, Error> {
        let path = path(workdir);
        Lock::wait(&path).map_err(Error::file(path))
    }

    /// Notes the process, once it is there.
    pub(crate) fn note_process(workdir: &Workdir, pid: Option<i32>) -> Result<(), Error> {
        let _guard = Self::guard(workdir)?;
        Self::read(workdir)?.map_or(Ok(()), |journal| Self { pid, ..journal }.write(workdir))
    }

    pub(crate) fn remove(workdir: &Workdir) -> Result<(), Error> {
        if path(workdir).exists() { replace(workdir, None) } else { Ok(()) }
    }
}

/// Writes over what is there, in one call, so that a kill leaves the old or the new. It need not reach the disk: where the
/// machine dies, the command dies too.
fn replace(workdir: &Workdir, journal: Option<&Journal>) -> Result<(), Error> {
    let path = path(workdir);
    let write = || {
        let mut content = serde_json::to_vec(&journal)?;
        // As long as what it replaces.
        content.resize(content.len().max(LENGTH), b' ');
        let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path)?;
        file.write_all_at(&content, 0)
    };
    write().map_err(Error::file(&path))
}

fn path(workdir: &Workdir) -> PathBuf {
    workdir.path().join("journal.json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Identity;

    #[test]
    fn a_journal_is_read_as_it_was_written_last() {
        let root = tempfile::tempdir().unwrap();
        let workdir = Workdir::new(root.path(), &Identity::try_from("uid-1".to_owned()).unwrap());
        workdir.create().unwrap();
        let long = Journal {
            verb: Verb::Apply,
            pid: Some(i32::MAX),
            started_at: Timestamp::MAX,
            plan: Some(PlanHash::from_text("f".repeat(64))),
            steps: u64::MAX,
            interrupted: false,
            completed: false,
        };
        let short = Journal { pid: None, plan: None, steps: 0, ..long.clone() };
        assert_eq!(Journal::read(&workdir).unwrap(), None);

        for journal in [long, short] {
            journal.write(&workdir).unwrap();
            assert_eq!(Journal::read(&workdir).unwrap(), Some(journal));
            assert_eq!(fs::metadata(path(&workdir)).unwrap().len(), LENGTH as u64);
        }

        Journal::remove(&workdir).unwrap();
        assert_eq!(Journal::read(&workdir).unwrap(), None);
        fs::write(path(&workdir), "{\"verb\":").unwrap();
        assert_eq!(Journal::read(&workdir).unwrap(), None);
    }
}
