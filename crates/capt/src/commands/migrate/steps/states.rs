//! Takes the releases out of each state.

use std::collections::BTreeSet;

use anyhow::{Context as _, bail};
use capt_api::names::annotation;
use capt_api::{Workspace, WorkspaceTemplateApply};
use capt_controller::by_hand::{Content, Purpose, Seen, StateOf};
use capt_core::migration::state::{self, Forgotten};
use kube::Api;
use serde_json::json;

use super::Work;
use crate::commands::migrate::WRITER;
use crate::commands::migrate::mark::Mark;
use crate::commands::migrate::survey::Subject;
use crate::commands::state_lock;

/// Another Terraform may be at work on the state, by hand.
const ATTEMPTS: usize = 5;

/// Takes the releases out of every state that has them.
pub(super) async fn forget(work: &Work<'_>) -> anyhow::Result<()> {
    for subject in work.subjects() {
        if let Some(workspace) = &subject.workspace {
            forget_in(work, subject, workspace).await?;
        }
    }
    Ok(())
}

/// Releases locks that an interrupted run has left behind, where nothing is left to be taken out.
pub(super) async fn release(work: &Work<'_>) -> anyhow::Result<()> {
    for subject in work.subjects().filter(|subject| subject.mark.is_some()) {
        let Some(workspace) = &subject.workspace else { continue };
        let state = StateOf::new(work.client, workspace, &subject.apply);
        if state.holder().await?.is_some_and(|holder| holder.alike.is_some()) {
            let lock = state_lock::take(&state, Purpose::Migrate, work.request.timeout, work.printer).await?;
            state.unlock(&lock).await?;
        }
    }
    Ok(())
}

async fn forget_in(work: &Work<'_>, subject: &Subject, workspace: &Workspace) -> anyhow::Result<()> {
    let state = StateOf::new(work.client, workspace, &subject.apply);
    // Before the pause a run may have changed it.
    let Some(content) = read(&state).await? else { return Ok(()) };
    let leaving = state::inventory(content.text(), &work.request.which.releases)?.releases;
    if leaving.is_empty() {
        return Ok(());
    }
    note(work, subject, &leaving).await?;
    let lock = state_lock::take(&state, Purpose::Migrate, work.request.timeout, work.printer).await?;
    let written = tokio::time::timeout(state_lock::HELD_FOR, rewrite(&state, &leaving)).await;
    state.unlock(&lock).await?;
    let addresses = written.with_context(|| {
        format!(
            "the state in Secret `{}` could not be written within {} s",
            state.secret(),
            state_lock::HELD_FOR.as_secs()
        )
    })??;
    work.printer.message(&format!("{} left the state in Secret `{}`", addresses.join(", "), state.secret()));
    Ok(())
}

/// Notes what leaves, so that it is known afterwards whose Cluster had it.
async fn note(work: &Work<'_>, subject: &Subject, leaving: &[String]) -> anyhow::Result<()> {
    let key = &subject.key;
    let applies: Api<WorkspaceTemplateApply> = Api::namespaced(work.client.clone(), &key.namespace);
    WRITER
        .change(
            &applies,
            &key.name,
            &format!("noting on WorkspaceTemplateApply `{key}` what leaves"),
            |apply| {
                let mut mark = Mark::of(apply)?.unwrap_or_default();
                let is_new = mark.add(leaving);
                Ok(is_new.then(
                    || json!({ "metadata": { "annotations": { annotation::MIGRATION: mark.text() } } }),
                ))
            },
        )
        .await
        .map(drop)
}

/// Writes the state without these addresses; its lock is held.
async fn rewrite(state: &StateOf, leaving: &[String]) -> anyhow::Result<Vec<String>> {
    let leaving: BTreeSet<String> = leaving.iter().cloned().collect();
    for _ in 0..ATTEMPTS {
        let Some(content) = read(state).await? else { return Ok(Vec::new()) };
        let Forgotten { text, addresses, .. } = state::forget(content.text(), &leaving)?;
        if addresses.is_empty() {
            return Ok(addresses);
        }
        state.copy(&content).await?;
        match state.write(&content, text).await {
            Ok(()) => return Ok(addresses),
            Err(failure) if failure.conflict => {}
            Err(failure) => return Err(failure.into()),
        }
    }
    bail!(
        "the state in Secret `{}` is written by somebody else all the time, although it is locked",
        state.secret()
    )
}

async fn read(state: &StateOf) -> anyhow::Result<Option<Content>> {
    match state.read().await? {
        Seen::Absent => Ok(None),
        Seen::Whole(content) => Ok(Some(content)),
        Seen::NotOurs { .. } | Seen::InParts(_) | Seen::Unreadable => {
            bail!("the state in Secret `{}` is not what it was a moment ago", state.secret())
        }
    }
}
