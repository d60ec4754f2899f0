//! How a workload is, for others to see: a keeper that works does not answer questions.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::control_plane::ControlPlane;
use crate::workload::protocol::{Status, Workload};

/// Written by a keeper, read by anybody.
#[derive(Debug, Default)]
pub(in crate::workload) struct Board(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    status: Status,
    supervisor: Option<u32>,
}

impl Board {
    pub(in crate::workload) fn status(&self) -> Status {
        self.lock().status.clone()
    }

    /// The pid of the process that all others of the workload die with.
    pub(in crate::workload) fn supervisor(&self) -> Option<u32> {
        self.lock().supervisor
    }

    pub(super) fn show(&self, status: Status) {
        self.lock().status = status;
    }

    pub(super) fn show_running(&self, workload: Workload, control_plane: &ControlPlane) {
        let supervisor = control_plane.processes().first().map(|(_, pid)| *pid);
        *self.lock() = State { status: Status::Ready(workload), supervisor };
    }

    pub(super) fn show_nothing_running(&self) {
        self.lock().supervisor = None;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
