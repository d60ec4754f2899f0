//! Waits for what is under way.

use std::time::Duration;

use anyhow::{Context as _, bail};
use capt_api::Workspace;
use kube::runtime::wait::await_condition;
use kube::{Api, Client};

/// Waits until no run of a Workspace goes on any more. A run that begins in the last moment finds the state locked, or fails
/// since the state is another than the one that its plan is of.
pub(crate) async fn await_end(client: &Client, name: &str, timeout: Duration) -> anyhow::Result<()> {
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let is_over = |found: Option<&Workspace>| found.is_none_or(|workspace| !is_running(workspace));
    match tokio::time::timeout(timeout, await_condition(workspaces, name, is_over)).await {
        Ok(ended) => ended.map(drop).with_context(|| format!("waiting for the run of Workspace `{name}`")),
        Err(_) => bail!(
            "a run of Workspace `{name}` has not ended within {} s: see `capt logs workspace {name} -f`, and whether a manager runs",
            timeout.as_secs()
        ),
    }
}

/// Whether a run waits for its turn or goes on.
pub(crate) fn is_running(workspace: &Workspace) -> bool {
    let engine = workspace.status.as_ref().and_then(|status| status.engine.as_ref());
    engine.is_some_and(|engine| engine.run.is_some())
}
