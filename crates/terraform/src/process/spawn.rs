//! The one place that starts processes.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};

use rustix::fs::Mode;
use rustix::process::umask;
use tokio::process::{Child, Command};

use crate::environment::Environment;

/// All that a process gets.
pub(super) struct Start<'a> {
    pub(super) program: &'a Path,
    pub(super) arguments: &'a [OsString],
    pub(super) environment: &'a Environment,
    pub(super) directory: &'a Path,
    pub(super) stdin: Stdio,
    /// A file, never a pipe: a pipe breaks when we die, and takes Terraform along.
    pub(super) stdout: File,
    pub(super) stderr: File,
    /// Whether it is killed when nobody waits for it any more.
    pub(super) expendable: bool,
}

/// Starts the process in a group of its own, so that signals meant for us do not reach it. What it writes (states, plans)
/// can be read by its owner alone.
pub(super) fn spawn(start: Start<'_>) -> io::Result<Child> {
    // The mask is the whole process's: one start at a time, and files that others make meanwhile are private too.
    static MASK: Mutex<()> = Mutex::new(());
    let _turn = MASK.lock().unwrap_or_else(PoisonError::into_inner);
    let before = umask(Mode::RWXG | Mode::RWXO);
    let spawned = Command::new(start.program)
        .args(start.arguments)
        .env_clear()
        .envs(start.environment)
        .current_dir(start.directory)
        .stdin(start.stdin)
        .stdout(start.stdout)
        .stderr(start.stderr)
        .process_group(0)
        .kill_on_drop(start.expendable)
        .spawn();
    umask(before);
    spawned
}
