//! Asks the person at the terminal.

use std::io::{BufRead as _, IsTerminal as _};

use anyhow::{Context as _, ensure};

use crate::printer::Printer;

/// Makes sure that there is somebody to ask, or that he need not be asked.
pub(crate) fn may_ask(yes: bool, instead: &str) -> anyhow::Result<()> {
    ensure!(yes || std::io::stdin().is_terminal(), "there is nobody to ask: {instead}");
    Ok(())
}

/// Shows what would be done and asks whether it is to be carried out. Everything but yes is no.
pub(crate) async fn ask(shown: &str, question: &str, printer: Printer) -> anyhow::Result<bool> {
    printer.message(shown);
    printer.message(&format!("\n{question} Write yes to go on:"));
    let answer = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line).map(|_| line)
    });
    let answer = answer.await.context("waiting for an answer")?.context("reading the answer")?;
    Ok(matches!(answer.trim(), "y" | "yes"))
}
