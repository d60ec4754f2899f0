//! A management cluster on this machine, with everything that runs in it.
//!
//! ```text
//! parts ─▶ control plane ─▶ workloads ─▶ CRDs ─▶ manager, visit ─▶ (told to stop, or something ended)
//!       ─▶ manager, workloads, control plane stop
//! ```

mod control_plane;
mod kinds;
mod namespace;
mod workloads;

use std::future;
use std::path::{Path, PathBuf};

use anyhow::Context;
use capt_controller::manager;
use capt_controller::options::{Notifications, Options, TerraformOptions};
use kube::Client;

use crate::cli::{EngineChoice, HomeArguments};
use crate::commands::HOME_NAMESPACE;
use crate::connection::{self, Connection};
use crate::directory;
use crate::engine::{self, Surroundings, binary};
use crate::notifications;
use crate::printer::Printer;
use crate::signals::Stop;
use control_plane::Running;
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
    let directory = match &arguments.dir {
        Some(directory) => directory.clone(),
        None => directory::of_user("XDG_DATA_HOME", ".local/share")
            .context("neither XDG_DATA_HOME nor HOME is set: say where the data goes with --dir DIR")?,
    };
    let notifications = notifications::read(&arguments.webhook)?;
    let binary = stop.requested.run_until_cancelled(terraform(arguments, printer)).await;
    let Some(binary) = binary.transpose()? else { return Ok(()) };
    let Some(control_plane) = Running::start(directory, printer, stop).await? else { return Ok(()) };
    let result = match Workloads::start(&control_plane).await {
        Err(error) => Err(error),
        Ok(workloads) => {
            // Whatever visitors do, a home fits on the stack.
            let serving =
                Box::pin(serve(&control_plane, arguments, notifications, binary, printer, stop, visit));
            let result = serving.await;
            workloads.stop(stop).await;
            result
        }
    };
    control_plane.stop(stop).await;
    result
}

/// The binary that runs Workspaces; `None` where that is not for us to do.
async fn terraform(arguments: &HomeArguments, printer: Printer) -> anyhow::Result<Option<PathBuf>> {
    match arguments.engine.choice {
        EngineChoice::Crossplane => Ok(None),
        EngineChoice::Auto | EngineChoice::Process => {
            binary::obtain(&arguments.engine, printer.progress()).await.map(Some)
        }
    }
}

/// Everything between the start of the control plane and its stop.
async fn serve(
    control_plane: &Running,
    arguments: &HomeArguments,
    notifications: Option<Notifications>,
    binary: Option<PathBuf>,
    printer: Printer,
    stop: &Stop,
    visit: impl AsyncFnOnce(Home<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let work = async {
        let connection = connection::find(Some(control_plane.kubeconfig())).await?;
        let prepared = prepare(control_plane, &connection, arguments, binary, printer);
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
    binary: Option<PathBuf>,
    printer: Printer,
) -> anyhow::Result<Option<TerraformOptions>> {
    let terraform = match binary {
        None => None,
        Some(binary) => {
            let surroundings = Surroundings {
                directory: control_plane.directory().join("terraform"),
                plugin_cache: None,
                server: connection.server.clone(),
                home_namespace: HOME_NAMESPACE.to_owned(),
            };
            Some(engine::start(&arguments.engine, binary, surroundings).await?)
        }
    };
    kinds::install_all(&connection.client, printer).await?;
    namespace::make(&connection.client, HOME_NAMESPACE).await?;
    Ok(terraform)
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
