//! All working directories at once.

use std::collections::BTreeSet;
use std::path::Path;

use super::survivor;
use crate::engine::Unfinished;
use crate::error::Error;
use crate::private;
use crate::redact::Redactor;
use crate::run::Identity;
use crate::workdir::{Journal, Lock, SavedPlan, Stamp, Workdir};

/// Removes the secrets in every directory that nobody works in. One that cannot be swept does not keep the others, nor
/// the engine, from their work.
pub(super) fn sweep(root: &Path) -> Result<(), Error> {
    for identity in Identity::all_below(root).map_err(Error::file(root))? {
        if let Err(error) = sweep_one(&Workdir::new(root, &identity)) {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(identity = %identity, error, "secrets of an earlier run not removed");
        }
    }
    Ok(())
}

/// What is running, and what was left unfinished. Costs no more than a few calls for each directory.
pub(super) fn unfinished(root: &Path) -> Result<Vec<Unfinished>, Error> {
    let mut found = Vec::new();
    for identity in Identity::all_below(root).map_err(Error::file(root))? {
        // One directory that cannot be read hides no other; the next run there will say what is wrong.
        match survivor::look(&Workdir::new(root, &identity), &identity) {
            Ok(unfinished) => found.extend(unfinished),
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(identity = %identity, error, "working directory cannot be looked at");
            }
        }
    }
    Ok(found)
}

/// Removes the directories that nobody knows and whose loss loses nothing.
pub(super) fn collect(root: &Path, known: &BTreeSet<Identity>) -> Result<Vec<Identity>, Error> {
    let mut removed = Vec::new();
    let all = Identity::all_below(root).map_err(Error::file(root))?;
    for identity in all.into_iter().filter(|identity| !known.contains(identity)) {
        let workdir = Workdir::new(root, &identity);
        let path = workdir.path();
        let Some(_lock) = Lock::try_take(&workdir).map_err(Error::file(path))? else { continue };
        if workdir.holds_state().map_err(Error::file(path))? {
            tracing::warn!(identity = %identity, "working directory kept: it holds a state");
            continue;
        }
        private::remove(path).map_err(Error::file(path))?;
        removed.push(identity);
    }
    Ok(removed)
}

fn sweep_one(workdir: &Workdir) -> Result<(), Error> {
    // A process that lives needs them still.
    let Some(_lock) = Lock::try_take(workdir).map_err(Error::file(workdir.path()))? else { return Ok(()) };
    if let Some(journal) = Journal::read(workdir)? {
        // What it printed goes, since nobody here knows the secrets in it; that it came to its end is remembered.
        let (fold, _) = survivor::read_log(workdir, &journal, &Redactor::default())?;
        let completed = journal.completed || fold.completed;
        survivor::keep_calls(workdir, &journal, &fold, &Redactor::default())?;
        survivor::drop_begun_plan(workdir, &journal)?;
        Journal { completed, ..journal }.write(workdir)?;
    }
    if SavedPlan::read(workdir).is_none() {
        private::remove(&workdir.plan()).map_err(Error::file(workdir.plan()))?;
    }
    workdir.forget_raw_logs()?;
    workdir.forget_secrets()
}
