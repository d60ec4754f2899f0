//! One file per verb.

mod addons;
mod approve;
mod backup;
mod compat;
mod completion;
mod confirm;
mod crds;
mod demo;
mod describe;
mod doctor;
mod down;
mod get;
mod kubeconfig;
mod logs;
mod manager;
mod migrate;
mod plan;
mod reconcile;
mod reference;
mod restore;
mod running;
mod state;
mod state_lock;
mod status;
mod target;
mod up;
mod validate;
mod version;
mod workload;
mod write;

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
        Command::Status(arguments) => block_on(status::run(arguments, printer)),
        Command::Down(arguments) => block_on(down::run(arguments, printer)),
        Command::Manager(arguments) => block_on(manager::run(arguments)),
        Command::Get(arguments) => block_on(get::run(arguments, printer)),
        Command::Describe(arguments) => block_on(describe::run(arguments, printer)),
        Command::Kubeconfig(arguments) => block_on(kubeconfig::run(arguments, printer)),
        Command::Plan(arguments) => block_on(plan::run(arguments, printer)),
        Command::Approve(arguments) => block_on(approve::run(arguments, printer)),
        Command::Logs(arguments) => block_on(logs::run(arguments, printer)),
        Command::State(arguments) => block_on(state::run(arguments, printer)),
        Command::Reconcile(arguments) => block_on(reconcile::run(arguments, printer)),
        Command::Validate(arguments) => validate::run(&arguments, printer),
        Command::Addons(arguments) => addons::run(&arguments, printer),
        Command::Migrate(arguments) => block_on(migrate::run(arguments, printer)),
        Command::Compat(arguments) => block_on(compat::run(arguments, printer)),
        Command::Doctor(arguments) => block_on(doctor::run(arguments, printer)),
        Command::Backup(arguments) => block_on(backup::run(arguments, printer)),
        Command::Restore(arguments) => block_on(restore::run(arguments, printer)),
        Command::Crds(arguments) => crds::run(&arguments, printer),
        Command::Workload(arguments) => workload::run(arguments, printer),
        Command::Completion(arguments) => completion::run(&arguments, printer),
        Command::Reference => reference::run(printer),
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
