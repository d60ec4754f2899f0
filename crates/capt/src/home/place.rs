//! Where a home is, and whether one runs there.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use capt_local::home::Holder;
use jiff::Timestamp;

use crate::directory;
use crate::program::{self, quoted};

/// The data directory that is meant: the given one, else that of the user.
pub(crate) fn directory(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    let Some(given) = given else {
        return usual()
            .context("neither XDG_DATA_HOME nor HOME is set: say where the data goes with --dir DIR");
    };
    std::path::absolute(given).with_context(|| format!("finding {}", given.display()))
}

fn usual() -> Option<PathBuf> {
    directory::of_user("XDG_DATA_HOME", ".local/share")
}

/// Who runs the home of a directory, if anybody does.
pub(crate) fn running(directory: &Path) -> anyhow::Result<Option<Running>> {
    let holder = match Holder::of(directory) {
        // What is below a file, or belongs to somebody else, is told by whoever wants to use it.
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => None,
        holder => holder.with_context(|| format!("looking who runs the home in {}", directory.display()))?,
    };
    Ok(holder.map(|Holder { pid, since, alive }| Running {
        pid,
        since: Timestamp::try_from(since).unwrap_or_default(),
        alive,
    }))
}

/// Who runs a home.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Running {
    pub(crate) pid: u32,
    pub(crate) since: Timestamp,
    /// If not, what it started is about to end.
    pub(crate) alive: bool,
}

impl std::fmt::Display for Running {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "pid {}, since {:.0}", self.pid, self.since)
    }
}

/// An error that says who runs the home and what to do about it.
pub(super) fn refuse_if_it_runs(directory: &Path) -> anyhow::Result<()> {
    match running(directory)? {
        Some(running) if running.alive => bail!(
            "{} is in use by another capt ({running}): `{}` tells how it is, `{}` stops it",
            directory.display(),
            command("status", directory),
            command("down", directory),
        ),
        _ => Ok(()),
    }
}

/// What a person types to do this with the home of a directory.
pub(crate) fn command(verb: &str, directory: &Path) -> String {
    let name = program::name();
    if usual().is_some_and(|usual| usual == directory) {
        format!("{name} {verb}")
    } else {
        format!("{name} {verb} --dir {}", quoted(&directory.display().to_string()))
    }
}
