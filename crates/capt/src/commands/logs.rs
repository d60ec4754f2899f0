//! `capt logs`: what Terraform printed.

mod follow;
mod tail;
mod view;
mod waiting;

use anyhow::bail;
use capt_controller::by_hand::StateOf;

use self::view::{Logs, RunView};
use super::target::{self, Subject};
use crate::cli::LogsArguments;
use crate::printer::Printer;

pub(crate) async fn run(arguments: LogsArguments, printer: Printer) -> anyhow::Result<()> {
    if arguments.follow {
        return follow::run(arguments, printer).await;
    }
    let LogsArguments { target, run, previous, list, .. } = arguments;
    let (client, subjects) = target::find(target).await?;
    let mut runs = Vec::new();
    for subject in &subjects {
        let kept = kept(subject, &subject.kept(&client)?).await?;
        runs.extend(if list { kept } else { one(kept, subject, run, previous)? });
    }
    if list {
        return printer.value(&Logs { runs: &runs }, &view::table(&runs));
    }
    if runs.is_empty() {
        bail!("no run is kept: nothing ran yet, or CAPT does not run it");
    }
    let text: Vec<String> = runs.iter().map(RunView::sentences).collect();
    printer.value(&Logs { runs: &runs }, &text.join("\n\n"))
}

/// The runs that are kept of a Workspace, oldest first.
async fn kept(subject: &Subject, kept: &StateOf) -> anyhow::Result<Vec<RunView>> {
    let logs = kept.run_logs().await?;
    Ok(logs.into_iter().map(|(number, log)| RunView::new(subject.name(), number, log)).collect())
}

/// The run that is meant.
fn one(
    mut kept: Vec<RunView>,
    subject: &Subject,
    number: Option<u64>,
    previous: bool,
) -> anyhow::Result<Vec<RunView>> {
    let name = subject.name();
    match number {
        Some(number) => {
            let numbers: Vec<String> = kept.iter().map(|run| run.number.to_string()).collect();
            kept.retain(|run| run.number == number);
            if kept.is_empty() {
                let there = if numbers.is_empty() { "none".to_owned() } else { numbers.join(", ") };
                bail!("run {number} of Workspace `{name}` is not kept: there are {there}");
            }
            Ok(kept)
        }
        None if previous => {
            if kept.len() < 2 {
                bail!("no run before the last one of Workspace `{name}` is kept");
            }
            Ok(kept.into_iter().rev().skip(1).take(1).collect())
        }
        None => Ok(kept.pop().into_iter().collect()),
    }
}
