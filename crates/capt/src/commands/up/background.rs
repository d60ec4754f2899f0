//! The home in a process of its own, which goes on when this one ends.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};

use super::announcement::{Announcement, End};
use crate::cli::HomeArguments;
use crate::home::{self, Record};
use crate::log_lines::{self, last_lines};
use crate::printer::Printer;
use crate::signals::Stop;
use crate::thread::in_thread;

const FLAG: &str = "--detach";
const FLAG_OF_CHILD: &str = "--in-background";

/// Starts the home and returns when it is ready, or says why it is not.
pub(super) async fn start(arguments: &HomeArguments, printer: Printer, stop: &Stop) -> anyhow::Result<()> {
    let directory = home::directory(arguments.dir.as_deref())?;
    let log = capt_local::home::log(&directory);
    if let Some(running) = home::running(&directory)?.filter(|running| running.alive) {
        printer.message(&format!("the home in {} runs already ({running})", directory.display()));
        return match Record::of(&directory, running.pid) {
            Some(record) => Announcement::new(record.server, directory).print(&End::Down(&log), printer),
            None => bail!("it is being started or stopped: try again in a moment"),
        };
    }
    // Here, where somebody sees how far it is: it may take minutes.
    home::fetch(arguments, printer, stop).await?;
    if stop.requested.is_cancelled() {
        return Ok(());
    }
    capt_local::home::prepare(&directory)
        .with_context(|| format!("preparing the directory {}", directory.display()))?;
    let messages = log_lines::begin(&log).with_context(|| format!("opening {}", log.display()))?;
    let child = spawn(messages).context("starting capt in the background")?;
    let answer = in_thread(move || wait(child));
    let Some(answer) = stop.requested.run_until_cancelled(answer).await else {
        // Nobody hears its announcement any more, and so it ends.
        bail!("told to stop: what was begun in the background ends by itself");
    };
    match answer?.context("waiting for capt in the background")? {
        Ok(announcement) => announcement.print(&End::Down(&log), printer),
        Err(status) => {
            let end = last_lines(&log).unwrap_or_default();
            bail!("the home did not start ({status}); the end of {}:\n{end}", log.display())
        }
    }
}

fn spawn(messages: File) -> io::Result<Child> {
    let flag = |argument: OsString| if argument == FLAG { FLAG_OF_CHILD.into() } else { argument };
    Command::new(env::current_exe()?)
        .args(env::args_os().skip(1).map(flag))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(messages)
        .spawn()
}

/// What the child announces, or how it ended.
fn wait(mut child: Child) -> io::Result<Result<Announcement, std::process::ExitStatus>> {
    let mut line = String::new();
    if let Some(output) = child.stdout.take() {
        BufReader::new(output).read_line(&mut line)?;
    }
    match serde_json::from_str(&line) {
        Ok(announcement) => Ok(Ok(announcement)),
        Err(_) => child.wait().map(Err),
    }
}
