//! `capt compat`: which versions go together.

mod cluster;
mod file;
mod path;
mod report;
mod table;

use anyhow::ensure;
use capt_core::compatibility::{Versions, judge_manifests, versions_in};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use self::report::Report;
use crate::cli::{CheckArguments, CompatArguments, CompatCommand};
use crate::printer::Printer;

pub(crate) async fn run(arguments: CompatArguments, printer: Printer) -> anyhow::Result<()> {
    match arguments.command {
        None => table::print(printer),
        Some(CompatCommand::Check(arguments)) => check(arguments, printer).await,
        Some(CompatCommand::Path(arguments)) => path::print(&arguments, printer),
    }
}

async fn check(arguments: CheckArguments, printer: Printer) -> anyhow::Result<()> {
    let mut given = Versions::from(&arguments.versions);
    let CheckArguments { versions: _, files, cluster, namespace, date, connection } = arguments;
    let (manifests, mut doubts) = match cluster {
        Some(name) => {
            let found = cluster::read(&name, namespace, given.kubernetes, &connection, printer).await?;
            given.kubernetes = found.kubernetes;
            (found.manifests, found.doubts)
        }
        None => (file::read(&files)?, Vec::new()),
    };
    let found = versions_in(&manifests);
    // What is given is no question any more, whatever the manifests say.
    let open = found.doubts.into_iter().filter(|doubt| given.get(doubt.product()).is_none());
    doubts.extend(open.map(|doubt| doubt.to_string()));
    let versions = given.or(found.versions);
    let date = date.unwrap_or_else(|| Timestamp::now().to_zoned(TimeZone::UTC).date());
    let report = Report::new(versions, judge_manifests(&manifests, &versions, Some(date)), doubts);
    ensure!(report.is_something(), "no version was found: give one, for example --flux 2.9");
    printer.value(&report, &report.sentences())?;
    ensure!(report.is_supported(), "not everything is known to go together");
    Ok(())
}
