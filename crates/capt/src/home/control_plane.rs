//! The control plane as seen from asynchronous code: its calls block, so each has a thread of its own.

use std::future;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use capt_local::{ControlPlane, ControlPlaneOptions, Helper, Parts, Progress, UnexpectedExit, Versions};
use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::oneshot;

use super::record::Process;
use crate::log_lines::last_lines;
use crate::signals::Stop;
use crate::thread::{in_thread, spawn};

/// Gets the parts; `None` when told to stop meanwhile. Where that fails, these others are named too.
pub(super) async fn parts(
    others: &'static [&'static str],
    progress: Progress,
    stop: &Stop,
) -> anyhow::Result<Option<Parts>> {
    let parts = in_thread(move || Parts::find_beside(others, &progress));
    // Getting the parts may take minutes, and what is half made is not used: nothing is lost by leaving.
    let Some(parts) = stop.requested.run_until_cancelled(parts).await else { return Ok(None) };
    Ok(Some(parts??))
}

/// A control plane that runs.
pub(super) struct Running {
    control_plane: ControlPlane,
    parts: Parts,
    exit: tokio::sync::Mutex<oneshot::Receiver<Option<UnexpectedExit>>>,
}

impl Running {
    /// Starts the parts; `None` when told to stop meanwhile.
    pub(super) async fn start(
        directory: PathBuf,
        parts: Parts,
        progress: Progress,
        stop: &Stop,
    ) -> anyhow::Result<Option<Self>> {
        let helper = Helper::current_exe().context("finding the path of this program")?;
        let options = ControlPlaneOptions::new(directory, helper);
        let start = {
            let parts = parts.clone();
            in_thread(move || ControlPlane::start(&parts, &options, &progress))
        };
        let Some(control_plane) = stop.hurried.run_until_cancelled(start).await else { return Ok(None) };
        let control_plane = control_plane??;
        let watcher = control_plane.exit_watcher();
        let exit = tokio::sync::Mutex::new(spawn(move || watcher.wait()));
        Ok(Some(Self { control_plane, parts, exit }))
    }

    pub(super) fn kubeconfig(&self) -> &Path {
        self.control_plane.kubeconfig_path()
    }

    pub(super) fn server(&self) -> &str {
        self.control_plane.url()
    }

    pub(super) fn directory(&self) -> &Path {
        self.control_plane.directory()
    }

    /// What it was started from.
    pub(super) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The programs that run now.
    pub(super) fn processes(&self) -> Vec<Process> {
        let Versions { kubernetes, etcd } = &self.parts.versions;
        let version = |name: &str| match name {
            "supervisor" => env!("CARGO_PKG_VERSION"),
            "etcd" => etcd,
            _ => kubernetes,
        };
        let processes = self.control_plane.processes().into_iter();
        processes.map(|(name, pid)| Process { version: version(&name).to_owned(), name, pid }).collect()
    }

    /// Returns when a process of the control plane has ended, with what it said last.
    pub(super) async fn unexpected_exit(&self) -> anyhow::Error {
        let mut exit = self.exit.lock().await;
        match (&mut *exit).await {
            Ok(Some(exit)) => {
                let log = self.directory().join("logs").join(format!("{}.log", exit.name));
                match last_lines(&log) {
                    Some(lines) => anyhow!("{exit}; the end of {}:\n{lines}", log.display()),
                    None => anyhow!(exit),
                }
            }
            Ok(None) | Err(_) => future::pending().await,
        }
    }

    /// Stops everything in order, or kills everything when hurried.
    pub(super) async fn stop(self, stop: &Stop) {
        let supervisor = self.control_plane.processes().first().map(|(_, pid)| *pid);
        let control_plane = self.control_plane;
        let mut stopped = spawn(move || control_plane.stop());
        tokio::select! {
            _ = &mut stopped => return,
            () = stop.hurried.cancelled() => {}
        }
        // Its processes are killed with it, and etcd is made to survive that.
        if let Some(pid) = supervisor.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
        let _ = stopped.await;
    }
}
