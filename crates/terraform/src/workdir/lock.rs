//! The lock of a working directory.
//!
//! The process gets the locked file as its standard input and so holds the lock as long as it lives, whatever
//! becomes of us. Getting the lock therefore means that nobody works here.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::process::Stdio;
use std::thread;

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, getpgid};
use tokio::sync::oneshot;

use super::Workdir;

pub(crate) const LOCK_FILE: &str = "run.lock";

/// Held until it is dropped, and by each process that got it.
#[derive(Debug)]
pub(crate) struct Lock(File);

impl Lock {
    /// The lock, unless somebody has it.
    pub(crate) fn try_take(workdir: &Workdir) -> io::Result<Option<Self>> {
        take(&open(&workdir.path().join(LOCK_FILE))?)
    }

    /// Whether somebody has it. Makes nothing, and those who ask do not get in each other's way.
    pub(crate) fn is_held(workdir: &Workdir) -> io::Result<bool> {
        let file = match File::open(workdir.path().join(LOCK_FILE)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            other => other?,
        };
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(false),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits for the lock.
    pub(crate) async fn take(workdir: &Workdir) -> io::Result<Self> {
        acquire(&workdir.path().join(LOCK_FILE)).await
    }

    /// Waits for the lock on a file that is never held for long.
    pub(crate) fn wait(path: &Path) -> io::Result<Self> {
        let file = open(path)?;
        flock(&file, FlockOperation::LockExclusive)?;
        Ok(Self(file))
    }

    /// Whether the file is still the one in the directory: somebody may have removed both while we waited.
    pub(crate) fn is_current(&self, workdir: &Workdir) -> bool {
        let (ours, there) = (self.0.metadata(), workdir.path().join(LOCK_FILE).metadata());
        matches!((ours, there), (Ok(ours), Ok(there)) if (ours.dev(), ours.ino()) == (there.dev(), there.ino()))
    }

    /// The same lock once more: it is free when both are dropped.
    pub(crate) fn shared(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// The standard input of a process.
    pub(crate) fn share(&self) -> io::Result<Stdio> {
        self.0.try_clone().map(Stdio::from)
    }
}

/// Waits for the lock on a file, which is made if need be.
pub(crate) async fn acquire(path: &Path) -> io::Result<Lock> {
    let file = open(path)?;
    if let Some(lock) = take(&file)? {
        return Ok(lock);
    }
    let (sender, receiver) = oneshot::channel();
    // Not a task of the runtime, which would wait for it at its end.
    thread::Builder::new().name("terraform-lock".to_owned()).spawn(move || {
        let locked = loop {
            match flock(&file, FlockOperation::LockExclusive) {
                Err(rustix::io::Errno::INTR) => {}
                other => break other,
            }
        };
        // Nobody waits any more: the lock goes with the file.
        let _ = sender.send(locked.map(|()| Lock(file)).map_err(io::Error::from));
    })?;
    receiver.await.map_err(io::Error::other)?
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).read(true).write(true).mode(0o600).open(path)
}

fn take(file: &File) -> io::Result<Option<Lock>> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(Lock(file.try_clone()?))),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The main process that holds the lock of a directory: the one in the journal, if it still is that process, or
/// the leader of a group with our file as its standard input.
pub(crate) fn holder(workdir: &Workdir, journalled: Option<i32>) -> Option<Pid> {
    let lock = workdir.path().join(LOCK_FILE).metadata().ok()?;
    let holds = |pid: i32| {
        // Numbers of processes are used again.
        std::fs::metadata(format!("/proc/{pid}/fd/0"))
            .is_ok_and(|it| (it.dev(), it.ino()) == (lock.dev(), lock.ino()))
    };
    let leads = |pid: i32| {
        let pid = Pid::from_raw(pid)?;
        (getpgid(Some(pid)).ok()? == pid).then_some(pid)
    };
    if !Path::new("/proc/self/fd").exists() {
        return journalled.and_then(leads);
    }
    if let Some(pid) = journalled.filter(|pid| holds(*pid)) {
        return Pid::from_raw(pid);
    }
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers.find_map(|pid| leads(pid).filter(|_| holds(pid)))
}
