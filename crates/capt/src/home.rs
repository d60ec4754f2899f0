//! A management cluster on this machine, with everything that runs in it.
//!
//! ```text
//! parts ─▶ control plane ─▶ workloads ─▶ CRDs ─▶ manager, visit ─▶ (told to stop, or something ended)
//!       └▶ Terraform ────────────────────────────┘
//!       ─▶ manager, workloads, control plane stop
//! ```

mod control_plane;
mod inventory;
mod kinds;
mod namespace;
mod place;
mod record;
mod terraform;
mod workloads;

use std::future;
use std::path::{Path, PathBuf};

use anyhow::Context;
use capt_controller::manager;
use capt_controller::options::{Notifications, Options, TerraformOptions};
use kube::Client;

use crate::cli::HomeArguments;
use crate::commands::HOME_NAMESPACE;
use crate::connection::{self, Connection};
use crate::engine::{self, Surroundings, binary};
use crate::notifications;
use crate::printer::Printer;
use crate::signals::Stop;
use control_plane::Running;
pub(crate) use place::{command, directory, running};
pub(crate) use record::{Process, Record};
use terraform::Terraform;
use workloads::Workloads;

/// A home in which everything runs.
#[derive(Clone, Copy)]
pub(crate) struct Home<'a> {
    /// The address of the API server.
    pub(crate) server: &'a str,
    /// The administrator's kubeconfig.
    pub(crate) kubeconfig: &'a Path,
    /// Where the data is kept.
    pub(crate) directory: &'a Path,
}

/// Runs a home until it is told to stop, and visits it once, as soon as its kinds are there.
///
/// The home goes on after a visit that went well; a visitor who wants it to end asks for the stop. When the visit
/// fails, the home stops in order, and the error is what ended it. A stop ends the visit.
pub(crate) async fn run(
    arguments: &HomeArguments,
    printer: Printer,
    stop: &Stop,
    visit: impl AsyncFnOnce(Home<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let directory = directory(arguments.dir.as_deref())?;
    place::refuse_if_it_runs(&directory)?;
    let notifications = notifications::read(&arguments.webhook)?;
    let progress = printer.progress();
    let others = others(arguments)?;
    let Some(parts) = control_plane::parts(others, progress.clone(), stop).await? else { return Ok(()) };
    // One process at a time fills the cache, so this comes after the parts that are needed first.
    let terraform = Terraform::begin(&arguments.engine, progress.clone())?;
    let Some(control_plane) = Running::start(directory, parts, progress, stop).await? else { return Ok(()) };
    let result = match Workloads::start(&control_plane).await {
        Err(error) => Err(error),
        Ok(workloads) => {
            // Whatever visitors do, a home fits on the stack.
            let serving =
                Box::pin(serve(&control_plane, arguments, notifications, terraform, printer, stop, visit));
            let result = serving.await;
            workloads.stop(stop).await;
            result
        }
    };
    Record::erase(control_plane.directory());
    control_plane.stop(stop).await;
    result
}

/// Gets everything that a home is made of, and starts nothing.
pub(crate) async fn fetch(arguments: &HomeArguments, printer: Printer, stop: &Stop) -> anyhow::Result<()> {
    let progress = printer.progress();
    let parts = control_plane::parts(others(arguments)?, progress.clone(), stop).await?;
    if parts.is_some() {
        Terraform::begin(&arguments.engine, progress)?.get().await?;
    }
    Ok(())
}

/// What has to be got besides the control plane.
fn others(arguments: &HomeArguments) -> anyhow::Result<&'static [&'static str]> {
    Ok(if Terraform::is_missing(&arguments.engine)? { &[binary::PART] } else { &[] })
}

/// Starts the API of a home that does not run, and nothing else, for one look at what it keeps.
pub(crate) async fn look<T>(
    directory: PathBuf,
    printer: Printer,
    stop: &Stop,
    visit: impl AsyncFnOnce(&Client) -> anyhow::Result<T>,
) -> anyhow::Result<Option<T>> {
    let progress = printer.progress();
    let Some(parts) = control_plane::parts(&[], progress.clone(), stop).await? else { return Ok(None) };
    let Some(control_plane) = Running::start(directory, parts, progress, stop).await? else {
        return Ok(None);
    };
    let look = async {
        let connection = connection::find(Some(control_plane.kubeconfig())).await?;
        visit(&connection.client).await
    };
    let seen = stop.requested.run_until_cancelled(look).await;
    control_plane.stop(stop).await;
    seen.transpose()
}

/// Everything between the start of the control plane and its stop.
async fn serve(
    control_plane: &Running,
    arguments: &HomeArguments,
    notifications: Option<Notifications>,
    terraform: Terraform,
    printer: Printer,
    stop: &Stop,
    visit: impl AsyncFnOnce(Home<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let work = async {
        let connection = connection::find(Some(control_plane.kubeconfig())).await?;
        let prepared = Box::pin(prepare(control_plane, &connection, arguments, terraform, printer));
        let Some(terraform) = stop.requested.run_until_cancelled(prepared).await.transpose()? else {
            return Ok(());
        };
        let diagnostics_address = arguments.diagnostics_address;
        let cluster_api = arguments.cluster_api.mode();
        let options =
            Options { diagnostics_address, terraform, cluster_api, notifications, ..Options::default() };
        let home = Home {
            server: control_plane.server(),
            kubeconfig: control_plane.kubeconfig(),
            directory: control_plane.directory(),
        };
        let manager = run_manager(connection.client, options, stop);
        let (ended, visited) = tokio::join!(manager, receive(visit(home), stop));
        visited.and(ended)
    };
    // Running applies may take long to end.
    let farewell = async {
        stop.requested.cancelled().await;
        printer.message("stopping; Ctrl-C again does not wait");
        future::pending::<()>().await;
    };
    tokio::select! {
        biased;
        () = farewell => Ok(()),
        result = work => result,
        exit = control_plane.unexpected_exit() => Err(exit),
        () = stop.hurried.cancelled() => Ok(()),
    }
}

/// What has to be there before the manager: kinds, a namespace, and the engine.
async fn prepare(
    control_plane: &Running,
    connection: &Connection,
    arguments: &HomeArguments,
    terraform: Terraform,
    printer: Printer,
) -> anyhow::Result<Option<TerraformOptions>> {
    let kinds = async {
        let installed = kinds::install_all(&connection.client).await?;
        namespace::make(&connection.client, HOME_NAMESPACE).await?;
        if installed.serves_clusters() {
            inventory::tell(&connection.client, HOME_NAMESPACE).await?;
        }
        anyhow::Ok(installed)
    };
    let (installed, binary) = tokio::try_join!(kinds, terraform.get())?;
    // Not before: how far Terraform is may be drawn until then.
    installed.tell(printer);
    let directory = control_plane.directory();
    let record = Record {
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        server: control_plane.server().to_owned(),
        processes: control_plane.processes(),
        terraform: binary.clone(),
    };
    record.write(directory).with_context(|| format!("writing to {}", directory.display()))?;
    let Some(binary) = binary else { return Ok(None) };
    let surroundings = Surroundings {
        directory: directory.join("terraform"),
        plugin_cache: None,
        server: connection.server.clone(),
        home_namespace: HOME_NAMESPACE.to_owned(),
    };
    engine::start(&arguments.engine, binary, surroundings).await.map(Some)
}

/// The manager, without which there is nothing left to do.
async fn run_manager(client: Client, options: Options, stop: &Stop) -> anyhow::Result<()> {
    // It holds every driver.
    let result = Box::pin(manager::run(client, options, stop.requested.clone())).await;
    let asked = stop.requested.is_cancelled();
    stop.requested.cancel();
    result?;
    anyhow::ensure!(asked, "the manager ended although nobody asked it to");
    Ok(())
}

/// Ends the home when the visit fails, and the visit when the home ends.
async fn receive(visit: impl Future<Output = anyhow::Result<()>>, stop: &Stop) -> anyhow::Result<()> {
    let visited = stop.requested.run_until_cancelled(visit).await.unwrap_or(Ok(()));
    if visited.is_err() {
        stop.requested.cancel();
    }
    visited
}
