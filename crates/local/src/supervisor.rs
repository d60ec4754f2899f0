//! Processes that never outlive the one that asked for them.
//!
//! ```text
//! capt ──pipe──▶ capt __supervise ──▶ capt __exec ⇒ etcd, kube-apiserver, …
//! ```
//!
//! The supervisor stops its processes in reverse order when its pipe ends, which also happens when its parent is
//! killed. Each process asked the kernel, before it became itself, to be killed with the supervisor.

mod client;
mod protocol;
mod server;
mod trampoline;

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) use client::{Supervisor, Watch};
pub(crate) use protocol::Process;

const SUPERVISE: &str = "__supervise";
const EXEC: &str = "__exec";

/// Does the work of a supervisor or of its trampoline when this process was started as one.
///
/// To be called first in `main`, before any thread is started. `None` means that this is an ordinary start.
pub fn run_if_asked() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    let first = arguments.next()?;
    if first == SUPERVISE {
        Some(server::serve())
    } else if first == EXEC {
        Some(trampoline::run(arguments))
    } else {
        None
    }
}

/// The executable whose `main` calls [`run_if_asked`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Helper(PathBuf);

impl Helper {
    /// The executable that is running now.
    pub fn current_exe() -> io::Result<Self> {
        this_program().map(Self)
    }

    /// Another executable: a test's own executable has a `main` that is not ours.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        Self(program.into())
    }

    pub(crate) fn program(&self) -> &Path {
        &self.0
    }
}

/// What this process runs, even when the file was replaced since: an upgrade must not change the protocol halfway.
fn this_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok(PathBuf::from("/proc/self/exe")) } else { env::current_exe() }
}

/// A process that ended although nobody asked it to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} ended unexpectedly ({how})")]
pub struct UnexpectedExit {
    /// Which process, for example `etcd`.
    pub name: String,
    /// How it ended, for example `exit status: 1`.
    pub how: String,
}
