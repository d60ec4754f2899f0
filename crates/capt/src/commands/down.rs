//! `capt down`: stops a home, and deletes its data when asked to.

mod infrastructure;
mod purge;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;

use crate::cli::DownArguments;
use crate::home;
use crate::printer::Printer;
use crate::signals::Stop;

/// A home that stops is looked at this often.
const PAUSE: Duration = Duration::from_millis(50);

/// What a program needs to know.
#[derive(Serialize)]
struct Answer {
    directory: PathBuf,
    /// Whether it ran.
    stopped: bool,
    purged: bool,
}

pub(crate) async fn run(arguments: DownArguments, printer: Printer) -> anyhow::Result<()> {
    let DownArguments { place, timeout, purge, yes, force } = arguments;
    let directory = home::directory(place.dir.as_deref())?;
    let stop = Stop::on_signals().context("listening for signals")?;
    if purge && !purge::is_wanted(&directory, purge::Consent { yes, force }, printer, &stop).await? {
        bail!("nothing was stopped and nothing was deleted");
    }
    let stopped = match stop.requested.run_until_cancelled(halt(&directory, timeout, printer)).await {
        Some(stopped) => stopped?,
        None => bail!("told to stop waiting; the home goes on stopping"),
    };
    let place = directory.display();
    let mut sentence = if stopped {
        format!("The home in {place} has stopped. `{}` starts it again.", home::command("up", &directory))
    } else {
        format!("The home in {place} does not run.")
    };
    if purge {
        sentence = purge::purge(&directory)?;
    }
    let answer = Answer { directory, stopped, purged: purge };
    printer.value(&answer, &sentence)
}

/// Asks a home to stop and waits until everything of it has; says whether there was one.
async fn halt(directory: &Path, timeout: Duration, printer: Printer) -> anyhow::Result<bool> {
    let Some(running) = home::running(directory)? else { return Ok(false) };
    let deadline = Instant::now() + timeout;
    let pid = i32::try_from(running.pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid.filter(|_| running.alive) {
        match kill_process(pid, Signal::TERM) {
            Ok(()) | Err(Errno::SRCH) => {}
            Err(error) => return Err(error).with_context(|| format!("asking pid {} to stop", running.pid)),
        }
    }
    printer.message(&format!("stopping the home in {} ({running})", directory.display()));
    while home::running(directory)?.is_some_and(|now| now.pid == running.pid) {
        if Instant::now() > deadline {
            bail!(
                "the home in {} still runs after {} s: it waits for applies that were asked to stop. Ask again with a longer \
                 --timeout; `kill {}` makes it leave them to themselves",
                directory.display(),
                timeout.as_secs(),
                running.pid
            );
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(true)
}
