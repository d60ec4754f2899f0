//! `capt plan`: what Terraform would change.

mod ask;
mod files;
mod view;

use anyhow::{Context as _, ensure};
use capt_api::names::condition;
use capt_core::cause::sentence;
use futures::future::join_all;
use kube::Client;
use serde::Serialize;

use super::target::{self, Subject};
use crate::cli::PlanArguments;
use crate::connection;
use crate::exit::ExitWith;
use crate::printer::Printer;

pub(super) use files::{Takeover, takeover_of};
pub(crate) use view::{PlanView, Source};

/// The exit code that says that something would change, for those who ask for it.
const CHANGES: u8 = 3;

/// The plans of all Workspaces that were meant.
#[derive(Serialize)]
struct Plans {
    workspaces: Vec<PlanView>,
}

pub(crate) async fn run(arguments: PlanArguments, printer: Printer) -> anyhow::Result<()> {
    let PlanArguments { kind, name, files, fresh, render_only, detailed_exitcode, timeout, place } =
        arguments;
    let client = connection::find_for_person(&place.connection).await?.client;
    let namespace = target::namespace_of(place.namespace, &client)?;
    if !files.is_empty() {
        let options = files::Options { detailed_exitcode, render_only, timeout };
        return files::run(&files, &client, &namespace, options, printer).await;
    }
    let (kind, name) = kind.zip(name).context("name what is to be planned")?;
    let subjects = target::subjects(&client, kind, &name, &namespace).await?;
    let asking = subjects.iter().map(async |subject| {
        let found = if fresh { None } else { at_hand(&client, subject).await? };
        match found {
            Some(view) => Ok(view),
            None => ask::fresh(&client, subject, timeout, printer).await,
        }
    });
    let (mut workspaces, mut failures) = (Vec::new(), Vec::new());
    for planned in join_all(asking).await {
        match planned {
            Ok(view) => workspaces.push(view),
            Err(error) => failures.push(sentence(error.as_ref())),
        }
    }
    let changes = workspaces.iter().any(PlanView::changes);
    if !workspaces.is_empty() {
        let text: Vec<String> = workspaces.iter().map(PlanView::sentences).collect();
        printer.value(&Plans { workspaces }, &text.join("\n\n"))?;
    }
    ensure!(failures.is_empty(), "{}", failures.join("; "));
    if changes && detailed_exitcode {
        return Err(ExitWith(CHANGES).into());
    }
    Ok(())
}

/// The plan that waits for approval, or what the last look at reality found.
pub(crate) async fn at_hand(client: &Client, subject: &Subject) -> anyhow::Result<Option<PlanView>> {
    let workspace = subject.workspace()?;
    let told = |type_: &str| {
        let conditions = workspace.status.iter().flat_map(|status| &status.conditions);
        conditions.clone().find(|entry| entry.type_ == type_ && entry.status == "True")
    };
    let (source, why) = match (told(condition::APPROVAL_REQUIRED), told(condition::DRIFTED)) {
        (Some(waits), _) => (Source::Waiting, waits),
        (None, Some(drifted)) => (Source::Drift, drifted),
        (None, None) => return Ok(None),
    };
    let Some(shown) = subject.kept(client)?.shown_plan().await? else { return Ok(None) };
    let message = why.message.clone().unwrap_or_default();
    Ok(Some(PlanView::new(subject, source, &message, shown)))
}
