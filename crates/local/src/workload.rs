//! Control planes that a home looks after: real ones, made and unmade on request.
//!
//! ```text
//! capt workload start ──home.sock──▶ home ──▶ keeper, one a name ──▶ control plane in workloads/<name>
//! ```
//!
//! A directory `workloads/<name>` is the wish that this control plane runs: it is made by the first start, and every
//! home that finds it runs what is in it. A stop takes the processes, then the directory. Whoever asked may go away
//! at any time; what was begun goes on.

mod backoff;
mod client;
mod directory;
mod keeper;
mod name;
mod protocol;
mod registry;
mod server;
mod socket;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use client::{AskError, ask};
use directory::Directory;
pub use name::{NameError, WorkloadName};
pub use protocol::{Answer, Request, Status, Workload};
use registry::Registry;
use server::Server;

use crate::finder::Parts;
use crate::supervisor::Helper;

/// Why a home cannot look after workloads.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadsError {
    /// The directory of the workloads cannot be used.
    #[error("reading the directory {directory}", directory = directory.display())]
    Directory {
        /// Which directory.
        directory: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
    /// There is no way in for requests.
    #[error("listening on the socket {socket}", socket = socket.display())]
    Socket {
        /// Which socket.
        socket: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// What happened to a workload, for the log of the home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Which workload.
    pub workload: String,
    /// What happened, in one sentence.
    pub message: String,
    /// Whether somebody should look at it.
    pub trouble: bool,
}

/// What the workloads of a home are made of.
pub struct WorkloadsOptions {
    /// The directory of the home. Nobody else may look after its workloads at the same time.
    pub home: PathBuf,
    /// The executables of every control plane.
    pub parts: Parts,
    /// The executable that supervises processes.
    pub helper: Helper,
    /// Whether what was written survives a crash of the machine.
    pub durable: bool,
    /// Hears what happens.
    pub notify: Box<dyn Fn(Notice) + Send + Sync>,
}

impl std::fmt::Debug for WorkloadsOptions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("WorkloadsOptions").field("home", &self.home).finish_non_exhaustive()
    }
}

/// The workloads of a home that runs. Dropped, all stop; their data stays.
#[derive(Debug)]
pub struct Workloads {
    registry: Arc<Registry>,
    server: Server,
}

/// Where the data of a workload lies while it is copied, or before it becomes one. Whoever put it there or asked for it removes
/// it; the next home does where that was forgotten.
pub fn passing_directory(home: &Path, name: &WorkloadName) -> PathBuf {
    directory::passing_in(home, name)
}

/// The workloads of a home, by the directories that are there.
pub fn names_in(home: &Path) -> io::Result<Vec<WorkloadName>> {
    match Directory::existing(home) {
        Some(directory) => directory.names(),
        None => Ok(Vec::new()),
    }
}

impl Workloads {
    /// Begins to start every workload that is there, and to serve requests.
    pub fn start(options: WorkloadsOptions) -> Result<Self, WorkloadsError> {
        let registry = Arc::new(Registry::open(options)?);
        let server = Server::start(&registry)?;
        registry.start_all()?;
        Ok(Self { registry, server })
    }

    /// Stops everything in order, all workloads at the same time, and returns when all is gone.
    pub fn stop(&self) {
        self.server.stop();
        self.registry.stop();
    }

    /// Kills everything that runs, so that a [`Self::stop`] under way need not wait.
    pub fn kill(&self) {
        self.registry.kill();
    }
}

impl Drop for Workloads {
    fn drop(&mut self) {
        self.stop();
    }
}
