//! Where the manager's working directories are, if it runs on this machine.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use capt_api::Workspace;
use capt_terraform::{Identity, LiveLog};
use kube::ResourceExt;

use crate::{directory, engine};

/// Below a home of `capt up`.
const IN_HOME: &str = "terraform";
/// Below a directory of an engine.
const IN_ENGINE: &str = "workspaces";

/// Directories in which a manager on this machine may work: the one that is named, that of the home whose kubeconfig is used,
/// that of the user's home, and that of a manager for this server.
pub(super) fn candidates(named: Option<PathBuf>, kubeconfig: Option<&Path>, server: &str) -> Vec<PathBuf> {
    let beside = kubeconfig.and_then(Path::parent).map(|home| home.join(IN_HOME));
    let user = directory::of_user("XDG_DATA_HOME", ".local/share").map(|home| home.join(IN_HOME));
    let manager = engine::default_directory(server).ok();
    [named, beside, user, manager].into_iter().flatten().map(|found| found.join(IN_ENGINE)).collect()
}

/// What is printed for a Workspace; `None` where its manager works elsewhere. A working directory is named by a uid, so that
/// nobody else's can be meant.
pub(super) fn open(candidates: &[PathBuf], workspace: &Workspace) -> Option<LiveLog> {
    let identity = Identity::try_from(workspace.uid()?).ok()?;
    let run = workspace.status.as_ref()?.engine.as_ref()?.run.as_ref()?;
    let since = SystemTime::from(run.since.0);
    candidates.iter().find_map(|root| LiveLog::of(root, &identity, since))
}
