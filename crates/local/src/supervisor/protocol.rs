//! What a parent tells its supervisor and hears from it: one JSON value a line.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A process to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    /// Takes both output streams; replaced at the start.
    pub(crate) log: PathBuf,
    /// How long it may take to stop by itself; zero kills it at once.
    pub(crate) grace: Duration,
}

/// From the parent. The end of the stream means: stop.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    Start(Process),
    /// By name. A process that does not run is left alone.
    Restart(String),
    RemoveWhenStopped(PathBuf),
}

/// To the parent. The end of the stream means: the supervisor is gone.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Event {
    Started { name: String, pid: u32 },
    Ended { name: String, how: String },
}
