//! `capt state restore`.

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use capt_api::names::annotation;
use capt_api::{Workspace, WorkspaceTemplateApply};
use capt_controller::by_hand::{Content, Purpose, Snapshot, StateOf};
use capt_core::terraform_state::{Changed, Inspected, inspect, renumbered};
use capt_terraform::Secret;
use kube::{Api, Client, ResourceExt};
use serde::Serialize;
use serde_json::json;

use super::{copy, is_elsewhere, missing, present};
use crate::cli::StateRestoreArguments;
use crate::commands::target::{self, Subject};
use crate::commands::write::Writer;
use crate::commands::{confirm, running, state_lock};
use crate::printer::Printer;

const WRITER: Writer = Writer("capt-state");

/// What is put back in the place of what.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Restoration {
    outcome: Outcome,
    workspace: String,
    secret: String,
    /// The serial of the copy.
    from: u64,
    /// The serial of the state as it is now; nothing where it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<u64>,
    /// The serial that the state has afterwards.
    serial: u64,
    /// What the state gains and loses.
    changes: Changed,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
enum Outcome {
    /// It is to be done.
    Planned,
    /// It is done.
    Done,
    /// The state is that of the copy already.
    NothingToDo,
}

/// What was read: the state as it is now, and the copy.
struct Read {
    content: Option<Content>,
    current: Option<Inspected>,
    snapshot: Snapshot,
    text: Secret,
}

pub(super) async fn run(arguments: StateRestoreArguments, printer: Printer) -> anyhow::Result<()> {
    let StateRestoreArguments { target, snapshot, yes, timeout } = arguments;
    confirm::may_ask(yes, "look with `capt state list` at what there is, and do it with --yes")?;
    let (client, subject) = target::find_one(target).await?;
    let (workspace, kept) = (subject.workspace()?, subject.kept(&client)?);
    ensure!(
        workspace.metadata.deletion_timestamp.is_none(),
        "Workspace `{}` is being deleted: nothing is put back",
        subject.name()
    );
    ensure!(!is_elsewhere(workspace), "nothing was changed: {}", missing(workspace, &kept));
    let mut planned = Restoration::of(&subject, &kept, &read(&kept, snapshot).await?)?;
    if planned.outcome == Outcome::NothingToDo {
        release(&kept, timeout, printer).await?;
        return printer.value(&planned, &planned.sentences());
    }
    if !yes && !confirm::ask(&planned.sentences(), "Put it back?", printer).await? {
        bail!("nothing was changed");
    }
    running::await_end(&client, &subject.name(), timeout).await?;
    let lock = state_lock::take(&kept, Purpose::Restore, timeout, printer).await?;
    let work = put_back(&client, &subject, &kept, &planned);
    let written = tokio::time::timeout(state_lock::HELD_FOR, work).await;
    kept.unlock(&lock).await?;
    written.with_context(|| {
        format!(
            "the state in Secret `{}` could not be written within {} s: running this again goes on",
            kept.secret(),
            state_lock::HELD_FOR.as_secs()
        )
    })??;
    planned.outcome = Outcome::Done;
    printer.value(&planned, &planned.sentences())
}

async fn read(kept: &StateOf, serial: u64) -> anyhow::Result<Read> {
    let content = present(kept).await?;
    let current = content.as_ref().map(|content| inspect(content.text())).transpose();
    let current = current.with_context(|| format!("reading the state in Secret `{}`", kept.secret()))?;
    let lineage = current.as_ref().map(|current| current.lineage.as_str());
    let (snapshot, text) = copy(kept, serial, lineage).await?;
    Ok(Read { content, current, snapshot, text })
}

impl Restoration {
    fn of(subject: &Subject, kept: &StateOf, read: &Read) -> anyhow::Result<Self> {
        let Read { content, current, snapshot, text } = read;
        let from = snapshot.serial;
        let copied =
            inspect(text.expose()).with_context(|| format!("reading the copy with the serial {from}"))?;
        let last = match current {
            Some(current) => {
                ensure!(
                    current.lineage == copied.lineage,
                    "the copy with the serial {from} is of another state: its lineage is {}, and that of the state in Secret `{}` is {}",
                    copied.lineage,
                    kept.secret(),
                    current.lineage
                );
                current.serial.max(copied.serial)
            }
            None => copied.serial,
        };
        let serial = last.checked_add(1).context("the serial of the state cannot be counted on")?;
        let is_there = match (content, current) {
            (Some(content), Some(current)) => renumbered(text.expose(), current.serial)? == content.text(),
            _ => false,
        };
        Ok(Self {
            outcome: if is_there { Outcome::NothingToDo } else { Outcome::Planned },
            workspace: subject.name(),
            secret: kept.secret(),
            from,
            current: current.as_ref().map(|current| current.serial),
            serial,
            changes: current.as_ref().map(|current| Changed::between(current, &copied)).unwrap_or_default(),
        })
    }

    fn sentences(&self) -> String {
        let Self { outcome, workspace, secret, from, current, serial, changes } = self;
        let list = |word: &str, addresses: &[String]| {
            addresses.iter().fold(String::new(), |text, address| text + "\n  " + word + " " + address)
        };
        match outcome {
            Outcome::NothingToDo => {
                format!(
                    "the state of Workspace `{workspace}` is that of the copy with the serial {from} already"
                )
            }
            Outcome::Planned => {
                let instead = match current {
                    Some(current) => {
                        format!("in the place of the state with the serial {current}, which is copied before")
                    }
                    None => "where the state is missing now".to_owned(),
                };
                format!(
                    "the copy with the serial {from} is put back into Secret {secret}, {instead}{}{}{}\nnothing of the infrastructure changes by this; what a plan with it would do waits for approval",
                    list("comes back:", &changes.added),
                    list("as before: ", &changes.changed),
                    list("leaves:    ", &changes.removed)
                )
            }
            Outcome::Done => format!(
                "the copy with the serial {from} is the state of Workspace `{workspace}` now, with the serial {serial}\nCAPT plans with it; look at what that would do with: capt approve workspace {workspace}"
            ),
        }
    }
}

/// Puts the copy back; the lock on the state is held.
async fn put_back(
    client: &Client,
    subject: &Subject,
    kept: &StateOf,
    planned: &Restoration,
) -> anyhow::Result<()> {
    let read = read(kept, planned.from).await?;
    let now = Restoration::of(subject, kept, &read)?;
    ensure!(
        now.current == planned.current && now.outcome == Outcome::Planned,
        "nothing was changed: the state in Secret `{}` was written meanwhile: look at it, and run this again",
        kept.secret()
    );
    withdraw_approvals(client, subject).await?;
    let text = renumbered(read.text.expose(), now.serial)?;
    match &read.content {
        Some(content) => kept.put_back(content, text, &read.snapshot).await?,
        None => kept.make_again(text).await?,
    }
    Ok(())
}

/// A plan that was approved once may come again with the state of before, and nobody has approved that.
async fn withdraw_approvals(client: &Client, subject: &Subject) -> anyhow::Result<()> {
    let patch = || json!({ "metadata": { "annotations": { annotation::APPROVE_PLAN: null } } });
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let name = subject.name();
    let doing = format!("taking the approval off Workspace `{name}`");
    WRITER
        .change(&workspaces, &name, &doing, |workspace| {
            Ok(workspace.annotations().contains_key(annotation::APPROVE_PLAN).then(patch))
        })
        .await?;
    let Some(apply) = &subject.apply else { return Ok(()) };
    let (namespace, name) = (apply.namespace().unwrap_or_default(), apply.name_any());
    let applies: Api<WorkspaceTemplateApply> = Api::namespaced(client.clone(), &namespace);
    let doing = format!("taking the approval off WorkspaceTemplateApply `{namespace}/{name}`");
    WRITER
        .change(&applies, &name, &doing, |apply| {
            Ok(apply.annotations().contains_key(annotation::APPROVE_PLAN).then(patch))
        })
        .await
        .map(drop)
}

/// Releases a lock that an interrupted run has left behind, where nothing is left to be put back.
async fn release(kept: &StateOf, timeout: Duration, printer: Printer) -> anyhow::Result<()> {
    if kept.holder().await?.is_some_and(|holder| holder.alike.is_some()) {
        let lock = state_lock::take(kept, Purpose::Restore, timeout, printer).await?;
        kept.unlock(&lock).await?;
    }
    Ok(())
}
