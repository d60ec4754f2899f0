//! `capt migrate from-crossplane` and `to-crossplane`: who runs Workspaces.
//!
//! One annotation says who is to run a Workspace; the manager does the rest (`capt_core::workspace::handover`). So nothing is lost
//! when this ends early.

mod look;
mod wait;
mod words;

use anyhow::{bail, ensure};
use capt_api::Workspace;
use capt_api::names::annotation;
use capt_core::workspace::handover::{CAPT, CROSSPLANE, Move};
use kube::{Api, Client};
use serde::Serialize;
use serde_json::{Value, json};

use super::WRITER;
use crate::cli::{FromCrossplaneArguments, ToCrossplaneArguments, WhichWorkspaces};
use crate::commands::confirm;
use crate::connection;
use crate::printer::Printer;

/// Which way Workspaces go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Way {
    /// From Crossplane to CAPT.
    ToCapt,
    /// From CAPT to Crossplane.
    ToCrossplane,
}

/// What is done, or was done.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    way: Way,
    workspaces: Vec<Entry>,
}

/// What is done with one Workspace.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    name: String,
    outcome: Outcome,
    /// Where its state is, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    /// What is in the way, or what came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// What becomes of a Workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
enum Outcome {
    /// It would be handed over.
    Planned,
    /// It is handed over, and all is as it should be.
    Done,
    /// It is handed over, and waits for somebody.
    Waiting,
    /// It is where it is wanted.
    NothingToDo,
    /// It cannot be handed over.
    InTheWay,
}

/// What is to be done.
struct Errand {
    way: Way,
    which: WhichWorkspaces,
    /// Nobody will say that he has put a Workspace down.
    stopped: bool,
}

pub(super) async fn take(arguments: FromCrossplaneArguments, printer: Printer) -> anyhow::Result<()> {
    let FromCrossplaneArguments { which, provider_stopped } = arguments;
    run(Errand { way: Way::ToCapt, which, stopped: provider_stopped }, printer).await
}

pub(super) async fn give(arguments: ToCrossplaneArguments, printer: Printer) -> anyhow::Result<()> {
    run(Errand { way: Way::ToCrossplane, which: arguments.which, stopped: false }, printer).await
}

async fn run(errand: Errand, printer: Printer) -> anyhow::Result<()> {
    let (dry_run, yes) = (errand.which.dry_run, errand.which.yes);
    confirm::may_ask(dry_run || yes, "look with --dry-run at what would be done, and do it with --yes")?;
    let client = connection::find_for_person(&errand.which.connection).await?.client;
    let mut report = look::look(&client, &errand).await?;
    let count = |outcome| report.workspaces.iter().filter(|entry| entry.outcome == outcome).count();
    let (planned, in_the_way) = (count(Outcome::Planned), count(Outcome::InTheWay));
    if dry_run || (planned == 0 && in_the_way == 0) {
        printer.value(&report, &report.sentences())?;
        ensure!(in_the_way == 0, "this cannot be done yet: see what is in the way");
        return Ok(());
    }
    if in_the_way > 0 {
        bail!(
            "nothing was changed, since something is in the way; name those that can be handed over:\n{}",
            report.sentences()
        );
    }
    if !yes && !confirm::ask(&report.sentences(), "Do this?", printer).await? {
        bail!("nothing was changed");
    }
    for entry in report.workspaces.iter().filter(|entry| entry.outcome == Outcome::Planned) {
        mark(&client, &errand, &entry.name).await?;
    }
    // All of them first: none waits for another.
    for entry in report.workspaces.iter_mut().filter(|entry| entry.outcome == Outcome::Planned) {
        printer.message(&format!("waiting for Workspace `{}`", entry.name));
        let (outcome, message) = wait::wait(&client, &errand, &entry.name).await?;
        (entry.outcome, entry.message) = (outcome, message);
    }
    printer.value(&report, &report.sentences())
}

/// Says who is to run a Workspace.
async fn mark(client: &Client, errand: &Errand, name: &str) -> anyhow::Result<()> {
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let doing = format!("noting on Workspace `{name}` who is to run it");
    WRITER
        .change(&workspaces, name, &doing, |workspace| {
            let wish = match errand.way {
                Way::ToCapt => CAPT,
                Way::ToCrossplane => CROSSPLANE,
            };
            let mut annotations = match errand.way {
                Way::ToCapt if errand.stopped => Move::Take.annotations(&workspace.metadata),
                Way::ToCapt | Way::ToCrossplane => json!({}),
            };
            annotations[annotation::RUN_BY] = json!(wish);
            let there = workspace.metadata.annotations.as_ref();
            let is_written = |(key, value): (&String, &Value)| {
                there.and_then(|there| there.get(key)).map(String::as_str) == value.as_str()
            };
            let done = annotations.as_object().is_some_and(|all| all.iter().all(is_written));
            Ok((!done).then(|| json!({ "metadata": { "annotations": annotations } })))
        })
        .await
        .map(drop)
}
