//! What a home that runs says about itself, in a file of its directory, for others to read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use capt_local::private;
use serde::{Deserialize, Serialize};

const FILE: &str = "running.json";

/// A home in which everything runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    /// The process that runs the home: what others of that number wrote is of the past.
    pub(crate) pid: u32,
    /// Which `capt` it is.
    pub(crate) version: String,
    /// The address of the API server.
    pub(crate) server: String,
    /// The programs that run, with their versions where they are known.
    pub(crate) processes: Vec<Process>,
    /// What runs Workspaces.
    pub(crate) terraform: Option<PathBuf>,
}

/// A program that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) pid: u32,
}

impl Record {
    pub(super) fn write(&self, directory: &Path) -> io::Result<()> {
        let content = serde_json::to_string_pretty(self)?;
        private::write(&directory.join(FILE), content + "\n")
    }

    /// What the process that holds the directory wrote; `None` while it starts.
    pub(crate) fn of(directory: &Path, pid: u32) -> Option<Self> {
        let content = fs::read(directory.join(FILE)).ok()?;
        serde_json::from_slice(&content).ok().filter(|record: &Self| record.pid == pid)
    }

    /// Nothing runs any more. What is left by those that were killed is told by its pid.
    pub(super) fn erase(directory: &Path) {
        let _ = fs::remove_file(directory.join(FILE));
    }
}
