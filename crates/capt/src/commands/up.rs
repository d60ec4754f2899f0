//! `capt up`: a management cluster on this machine.
//!
//! ```text
//! parts ─▶ control plane ─▶ CRDs ─▶ manager ─▶ (told to stop, or something ended) ─▶ manager, control plane stop
//! ```

mod control_plane;
mod kinds;
mod namespace;

use std::future;
use std::path::PathBuf;

use anyhow::Context;
use capt_controller::manager;
use capt_controller::options::{Options, TerraformOptions};
use kube::Client;
use serde::Serialize;

use super::HOME_NAMESPACE;
use crate::cli::{EngineChoice, Output, UpArguments};
use crate::connection::{self, Connection};
use crate::directory;
use crate::engine::{self, Surroundings, binary};
use crate::printer::Printer;
use crate::signals::Stop;
use control_plane::Running;

/// What a program needs to know of the cluster.
#[derive(Serialize)]
struct Cluster<'a> {
    server: &'a str,
    kubeconfig: String,
    directory: String,
}

pub(crate) async fn run(arguments: UpArguments, printer: Printer) -> anyhow::Result<()> {
    let stop = Stop::on_signals().context("listening for signals")?;
    let directory = match &arguments.dir {
        Some(directory) => directory.clone(),
        None => directory::of_user("XDG_DATA_HOME", ".local/share")
            .context("neither XDG_DATA_HOME nor HOME is set: say where the data goes with --dir DIR")?,
    };
    let binary = stop.requested.run_until_cancelled(terraform(&arguments, printer)).await;
    let Some(binary) = binary.transpose()? else { return Ok(()) };
    let Some(control_plane) = Running::start(directory, printer, &stop).await? else { return Ok(()) };
    let result = serve(&control_plane, &arguments, binary, printer, &stop).await;
    control_plane.stop(&stop).await;
    result
}

/// The binary that runs Workspaces; `None` where that is not for us to do.
async fn terraform(arguments: &UpArguments, printer: Printer) -> anyhow::Result<Option<PathBuf>> {
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
    arguments: &UpArguments,
    binary: Option<PathBuf>,
    printer: Printer,
    stop: &Stop,
) -> anyhow::Result<()> {
    let work = async {
        let connection = connection::find(Some(control_plane.kubeconfig())).await?;
        let prepared = prepare(control_plane, &connection, arguments, binary, printer);
        let Some(terraform) = stop.requested.run_until_cancelled(prepared).await.transpose()? else {
            return Ok(());
        };
        announce(control_plane, printer)?;
        let diagnostics_address = arguments.diagnostics_address;
        let options = Options { diagnostics_address, terraform, ..Options::default() };
        run_manager(connection.client, options, stop).await
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
    arguments: &UpArguments,
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

async fn run_manager(client: Client, options: Options, stop: &Stop) -> anyhow::Result<()> {
    manager::run(client, options, stop.requested.clone()).await?;
    if !stop.requested.is_cancelled() {
        anyhow::bail!("the manager ended although nobody asked it to");
    }
    Ok(())
}

fn announce(control_plane: &Running, printer: Printer) -> anyhow::Result<()> {
    let kubeconfig = control_plane.kubeconfig().display().to_string();
    let cluster = Cluster {
        server: control_plane.server(),
        kubeconfig: kubeconfig.clone(),
        directory: control_plane.directory().display().to_string(),
    };
    if printer.output() != Output::Human {
        return printer.value(&cluster, "");
    }
    printer.message("\nThe management cluster is ready. In another terminal:\n");
    printer.text(&format!("    export KUBECONFIG={}\n", quoted(&kubeconfig)))?;
    printer.message(&format!(
        "    kubectl apply -f examples/local\n    kubectl get capt\n\n\
         Ctrl-C stops it. Its data stays in {}.\n",
        cluster.directory
    ));
    Ok(())
}

/// The text as one word of a shell.
fn quoted(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+=:@%,".contains(letter);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_path_stays_one_word_of_a_shell() {
        assert_eq!(quoted("/home/me/.local/share/capt/kubeconfig"), "/home/me/.local/share/capt/kubeconfig");
        assert_eq!(quoted("/my files/it's"), r"'/my files/it'\''s'");
    }
}
