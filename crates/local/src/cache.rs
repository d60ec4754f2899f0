//! Where binaries that were downloaded or built are kept.
//!
//! Invariant: a file at its final path is complete. It is made elsewhere on the same file system, written through to
//! the disk, and then renamed; one process at a time does so.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::Progress;
use crate::catalog::Part;
use crate::environment::Platform;

/// The cache cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot write to the cache directory {directory}: give it room and write permission, set XDG_CACHE_HOME to another \
     directory, or set CAPT_ASSETS to a directory that holds the binaries",
    directory = directory.display()
)]
pub struct CacheError {
    /// Which directory.
    pub directory: PathBuf,
    /// What the file system said.
    pub source: io::Error,
}

/// A directory of binaries, one for each part, version and platform.
#[derive(Debug)]
pub(crate) struct Cache {
    root: PathBuf,
}

/// The right to fill the cache. The system takes it back when its holder dies.
#[derive(Debug)]
pub(crate) struct Filling<'a> {
    cache: &'a Cache,
    _lock: File,
}

impl Cache {
    pub(crate) fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn path_of(&self, part: &Part, platform: &Platform) -> PathBuf {
        self.root.join("parts").join(format!("{}-{}-{platform}", part.name, part.version)).join(&part.name)
    }

    /// Waits for its turn to fill the cache.
    pub(crate) fn fill(&self, progress: &Progress) -> Result<Filling<'_>, CacheError> {
        let lock = self.lock(progress).map_err(|source| self.failed(source))?;
        let filling = Filling { cache: self, _lock: lock };
        // Whatever lies there was left behind by somebody who was killed.
        match fs::remove_dir_all(filling.workshop()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failed(error)),
            _ => Ok(filling),
        }
    }

    fn lock(&self, progress: &Progress) -> io::Result<File> {
        fs::create_dir_all(&self.root)?;
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(self.root.join("lock"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {
                progress.say(&format!(
                    "waiting for another capt that is filling the cache{}",
                    signature(&mut file)?
                ));
                while let Err(error) = file.lock() {
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
            }
        }
        // In one write of one length, so that a reader never sees a part of it.
        file.rewind()?;
        file.write_all(format!("{:<10}\n", std::process::id()).as_bytes())?;
        Ok(file)
    }

    fn failed(&self, source: io::Error) -> CacheError {
        CacheError { directory: self.root.clone(), source }
    }
}

impl Filling<'_> {
    /// What to say when something could not be written here.
    pub(crate) fn failed(&self, source: io::Error) -> CacheError {
        self.cache.failed(source)
    }

    fn workshop(&self) -> PathBuf {
        self.cache.root.join("unfinished")
    }

    /// An empty directory on the file system of the cache.
    pub(crate) fn scratch(&self) -> Result<TempDir, CacheError> {
        fs::create_dir_all(self.workshop())
            .and_then(|()| tempfile::tempdir_in(self.workshop()))
            .map_err(|source| self.cache.failed(source))
    }

    /// Puts a complete file in its place.
    pub(crate) fn install(
        &self,
        made: &Path,
        part: &Part,
        platform: &Platform,
    ) -> Result<PathBuf, CacheError> {
        let path = self.cache.path_of(part, platform);
        place(made, &path).map_err(|source| self.cache.failed(source))?;
        Ok(path)
    }
}

/// Who holds the lock; empty when it has not signed yet.
fn signature(file: &mut File) -> io::Result<String> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(match text.trim() {
        "" => String::new(),
        pid => format!(" (pid {pid})"),
    })
}

fn place(made: &Path, path: &Path) -> io::Result<()> {
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(directory)?;
    fs::set_permissions(made, Permissions::from_mode(0o755))?;
    File::open(made)?.sync_all()?;
    fs::rename(made, path)?;
    File::open(directory)?.sync_all()
}
