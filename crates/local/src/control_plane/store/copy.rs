//! A copy of data, made before something is done to it.
//!
//! Invariant: a copy at its final path is complete. It is made beside it and then renamed.

use std::fs;
use std::io;
use std::path::Path;

use crate::private;

/// Where the copy is.
pub(super) const COPY: &str = "before-upgrade";
const UNFINISHED: &str = "before-upgrade.unfinished";

/// Copies these files and directories; those that are not there are passed over.
pub(super) fn make(directory: &Path, names: &[&str]) -> io::Result<()> {
    let unfinished = directory.join(UNFINISHED);
    absent_is_fine(fs::remove_dir_all(&unfinished))?;
    private::directory(&unfinished)?;
    for name in names {
        absent_is_fine(copy(&directory.join(name), &unfinished.join(name)))?;
    }
    fs::rename(&unfinished, directory.join(COPY))
}

/// Puts a copy back that somebody left, and says whether there was one.
pub(super) fn put_back(directory: &Path) -> io::Result<bool> {
    absent_is_fine(fs::remove_dir_all(directory.join(UNFINISHED)))?;
    let copy = directory.join(COPY);
    let entries = match fs::read_dir(&copy) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let target = directory.join(entry.file_name());
        absent_is_fine(if target.is_dir() { fs::remove_dir_all(&target) } else { fs::remove_file(&target) })?;
        fs::rename(entry.path(), target)?;
    }
    fs::remove_dir(&copy)?;
    Ok(true)
}

/// The copy is not needed any more.
pub(super) fn discard(directory: &Path) -> io::Result<()> {
    // Not in place: half of a copy must never be put back.
    let unfinished = directory.join(UNFINISHED);
    absent_is_fine(fs::rename(directory.join(COPY), &unfinished))?;
    absent_is_fine(fs::remove_dir_all(unfinished))
}

fn copy(source: &Path, target: &Path) -> io::Result<()> {
    if !source.is_dir() {
        return fs::copy(source, target).map(drop);
    }
    private::directory(target)?;
    for entry in fs::read_dir(source)? {
        let entry = entry?;
        copy(&entry.path(), &target.join(entry.file_name()))?;
    }
    Ok(())
}

fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
