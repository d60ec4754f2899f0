//! `capt validate`: what is wrong in manifests, without a cluster.

pub(crate) mod files;
mod report;

use anyhow::ensure;
use capt_core::validation::{File, Finding, validate};

use self::files::Read;
use self::report::{Report, Skipped};
use crate::cli::ValidateArguments;
use crate::printer::Printer;

pub(crate) fn run(arguments: &ValidateArguments, printer: Printer) -> anyhow::Result<()> {
    let ValidateArguments { files, elsewhere, strict } = arguments;
    let read = files::read(files)?;
    let texts: Vec<File<'_>> = read.iter().filter_map(Read::as_file).collect();
    let mut findings: Vec<Finding> = read.iter().filter_map(Read::problem).collect();
    findings.extend(validate(&texts, elsewhere));
    let skipped: Vec<Skipped> = read.iter().filter_map(Skipped::of).collect();
    let report = Report::new(read.len() - skipped.len(), findings, skipped, *strict);
    printer.value(&report, &report.text())?;
    ensure!(report.is_good(), "{}", report.counts());
    Ok(())
}
