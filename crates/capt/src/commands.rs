//! One file per verb.

mod addons;
mod compat;
mod crds;
mod demo;
mod manager;
mod migrate;
mod reconcile;
mod up;
mod validate;
mod version;
mod workload;

use std::future::Future;

use anyhow::Context;

use crate::cli::Command;
use crate::printer::Printer;

/// Where CAPT keeps what belongs to no other namespace, when it does not run in one.
pub(crate) const HOME_NAMESPACE: &str = "capt-system";

/// Does what the user asked for.
pub(crate) fn run(command: Command, printer: Printer) -> anyhow::Result<()> {
    match command {
        Command::Demo(arguments) => block_on(demo::run(arguments, printer)),
        Command::Up(arguments) => block_on(up::run(arguments, printer)),
        Command::Manager(arguments) => block_on(manager::run(arguments)),
        Command::Reconcile(arguments) => block_on(reconcile::run(arguments, printer)),
        Command::Validate(arguments) => validate::run(&arguments, printer),
        Command::Addons(arguments) => addons::run(&arguments, printer),
        Command::Migrate(arguments) => block_on(migrate::run(arguments, printer)),
        Command::Compat(arguments) => block_on(compat::run(arguments, printer)),
        Command::Crds(arguments) => crds::run(&arguments, printer),
        Command::Workload(arguments) => workload::run(arguments, printer),
        Command::Version => version::run(printer),
    }
}

fn block_on(work: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.context("starting the threads of the manager")?;
    let result = runtime.block_on(work);
    // Whatever still runs was abandoned on purpose, by a second Ctrl-C for example.
    runtime.shutdown_background();
    result
}
