//! `capt doctor`: what is wrong, and how to fix it.
//!
//! Here facts are gathered; what they mean is decided in `capt_core::doctor`.

mod aws;
mod clusters;
mod kinds;
mod manager;
mod parts;
mod permissions;
mod server;
mod states;

use anstyle::{AnsiColor, Style};
use anyhow::ensure;
use capt_core::cause::sentence;
use capt_core::doctor::{Finding, Level, Report};

use crate::archive::home::Home;
use crate::cli::DoctorArguments;
use crate::connection::{self, Connection};
use crate::printer::Printer;
use crate::thread::in_thread;

const GOOD: Style = AnsiColor::Green.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();

pub(crate) async fn run(arguments: DoctorArguments, printer: Printer) -> anyhow::Result<()> {
    let mut findings = in_thread(parts::look).await?;
    match connection::find_for_person(&arguments.connection).await {
        Ok(connection) => findings.extend(Box::pin(look(&arguments, &connection)).await),
        Err(error) => findings.push(Finding::bad(
            "management cluster",
            format!("there is no way to one: {:#}", anyhow::Error::new(error)),
            "start one with `capt up`, or name one with --kubeconfig FILE or --context NAME",
        )),
    }
    let report = Report { findings };
    printer.value(&report, &report.text(marked))?;
    let bad = report.count(Level::Bad);
    ensure!(
        bad == 0,
        "{bad} of {} findings are bad: see the lines marked {}",
        report.findings.len(),
        Level::Bad.mark()
    );
    Ok(())
}

/// Everything that needs a cluster.
async fn look(arguments: &DoctorArguments, connection: &Connection) -> Vec<Finding> {
    let client = &connection.client;
    let (answer, clock) = server::look(connection).await;
    let mut findings = vec![answer.judge()];
    if answer.version.is_err() {
        return findings;
    }
    findings.push(clock.judge());
    findings.push(permissions::look(client).await.judge());
    findings.extend(kinds::look(client).await);
    let home = Home::find(&arguments.connection, &connection.server.address);
    findings.extend(manager::look(client, home, clock).await.judge());
    let mut eks = None;
    match clusters::look(client, arguments, clock).await {
        Ok(found) => {
            findings.extend(found.findings);
            eks = found.eks;
        }
        Err(error) => findings.push(Finding::bad(
            "clusters",
            format!("they cannot be looked at: {}", sentence(error.as_ref())),
            "see what is wrong above; name a cluster with --cluster NAME and -n NAMESPACE",
        )),
    }
    if arguments.aws || eks.is_some() {
        findings.push(aws::look(eks).await.judge());
    }
    findings
}

fn marked(level: Level) -> String {
    let style = match level {
        Level::Good => GOOD,
        Level::Warning => WARNING,
        Level::Bad => BAD,
    };
    format!("{style}{}{style:#}", level.mark())
}
