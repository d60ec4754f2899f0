//! `capt backup`: everything of CAPT in one encrypted file.

mod busy;
mod collect;
mod report;
mod workloads;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use capt_core::archive::{FORMAT, FORMAT_VERSION, Header, Line};
use capt_core::name::is_namespace_name;
use capt_local::workload::WorkloadName;
use jiff::Timestamp;

use self::collect::{Collected, Scope};
use self::report::Report;
use crate::archive::Sealing;
use crate::archive::home::Home;
use crate::archive::passphrase::{self, Purpose};
use crate::cli::BackupArguments;
use crate::connection;
use crate::printer::Printer;
use crate::thread::in_thread;

pub(crate) async fn run(arguments: BackupArguments, printer: Printer) -> anyhow::Result<()> {
    let BackupArguments { file, namespace, all_namespaces, force, wait, timeout, passphrase, connection } =
        arguments;
    let found = connection::find_for_person(&connection).await?;
    let client = found.client;
    let scope = if all_namespaces {
        Scope::All
    } else {
        let namespace = namespace.unwrap_or_else(|| client.default_namespace().to_owned());
        ensure!(
            is_namespace_name(&namespace),
            "`{namespace}` is no name of a namespace: write one with --namespace"
        );
        Scope::Namespace(namespace)
    };
    // Nobody types a passphrase for a file that cannot be written.
    ensure!(
        force || file.symlink_metadata().is_err(),
        "{} is there already: write another name, or --force to replace it",
        file.display()
    );
    let passphrase =
        in_thread(move || passphrase::read(passphrase.passphrase_file.as_deref(), Purpose::Seal, printer))
            .await??;
    let collected = collect::consistently(&client, &scope, wait.then_some(timeout), printer).await?;
    ensure!(!collected.objects.is_empty(), "there is nothing of CAPT in {}", scope.in_words());
    let home = Home::find(&connection, &found.server.address);
    let workloads = match &home {
        Some(home) => workloads::of(home, &scope, &collected)?,
        None => Vec::new(),
    };
    let header = header(&scope, &collected, home.as_ref(), &workloads)?;
    let sealing = in_thread({
        let (file, passphrase) = (file.clone(), passphrase);
        move || Sealing::begin(&file, force, passphrase)
    });
    let work = Work { sealing: sealing.await??, header, collected, home, workloads, file };
    let report = in_thread(move || work.write(printer)).await??;
    printer.value(&report, &report.sentences())
}

/// All that is to be written.
struct Work {
    sealing: Sealing,
    header: Header,
    collected: Collected,
    home: Option<Home>,
    workloads: Vec<WorkloadName>,
    file: PathBuf,
}

impl Work {
    fn write(mut self, printer: Printer) -> anyhow::Result<Report> {
        self.sealing.line(&Line::Header(self.header.clone()))?;
        for object in std::mem::take(&mut self.collected.objects).into_values() {
            self.sealing.line(&Line::Object(object))?;
        }
        for name in &self.workloads {
            let Some(home) = &self.home else { break };
            let copied = home.copy(name, printer, |part| self.sealing.line(&Line::File(part)));
            copied.with_context(|| format!("copying local cluster {name}"))?;
        }
        let size = self.sealing.finish()?;
        Ok(Report::new(&self.file, size, self.header))
    }
}

fn header(
    scope: &Scope,
    collected: &Collected,
    home: Option<&Home>,
    workloads: &[WorkloadName],
) -> anyhow::Result<Header> {
    let directory = home.filter(|_| !workloads.is_empty()).map(Home::directory);
    let directory =
        directory.map(|path| path.to_str().context("the path of the home is not UTF-8")).transpose()?;
    Ok(Header {
        format: FORMAT.to_owned(),
        version: FORMAT_VERSION,
        capt: env!("CARGO_PKG_VERSION").to_owned(),
        id: identifier(),
        taken_at: format!("{:.0}", Timestamp::now()),
        namespaces: match scope {
            Scope::All => Vec::new(),
            Scope::Namespace(namespace) => vec![namespace.clone()],
        },
        home: directory.map(ToOwned::to_owned),
        objects: collected.counts(),
        workloads: workloads.iter().map(ToString::to_string).collect(),
    })
}

/// Tells backups apart; it is no secret.
fn identifier() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}
