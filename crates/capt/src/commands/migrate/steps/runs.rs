//! Waits for what was under way when the pause began.

use anyhow::{Context as _, bail};
use capt_api::Workspace;
use kube::runtime::wait::await_condition;
use kube::{Api, ResourceExt};

use super::Work;

/// Waits until no run goes on any more. A run that begins in the last moment finds the state locked, or fails since the
/// state is another than the one that its plan is of.
pub(super) async fn wait(work: &Work<'_>) -> anyhow::Result<()> {
    let workspaces: Api<Workspace> = Api::all(work.client.clone());
    for workspace in work.subjects().filter_map(|subject| subject.workspace.as_ref()) {
        let name = workspace.name_any();
        let over = await_condition(workspaces.clone(), &name, |found: Option<&Workspace>| {
            found.is_none_or(|workspace| !is_running(workspace))
        });
        match tokio::time::timeout(work.request.timeout, over).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => {
                return Err(error).with_context(|| format!("waiting for the run of Workspace `{name}`"));
            }
            Err(_) => bail!(
                "a run of Workspace `{name}` has not ended within {} s: see `kubectl get workspace {name} -o jsonpath='{{.status.engine.run}}'`, and whether a manager runs",
                work.request.timeout.as_secs()
            ),
        }
    }
    Ok(())
}

fn is_running(workspace: &Workspace) -> bool {
    let engine = workspace.status.as_ref().and_then(|status| status.engine.as_ref());
    engine.is_some_and(|engine| engine.run.is_some())
}
