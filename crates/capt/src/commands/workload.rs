//! `capt workload`: asks a home on this machine for a control plane.

use std::path::Path;

use anyhow::Context;
use capt_local::workload::{Answer, Request, Status, ask};

use crate::cli::{WorkloadArguments, WorkloadCommand, WorkloadTarget};
use crate::printer::Printer;

pub(crate) fn run(arguments: WorkloadArguments, printer: Printer) -> anyhow::Result<()> {
    let (WorkloadTarget { home, name, timeout }, request): (_, fn(_) -> _) = match arguments.command {
        WorkloadCommand::Start(target) => (target, |name| Request::Start { name }),
        WorkloadCommand::Stop(target) => (target, |name| Request::Stop { name }),
        WorkloadCommand::Status(target) => (target, |name| Request::Status { name }),
    };
    // Whoever is told to start a home may be in another directory.
    let home = std::path::absolute(Path::new(&home)).context("finding the home")?;
    let sentence = |status: &Status| match status {
        Status::Absent => format!("workload {name} is not there"),
        Status::Starting => format!("workload {name} is being started"),
        Status::Ready(workload) => format!("workload {name} is ready at {}", workload.server),
        Status::Failed { message } => format!("workload {name} does not run: {message}"),
        Status::Stopping => format!("workload {name} is being stopped"),
    };
    let answer = ask(&home, &request(name.clone()), timeout, |message| printer.message(message))?;
    let status = match answer {
        Answer::Ready(workload) => Status::Ready(workload),
        Answer::Status(status) => status,
        Answer::Stopped | Answer::Progress { .. } | Answer::Failed { .. } => Status::Absent,
    };
    printer.value(&status, &sentence(&status))
}
