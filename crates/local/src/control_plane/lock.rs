//! One control plane to a directory.
//!
//! The supervisor inherits the lock, so it is held until the last process has stopped, whoever was killed.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rustix::process::{Pid, test_kill_process};

use crate::{Cancellation, Progress};

/// How long the processes of a parent that was killed may take to stop.
const WAIT: Duration = Duration::from_secs(60);
/// The file's name.
pub(crate) const FILE: &str = "lock";
const PAUSE: Duration = Duration::from_millis(50);

/// Why the directory could not be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another control plane runs there.
    #[error(
        "{directory} is in use by another capt (pid {pid}): stop that one first, or use another directory",
        directory = directory.display()
    )]
    InUse {
        /// Which directory.
        directory: PathBuf,
        /// Who holds it.
        pid: u32,
    },
    /// Nobody wants the control plane any more.
    #[error("waiting for {directory} was given up: the start was cancelled", directory = directory.display())]
    Cancelled {
        /// Which directory.
        directory: PathBuf,
    },
    /// The lock file cannot be used.
    #[error("locking {directory}", directory = directory.display())]
    File {
        /// Which directory.
        directory: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
}

#[derive(Debug)]
pub(crate) struct DirectoryLock(File);

/// Who holds a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The process that took it.
    pub pid: u32,
    /// When.
    pub since: SystemTime,
    /// Whether that process is still there. If not, what it started is about to end.
    pub alive: bool,
}

impl Holder {
    /// Who holds the directory now, if anybody does. Nothing is changed, and nobody is held up.
    pub fn of(directory: &Path) -> io::Result<Option<Self>> {
        let mut file = match File::open(directory.join(FILE)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
            Err(TryLockError::WouldBlock) => {
                let (pid, since) = (holder(&mut file)?, file.metadata()?.modified()?);
                Ok(Some(Self { pid, since, alive: is_alive(pid) }))
            }
        }
    }
}

impl DirectoryLock {
    pub(crate) fn acquire(
        directory: &Path,
        cancellation: &Cancellation,
        progress: &Progress,
    ) -> Result<Self, LockError> {
        let failed = |source| LockError::File { directory: directory.to_owned(), source };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(directory.join(FILE)).map_err(failed)?;
        let deadline = Instant::now() + WAIT;
        let mut told = false;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(source)) => return Err(failed(source)),
                Err(TryLockError::WouldBlock) => {
                    let pid = holder(&mut file).map_err(failed)?;
                    if is_alive(pid) || Instant::now() > deadline {
                        return Err(LockError::InUse { directory: directory.to_owned(), pid });
                    }
                    if cancellation.is_cancelled() {
                        return Err(LockError::Cancelled { directory: directory.to_owned() });
                    }
                    if !told {
                        progress.say(&format!(
                            "waiting for the control plane of a capt that was killed (pid {pid}) to stop"
                        ));
                        told = true;
                    }
                    thread::sleep(PAUSE);
                }
            }
        }
        sign(&mut file).map_err(failed)?;
        Ok(Self(file))
    }

    /// A second hold on the same lock, for a child process.
    pub(crate) fn share(&self) -> io::Result<Stdio> {
        self.0.try_clone().map(Stdio::from)
    }
}

fn sign(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn holder(file: &mut File) -> io::Result<u32> {
    let mut content = String::new();
    file.rewind()?;
    file.read_to_string(&mut content)?;
    Ok(content.lines().next().and_then(|line| line.parse().ok()).unwrap_or_default())
}

fn is_alive(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return false;
    };
    // Any answer other than "no such process", a refusal too, comes from a process that is there.
    test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
}
