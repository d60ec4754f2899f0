//! One of the two management clusters.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use anyhow::Context;
use capt_local::ControlPlane;
use capt_testkit::home::{signal, wait};
use kube::Client;
use rustix::process::Signal;

use super::super::management::{client, control_plane, manager, prepare};

const KILLED_WITHIN: Duration = Duration::from_secs(10);
const LINES: usize = 60;

/// A management cluster with its manager. Dropped, the manager is killed.
pub(super) struct Side {
    capt: PathBuf,
    place: PathBuf,
    terraform: PathBuf,
    kubeconfig: PathBuf,
    manager: Child,
    pub(super) client: Client,
    pub(super) control_plane: ControlPlane,
}

impl Side {
    pub(super) async fn start(capt: &Path, place: &Path, terraform: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(place)?;
        let control_plane = control_plane(&place.join("control-plane")).await?;
        let kubeconfig = place.join("kubeconfig");
        fs::write(&kubeconfig, control_plane.kubeconfig())?;
        let client = client(&kubeconfig).await?;
        prepare(&client).await?;
        // Garbage collection knows the kinds that are there when it starts.
        control_plane.refresh_controllers()?;
        let manager = manager(capt, place, &kubeconfig, Some(terraform))?;
        let (capt, place, terraform) = (capt.to_owned(), place.to_owned(), terraform.to_owned());
        Ok(Self { capt, place, terraform, kubeconfig, manager, client, control_plane })
    }

    pub(super) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Kills the manager. What it runs goes on.
    pub(super) fn kill(&mut self) -> anyhow::Result<()> {
        signal(&self.manager, Signal::KILL)?;
        wait(&mut self.manager, KILLED_WITHIN).context("killing a manager")?;
        Ok(())
    }

    pub(super) fn restart(&mut self) -> anyhow::Result<()> {
        self.manager = manager(&self.capt, &self.place, &self.kubeconfig, Some(&self.terraform))?;
        Ok(())
    }

    /// The end of what its managers said.
    pub(super) fn tail(&self) -> String {
        let said = fs::read_to_string(self.place.join("messages")).unwrap_or_default();
        let lines: Vec<&str> = said.lines().collect();
        format!("{}:\n{}", self.place.display(), lines[lines.len().saturating_sub(LINES)..].join("\n"))
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // Both fail when it has ended already.
        let _ = self.manager.kill();
        let _ = self.manager.wait();
    }
}
