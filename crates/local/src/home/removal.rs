//! Deleting a home, and nothing else.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::is_home;
use crate::control_plane::{DirectoryLock, LOCK_FILE, LockError};
use crate::{Cancellation, Progress};

/// What a home consists of. The lock goes last.
const ENTRIES: [&str; 13] = [
    "workloads",
    "terraform",
    "etcd",
    "before-upgrade",
    "before-upgrade.unfinished",
    "unfinished",
    "ports.json",
    "kubeconfig",
    "running.json",
    "version.json",
    "home.sock",
    "logs",
    "pki",
];
/// Kubeconfigs of clusters.
const KUBECONFIG: &str = ".kubeconfig";

/// Why a home was not deleted.
#[derive(Debug, thiserror::Error)]
pub enum RemovalError {
    /// It is something else.
    #[error("{directory} is not the data directory of a capt: nothing was deleted", directory = directory.display())]
    NoHome {
        /// Which directory.
        directory: PathBuf,
    },
    /// Somebody runs it.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Something could not be deleted.
    #[error("deleting {path}", path = path.display())]
    File {
        /// What.
        path: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
}

/// Deletes a home that nobody runs, and answers with what is left of the directory because it was not the home's.
pub fn remove(directory: &Path) -> Result<Vec<String>, RemovalError> {
    if !is_home(directory) {
        return Err(RemovalError::NoHome { directory: directory.to_owned() });
    }
    // Nobody starts it meanwhile.
    let lock = DirectoryLock::acquire(directory, &Cancellation::default(), &Progress::silent())?;
    for name in ENTRIES {
        discard(&directory.join(name))?;
    }
    let mut left = Vec::new();
    let entries = fs::read_dir(directory).map_err(|source| failed(directory, source))?;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(KUBECONFIG) {
            discard(&entry.path())?;
        } else if name != LOCK_FILE {
            left.push(name);
        }
    }
    discard(&directory.join(LOCK_FILE))?;
    drop(lock);
    left.sort();
    if left.is_empty() {
        fs::remove_dir(directory).map_err(|source| failed(directory, source))?;
    }
    Ok(left)
}

fn discard(path: &Path) -> Result<(), RemovalError> {
    // A link is not followed.
    let directory = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
    let removed = if directory { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(failed(path, source)),
        _ => Ok(()),
    }
}

fn failed(path: &Path, source: io::Error) -> RemovalError {
    RemovalError::File { path: path.to_owned(), source }
}
