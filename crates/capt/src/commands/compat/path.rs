//! The order of upgrades.

use anyhow::ensure;
use capt_core::compatibility::{Step, Table, UpgradePath, upgrade_path};

use crate::cli::PathArguments;
use crate::printer::Printer;

pub(super) fn print(arguments: &PathArguments, printer: Printer) -> anyhow::Result<()> {
    let path = upgrade_path(&arguments.from, &arguments.to)?;
    printer.value(&path, &sentences(&path))?;
    ensure!(
        path.is_supported(),
        "no way there is supported in every state; this is the one with the fewest that are not"
    );
    Ok(())
}

fn sentences(path: &UpgradePath) -> String {
    let mut lines = vec![format!("{}:", path.start)];
    lines.extend(path.conflicts.iter().map(|conflict| format!("  not supported now: {conflict}")));
    for (index, step) in path.steps.iter().enumerate() {
        lines.push(format!("{}. {step}", index + 1));
        lines.extend(remarks(step));
    }
    if path.steps.is_empty() {
        lines.push("there is nothing to upgrade".to_owned());
    }
    lines.push(format!("by the table of {}", Table::embedded().date));
    lines.join("\n")
}

fn remarks(step: &Step) -> impl Iterator<Item = String> {
    let conflicts = step.conflicts.iter().map(|conflict| format!("   not supported: {conflict}"));
    conflicts.chain(step.notes.iter().map(|note| format!("   {note}")))
}
