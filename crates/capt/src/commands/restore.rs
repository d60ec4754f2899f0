//! `capt restore`: a backup back into an empty home or management cluster.
//!
//! ```text
//! read all ─▶ kinds there? nothing in the way? ─▶ local clusters ─▶ objects, paused ─▶ owners ─▶ pauses end ─▶ (wait)
//! ```
//!
//! Invariant: until every object is there and has its owners, nothing that Terraform could run on is awake. Each step looks at
//! what is there, so that any of them can be done again.

mod check;
mod put;
mod report;
mod wait;
mod workloads;

use std::path::Path;

use age::secrecy::SecretString;
use anyhow::{Context as _, bail, ensure};
use capt_core::archive::{Backup, Item};

use self::report::{Outcome, Report};
use crate::archive::home::Home;
use crate::archive::open;
use crate::archive::passphrase::{self, Purpose};
use crate::cli::RestoreArguments;
use crate::connection;
use crate::printer::Printer;
use crate::thread::in_thread;

/// Whoever looks at the managers of a field sees where it comes from.
const FIELD_MANAGER: &str = "capt-restore";

pub(crate) async fn run(arguments: RestoreArguments, printer: Printer) -> anyhow::Result<()> {
    let RestoreArguments { file, dry_run, wait, timeout, passphrase, connection } = arguments;
    let found = connection::find_for_person(&connection).await?;
    let client = found.client;
    let passphrase =
        in_thread(move || passphrase::read(passphrase.passphrase_file.as_deref(), Purpose::Open, printer))
            .await??;
    // All of it is read before anything is done: what is broken is told while nothing has changed.
    let backup = in_thread({
        let (file, passphrase) = (file.clone(), passphrase.clone());
        move || read(&file, passphrase)
    });
    let backup = backup.await??;
    check::kinds(&client, &backup).await?;
    let verdicts = check::judge(&client, &backup).await?;
    let in_the_way = check::in_the_way(&backup, &verdicts);
    let home = Home::find(&connection, &found.server.address);
    let workloads = workloads::check(home.as_ref(), &backup.header, printer)?;
    let mut report = Report::new(&file, &backup, &verdicts, in_the_way);
    if dry_run {
        printer.value(&report, &report.sentences())?;
        ensure!(report.in_the_way.is_empty(), "this cannot be done: see what is in the way");
        return Ok(());
    }
    if !report.in_the_way.is_empty() {
        bail!("nothing was changed: {}", report.in_the_way.join("; "));
    }
    let unfinished = "this is not finished; what was put back is paused, and running this again goes on";
    if let Some(home) = home.filter(|_| !workloads.is_empty()) {
        let (file, header) = (file.clone(), backup.header.clone());
        let put = in_thread(move || workloads::put(&home, &file, passphrase, &header, &workloads, printer));
        put.await?.context(unfinished)?;
    }
    let written = put::all(&client, &backup, &verdicts, printer).await.context(unfinished)?;
    report.outcome = if written == 0 { Outcome::NothingToDo } else { Outcome::Restored };
    printer.value(&report, &report.sentences())?;
    if wait {
        wait::until_well(&client, &backup, timeout, printer).await?;
    }
    Ok(())
}

/// Reads the objects of a backup.
fn read(file: &Path, passphrase: SecretString) -> anyhow::Result<Backup> {
    let mut header = None;
    let mut objects = Vec::new();
    open(file, passphrase, |item| {
        match item {
            Item::Header(read) => header = Some(read),
            Item::Object(key, object) => objects.push((key, object)),
            Item::File(_) | Item::End => {}
        }
        Ok(())
    })?;
    let header = header.with_context(|| format!("{} says nothing of itself", file.display()))?;
    Ok(Backup::new(header, objects))
}
