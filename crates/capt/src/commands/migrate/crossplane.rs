//! `capt migrate from-crossplane` and `to-crossplane`: who runs Workspaces.
//!
//! One annotation says who is to run a Workspace; the manager does the rest (`capt_core::workspace::handover`). So nothing is lost
//! when this ends early.

mod look;
mod wait;
mod words;

use anyhow::{bail, ensure};
use capt_api::Workspace;
use capt_api::crossplane::WorkspaceStatus;
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
    // All of them first: none waits for another.
    let mut marked = Vec::new();
    for entry in report.workspaces.iter_mut().filter(|entry| entry.outcome == Outcome::Planned) {
        let before = mark(&client, &errand, &entry.name).await?;
        marked.push((entry, before));
    }
    for (entry, before) in marked {
        printer.message(&format!("waiting for Workspace `{}`", entry.name));
        let (outcome, message) = wait::wait(&client, &errand, &entry.name, before.as_ref()).await?;
        (entry.outcome, entry.message) = (outcome, message);
    }
    printer.value(&report, &report.sentences())?;
    report.ensure_passed()
}

impl Report {
    /// One that CAPT has and that waits for somebody has passed over; one that stays with CAPT has not.
    fn ensure_passed(&self) -> anyhow::Result<()> {
        let stays = |entry: &Entry| self.way == Way::ToCrossplane && entry.outcome == Outcome::Waiting;
        ensure!(
            !self.workspaces.iter().any(stays),
            "not everything was handed back: see what stays with CAPT, and why"
        );
        Ok(())
    }
}

/// Says who is to run a Workspace. Answers the status that it had before.
async fn mark(client: &Client, errand: &Errand, name: &str) -> anyhow::Result<Option<WorkspaceStatus>> {
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let doing = format!("noting on Workspace `{name}` who is to run it");
    let mut before = None;
    WRITER
        .change(&workspaces, name, &doing, |workspace| {
            before.clone_from(&workspace.status);
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
        .await?;
    Ok(before)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::given(Way::ToCrossplane, Outcome::Done, true)]
    #[case::nothing_to_give(Way::ToCrossplane, Outcome::NothingToDo, true)]
    #[case::it_stays_with_capt(Way::ToCrossplane, Outcome::Waiting, false)]
    #[case::taken_and_it_waits_for_approval(Way::ToCapt, Outcome::Waiting, true)]
    fn what_was_refused_is_no_success(#[case] way: Way, #[case] outcome: Outcome, #[case] expected: bool) {
        let entry = Entry { name: "x".to_owned(), outcome, state: None, message: None };
        assert_eq!(Report { way, workspaces: vec![entry] }.ensure_passed().is_ok(), expected);
    }
}
