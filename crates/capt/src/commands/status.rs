//! `capt status`: whether a home runs, and what is in it.

mod clusters;
mod report;

use std::path::Path;

use capt_core::cause::sentence;
use capt_local::home::{disk_use, log, ports};

use crate::cli::StatusArguments;
use crate::exit::ExitWith;
use crate::home::{self, Record};
use crate::printer::Printer;
use report::{Report, State};

pub(crate) async fn run(arguments: StatusArguments, printer: Printer) -> anyhow::Result<()> {
    let directory = home::directory(arguments.place.dir.as_deref())?;
    let report = look(&directory, printer).await?;
    printer.value(&report, &report.sentences())?;
    match report.state {
        State::Running => Ok(()),
        State::Busy | State::Stopped | State::Absent => Err(ExitWith(1).into()),
    }
}

async fn look(directory: &Path, printer: Printer) -> anyhow::Result<Report> {
    let running = home::running(directory)?;
    let record = running.and_then(|running| Record::of(directory, running.pid));
    let state = match (&running, &record) {
        (Some(_), Some(_)) => State::Running,
        (Some(_), None) => State::Busy,
        (None, _) if capt_local::home::is_home(directory) => State::Stopped,
        (None, _) => State::Absent,
    };
    let kubeconfig = directory.join("kubeconfig");
    let clusters = match state {
        State::Running => match clusters::list(&kubeconfig).await {
            Ok(clusters) => Some(clusters),
            Err(error) => {
                printer
                    .warning(&format!("what clusters there are is not known: {}", sentence(error.as_ref())));
                None
            }
        },
        State::Busy | State::Stopped | State::Absent => None,
    };
    let log = log(directory);
    Ok(Report {
        state,
        directory: directory.to_owned(),
        pid: running.map(|running| running.pid),
        since: running.map(|running| running.since),
        kubeconfig: record.as_ref().map(|_| kubeconfig),
        log: log.exists().then_some(log),
        ports: ports(directory),
        disk_bytes: disk_use(directory),
        clusters,
        running: record,
    })
}
