//! Waits for what was under way when the pause began.

use kube::ResourceExt;

use super::Work;
use crate::commands::running::await_end;

/// Waits until no run goes on any more.
pub(super) async fn wait(work: &Work<'_>) -> anyhow::Result<()> {
    for workspace in work.subjects().filter_map(|subject| subject.workspace.as_ref()) {
        await_end(work.client, &workspace.name_any(), work.request.timeout).await?;
    }
    Ok(())
}
