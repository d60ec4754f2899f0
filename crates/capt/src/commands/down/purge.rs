//! Deleting the data of a home, after it is known that nothing is lost by it that nobody meant to lose.

use std::io::{self, IsTerminal};
use std::path::Path;

use anyhow::{Context, bail, ensure};

use super::infrastructure::{self, Kept};
use crate::commands::confirm;
use crate::connection;
use crate::home;
use crate::printer::Printer;
use crate::signals::Stop;

/// What the person has said already.
#[derive(Clone, Copy)]
pub(super) struct Consent {
    /// To the question.
    pub(super) yes: bool,
    /// To the loss of infrastructure.
    pub(super) force: bool,
}

/// Whether the data is to be deleted: it is a home's, there is no infrastructure, and the person wants it.
pub(super) async fn is_wanted(
    directory: &Path,
    consent: Consent,
    printer: Printer,
    stop: &Stop,
) -> anyhow::Result<bool> {
    let place = directory.display();
    ensure!(
        capt_local::home::is_home(directory),
        "{place} is not the data directory of a capt: nothing is deleted there"
    );
    ensure!(
        consent.yes || io::stdin().is_terminal(),
        "--purge deletes everything in {place}, and nobody is there to be asked: say --yes"
    );
    let kept = if consent.force { None } else { Some(look(directory, printer, stop).await?) };
    if let Some(kept) = &kept {
        kept.refuse_to_lose(directory)?;
    }
    if consent.yes {
        return Ok(true);
    }
    let what = kept.map_or_else(
        || "everything that it knows, Terraform's states among it".to_owned(),
        |kept| kept.sentence(),
    );
    let shown = format!(
        "This stops the home in {place} and deletes it: {what}, and the keys by which its kubeconfigs are known. \
         Nothing brings it back."
    );
    let asking = confirm::ask(&shown, "Delete it?", printer);
    stop.requested.run_until_cancelled(asking).await.unwrap_or(Ok(false))
}

/// Asks the home, which is started for that where it does not run.
async fn look(directory: &Path, printer: Printer, stop: &Stop) -> anyhow::Result<Kept> {
    let advice = "finding out whether there is infrastructure (--force does without)";
    if home::running(directory)?.is_some_and(|running| running.alive) {
        let connection = connection::find(Some(&directory.join("kubeconfig"))).await?;
        return infrastructure::read(&connection.client).await.context(advice);
    }
    let seen = home::look(directory.to_owned(), printer, stop, infrastructure::read).await.context(advice)?;
    match seen {
        Some(kept) => Ok(kept),
        None => bail!("told to stop"),
    }
}

/// Deletes the data of a home that does not run.
pub(super) fn purge(directory: &Path) -> anyhow::Result<String> {
    let left = capt_local::home::remove(directory)?;
    let place = directory.display();
    Ok(if left.is_empty() {
        format!("The home in {place} is deleted.")
    } else {
        format!("The home in {place} is deleted. What was not its own is left: {}", left.join(", "))
    })
}
