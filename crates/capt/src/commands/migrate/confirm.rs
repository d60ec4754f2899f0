//! Asks the person at the terminal.

use std::io::BufRead as _;

use anyhow::Context as _;

use super::plan::Plan;
use crate::printer::Printer;

/// Shows the plan and asks whether it is to be carried out.
pub(super) async fn ask(plan: &Plan, printer: Printer) -> anyhow::Result<bool> {
    printer.message(&plan.sentences());
    printer.message("\nDo this? Write yes to go on:");
    let answer = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line).map(|_| line)
    });
    let answer = answer.await.context("waiting for an answer")?.context("reading the answer")?;
    Ok(matches!(answer.trim(), "y" | "yes"))
}
