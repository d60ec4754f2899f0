//! `capt logs --follow`.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use capt_api::Workspace;
use capt_controller::by_hand::StateOf;
use capt_core::workspace::status::run_sentence;
use capt_terraform::LiveLog;
use futures::StreamExt as _;
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::watch_object;
use kube::{Api, Client};

use super::view::{Logs, RunView};
use super::waiting::Waiting;
use super::{kept, tail};
use crate::cli::{LogsArguments, Output, TargetArguments, TargetKind};
use crate::commands::running::is_running;
use crate::commands::target::{self, Subject};
use crate::connection;
use crate::printer::Printer;

/// How often a file on this machine is looked at.
const LOOK: Duration = Duration::from_millis(200);

pub(super) async fn run(arguments: LogsArguments, printer: Printer) -> anyhow::Result<()> {
    let LogsArguments { target, terraform_directory, .. } = arguments;
    let TargetArguments { kind, name, place } = target;
    let connection = connection::find_for_person(&place.connection).await?;
    let client = connection.client;
    let namespace = target::namespace_of(place.namespace, &client)?;
    let kubeconfig = place.connection.kubeconfig.as_deref();
    let candidates = tail::candidates(terraform_directory, kubeconfig, &connection.server.address);
    let mut waiting = (kind == TargetKind::Cluster).then(|| Waiting::new(&client, &namespace, &name));
    let mut followed = Vec::new();
    loop {
        // A new cluster may have none yet, and one that was deleted none any more.
        let found = target::subjects(&client, kind, &name, &namespace).await;
        let subjects = found.as_deref().unwrap_or_default();
        let running = subjects.iter().find(|subject| subject.workspace.as_ref().is_some_and(is_running));
        if let Some(subject) = running {
            followed.extend(follow(&client, subject, &candidates, printer).await?);
            continue;
        }
        if let Some(waiting) = &mut waiting
            && waiting.goes_on(printer).await?
        {
            continue;
        }
        return match found {
            Err(error) if followed.is_empty() => Err(error),
            found => last(&found.unwrap_or_default(), &client, followed, printer).await,
        };
    }
}

/// What is told at the end: for programs all that was followed; where nothing runs, the last run.
async fn last(
    subjects: &[Subject],
    client: &Client,
    mut followed: Vec<RunView>,
    printer: Printer,
) -> anyhow::Result<()> {
    if followed.is_empty() {
        printer.message("nothing runs at the moment");
        for subject in subjects.iter().filter(|subject| subject.workspace.is_some()) {
            followed.extend(kept(subject, &subject.kept(client)?).await?.pop());
        }
    } else if printer.output() == Output::Human {
        return Ok(());
    }
    let text: Vec<String> = followed.iter().map(RunView::sentences).collect();
    if followed.is_empty() && printer.output() == Output::Human {
        return Ok(());
    }
    printer.value(&Logs { runs: &followed }, &text.join("\n\n"))
}

/// Follows a Workspace until nothing of it runs any more, and answers with the runs that ended.
async fn follow(
    client: &Client,
    subject: &Subject,
    candidates: &[PathBuf],
    printer: Printer,
) -> anyhow::Result<Vec<RunView>> {
    let workspace = subject.workspace()?;
    let kept_of = subject.kept(client)?;
    let before = kept(subject, &kept_of).await?.last().map_or(0, |run| run.number);
    let live = tail::open(candidates, workspace).filter(|_| printer.output() == Output::Human);
    let is_live = live.is_some();
    watch(client, &subject.name(), live, printer).await?;
    tell(subject, &kept_of, before, is_live, printer).await
}

/// Passes on what happens, until nothing runs any more.
async fn watch(
    client: &Client,
    name: &str,
    mut live: Option<LiveLog>,
    printer: Printer,
) -> anyhow::Result<()> {
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let mut changes = std::pin::pin!(watch_object(workspaces, name).default_backoff());
    let mut told = String::new();
    loop {
        tokio::select! {
            change = changes.next() => match change.context("watching the Workspace")? {
                Ok(Some(workspace)) if is_running(&workspace) => {
                    let engine = workspace.status.as_ref().and_then(|status| status.engine.as_ref());
                    let sentence = engine.and_then(|engine| engine.run.as_ref()).map(run_sentence);
                    if let Some(sentence) = sentence.filter(|sentence| *sentence != told) {
                        if live.is_none() {
                            printer.message(&format!("Workspace `{name}`: {sentence}"));
                        }
                        told = sentence;
                    }
                }
                Ok(_) => return pass_on(live.as_mut(), printer),
                Err(error) => tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "watching Workspace `{name}` was interrupted; trying again"
                ),
            },
            () = tokio::time::sleep(LOOK), if live.is_some() => pass_on(live.as_mut(), printer)?,
        }
    }
}

fn pass_on(live: Option<&mut LiveLog>, printer: Printer) -> anyhow::Result<()> {
    let Some(live) = live else { return Ok(()) };
    let lines = live.lines().context("reading what Terraform printed")?;
    lines.iter().try_for_each(|line| printer.text(&format!("{line}\n")))
}

/// Tells what came of the runs that ended: in full where they could not be followed line by line.
async fn tell(
    subject: &Subject,
    kept_of: &StateOf,
    before: u64,
    is_live: bool,
    printer: Printer,
) -> anyhow::Result<Vec<RunView>> {
    let mut ended = kept(subject, kept_of).await?;
    ended.retain(|run| run.number > before);
    for run in &ended {
        match printer.output() {
            Output::Human if is_live => printer.message(&run.headline()),
            Output::Human => printer.text(&format!("{}\n\n", run.sentences()))?,
            Output::Json | Output::Yaml => {}
        }
    }
    Ok(ended)
}
