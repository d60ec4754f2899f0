//! `capt migrate from-go`: what the earlier Go implementation left becomes CAPT's.

mod steps;
mod survey;
mod words;

use capt_core::from_go::{Entry, Plan, plan};
use serde::Serialize;

use super::{may_be_done, show};
use crate::cli::FromGoArguments;
use crate::commands::{confirm, target};
use crate::connection;
use crate::printer::Printer;

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
enum Outcome {
    /// It is only shown.
    Planned,
    /// What the command does is done; the manager does the rest.
    Done,
    /// There is nothing to do, or nothing any more.
    NothingToDo,
}

/// What is told.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct View {
    outcome: Outcome,
    entries: Vec<Entry>,
    /// What has to be changed before anything can be done.
    in_the_way: Vec<String>,
    /// What else there is to know.
    remarks: Vec<String>,
}

pub(super) async fn run(arguments: FromGoArguments, printer: Printer) -> anyhow::Result<()> {
    let FromGoArguments { namespace, all_namespaces, dry_run, yes, connection } = arguments;
    confirm::may_ask(dry_run || yes, "look with --dry-run at what would be done, and do it with --yes")?;
    let client = connection::find_for_person(&connection).await?.client;
    let own = target::namespace_of(namespace, &client)?;
    let meant = (!all_namespaces).then_some(own.as_str());
    let (found, mut remarks) = survey::take(&client, &own, meant, printer).await?;
    let Plan { entries, deeds, in_the_way, remarks: more } = plan(&found);
    remarks.extend(more);
    let outcome =
        if entries.is_empty() && in_the_way.is_empty() { Outcome::NothingToDo } else { Outcome::Planned };
    let mut view = View { outcome, entries, in_the_way, remarks };
    if view.outcome == Outcome::NothingToDo {
        return printer.value(&view, &view.sentences());
    }
    if dry_run {
        return show(&view, &view.sentences(), &view.in_the_way, printer);
    }
    may_be_done(&view.sentences(), &view.in_the_way, yes || deeds.is_empty(), printer).await?;
    steps::carry_out(&client, &deeds, printer).await?;
    view.outcome = Outcome::Done;
    printer.value(&view, &view.sentences())
}
