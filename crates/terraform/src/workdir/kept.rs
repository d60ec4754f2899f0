//! The state file that the tool works on while a keeper stores it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::OFlags;

use super::{STATE_FILE, Stamp, Workdir};
use crate::error::Error;
use crate::private;
use crate::state::{Marks, StateVersion};

/// A state that is larger than this is not read.
const LARGEST: u64 = 64 << 20;

/// The state file of a workspace.
#[derive(Debug, Clone)]
pub(crate) struct KeptFile {
    workdir: Workdir,
    path: PathBuf,
}

/// What tells one content of a file from the next without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Look {
    file: u64,
    length: u64,
    modified: SystemTime,
}

impl KeptFile {
    pub(crate) fn new(workdir: &Workdir, workspace: &str) -> Self {
        Self { workdir: workdir.clone(), path: workdir.kept_state(workspace) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What is there now; nothing where there is no file.
    pub(crate) fn look(&self) -> Option<Look> {
        let found = fs::symlink_metadata(&self.path).ok()?;
        Some(Look { file: found.ino(), length: found.len(), modified: found.modified().ok()? })
    }

    /// The version in the file; nothing where there is none, or where it is torn.
    pub(crate) fn read(&self) -> Result<Option<StateVersion>, Error> {
        Ok(self.text()?.and_then(StateVersion::read))
    }

    /// Whether a file is there in which no version is.
    pub(crate) fn is_torn(&self) -> Result<bool, Error> {
        Ok(self.text()?.is_some_and(|text| StateVersion::read(text).is_none()))
    }

    fn text(&self) -> Result<Option<Vec<u8>>, Error> {
        content(&self.path).map_err(Error::file(&self.path))
    }

    /// Replaces the file by a version that is stored; with none, the tool finds an empty workspace.
    pub(crate) fn place(&self, stored: Option<&StateVersion>) -> Result<(), Error> {
        // The marks first: a file whose marks are lost counts as new.
        self.mark(&stored.map(Marks::stored).unwrap_or_default())?;
        match stored {
            Some(version) => private::put(&self.path, version.text.expose()),
            None => private::remove(&self.path).and_then(|()| match self.path.parent() {
                Some(parent) => private::directory(parent),
                None => Ok(()),
            }),
        }
        .map_err(Error::file(&self.path))
    }

    pub(crate) fn marks(&self) -> Marks {
        Marks::read(&self.workdir).unwrap_or_default()
    }

    pub(crate) fn mark(&self, marks: &Marks) -> Result<(), Error> {
        marks.write(&self.workdir)
    }

    /// Removes a file of which everything is stored: the next run begins with what is stored then.
    pub(crate) fn remove(&self) -> Result<(), Error> {
        let directory = self.workdir.kept();
        private::remove(&directory).map_err(Error::file(directory))?;
        Marks::remove(&self.workdir)
    }
}

/// Whether a version is in the directory that may be stored nowhere else.
pub(super) fn holds_unstored(workdir: &Workdir) -> io::Result<bool> {
    let stored = Marks::read(workdir).unwrap_or_default().stored;
    let mut files = vec![workdir.kept().join(STATE_FILE)];
    match fs::read_dir(workdir.kept()) {
        Ok(entries) => {
            for entry in entries {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    files.push(entry.path().join(STATE_FILE));
                }
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    }
    for file in files {
        if let Some(version) = content(&file)?.and_then(StateVersion::read)
            && stored.as_ref() != Some(&version.digest)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The content of a file that a module can reach: links are not followed, and what is too large is not read.
fn content(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits();
    let opened =
        OpenOptions::new().read(true).custom_flags(i32::try_from(flags).unwrap_or_default()).open(path);
    let file: File = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let mut text = Vec::new();
    if !file.metadata()?.is_file() || file.take(LARGEST + 1).read_to_end(&mut text)? as u64 > LARGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is no file, or larger than 64 MiB"));
    }
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::run::Identity;

    const STATE: &str = r#"{"version":4,"lineage":"l","serial":3}"#;

    fn workdir(root: &Path) -> Workdir {
        let workdir = Workdir::new(root, &Identity::try_from("uid".to_owned()).unwrap());
        workdir.create().unwrap();
        workdir
    }

    #[test]
    fn only_a_version_that_is_not_stored_keeps_the_directory() {
        let root = tempfile::tempdir().unwrap();
        let workdir = workdir(root.path());
        let file = KeptFile::new(&workdir, "network");
        assert!(!workdir.holds_unstored_state().unwrap());
        let stored = StateVersion::read(STATE.into()).unwrap();
        file.place(Some(&stored)).unwrap();
        assert!(!workdir.holds_unstored_state().unwrap());

        fs::write(file.path(), STATE.replace('3', "4")).unwrap();
        assert!(workdir.holds_unstored_state().unwrap());
        // As OpenTofu leaves it when it is killed: everything that was in it is stored.
        fs::write(file.path(), "").unwrap();
        assert!(!workdir.holds_unstored_state().unwrap());

        file.place(Some(&stored)).unwrap();
        file.remove().unwrap();
        assert!(!workdir.holds_state().unwrap());
    }

    #[test]
    fn a_link_or_a_directory_that_a_module_puts_there_is_not_read() {
        let root = tempfile::tempdir().unwrap();
        let workdir = workdir(root.path());
        let file = KeptFile::new(&workdir, "network");
        fs::create_dir_all(file.path().parent().unwrap()).unwrap();
        let elsewhere = root.path().join("elsewhere");
        fs::write(&elsewhere, STATE).unwrap();
        symlink(&elsewhere, file.path()).unwrap();
        assert!(file.read().is_err());
        fs::remove_file(file.path()).unwrap();
        fs::create_dir(file.path()).unwrap();
        assert!(file.read().is_err());
    }
}
