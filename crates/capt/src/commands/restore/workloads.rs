//! The local clusters of a home: put back before the objects that Terraform finds them by.

use std::path::Path;

use age::secrecy::SecretString;
use anyhow::{Context as _, anyhow, bail};
use capt_core::archive::{Header, Item};
use capt_local::workload::WorkloadName;

use crate::archive::home::{Home, Receiving};
use crate::archive::open;
use crate::printer::Printer;

/// The local clusters of the backup, if they can be put back.
pub(super) fn check(
    home: Option<&Home>,
    header: &Header,
    printer: Printer,
) -> anyhow::Result<Vec<WorkloadName>> {
    let names: Result<Vec<WorkloadName>, _> = header.workloads.iter().map(|name| name.parse()).collect();
    let names = names.map_err(|_| anyhow!("the backup names a local cluster whose name is no name"))?;
    if names.is_empty() {
        return Ok(names);
    }
    let from = header.home.as_deref().unwrap_or_default();
    let Some(home) = home else {
        bail!(
            "nothing was changed: the backup holds local clusters of a home ({}), and this cluster is not a home on this machine: start an empty one with `capt up --dir {from}`, and restore into that",
            header.workloads.join(", ")
        );
    };
    if home.directory() != Path::new(from) {
        printer.warning(&format!(
            "the backup is of a home in {from}, and this one is in {}: modules that know the directory of their home (as that of the demo does) will plan changes, which wait for an approval",
            home.directory().display()
        ));
    }
    for name in &names {
        home.has(name, &header.id).context("nothing was changed")?;
    }
    Ok(names)
}

/// Puts them back, those that are not there, and waits until they answer.
pub(super) fn put(
    home: &Home,
    file: &Path,
    passphrase: SecretString,
    header: &Header,
    names: &[WorkloadName],
    printer: Printer,
) -> anyhow::Result<()> {
    let mut missing: Vec<Receiving<'_>> = Vec::new();
    for name in names {
        if home.has(name, &header.id)? {
            home.start(name)?;
        } else {
            missing.push(home.receive(name, &header.id)?);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    open(file, passphrase, |item| match item {
        Item::File(part) => match missing.iter().find(|receiving| receiving.is_for(&part)) {
            Some(receiving) => receiving.put(&part),
            None => Ok(()),
        },
        Item::Header(_) | Item::Object(..) | Item::End => Ok(()),
    })?;
    for receiving in missing {
        printer.message(&format!("starting local cluster {}", receiving.name()));
        receiving.finish()?;
    }
    Ok(())
}
