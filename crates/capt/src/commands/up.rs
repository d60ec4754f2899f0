//! `capt up`: a management cluster on this machine.
//!
//! ```text
//! parts ─▶ control plane ─▶ CRDs ─▶ manager ─▶ (told to stop, or something ended) ─▶ manager, control plane stop
//! ```

mod control_plane;
mod directory;
mod kinds;

use anyhow::Context;
use capt_controller::manager;
use capt_controller::options::Options;
use kube::Client;
use serde::Serialize;

use crate::cli::{Output, UpArguments};
use crate::connection;
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
    let directory = match arguments.dir {
        Some(directory) => directory,
        None => directory::default()?,
    };
    let Some(control_plane) = Running::start(directory, printer, &stop).await? else { return Ok(()) };
    let options = Options { diagnostics_address: arguments.diagnostics_address, ..Options::default() };
    let result = serve(&control_plane, options, printer, &stop).await;
    if result.is_ok() {
        printer.message("stopping; Ctrl-C again does not wait");
    }
    control_plane.stop(&stop).await;
    result
}

/// Everything between the start of the control plane and its stop.
async fn serve(
    control_plane: &Running,
    options: Options,
    printer: Printer,
    stop: &Stop,
) -> anyhow::Result<()> {
    let work = async {
        let connection = connection::find(Some(control_plane.kubeconfig())).await?;
        let installed = kinds::install_all(&connection.client, printer);
        let Some(installed) = stop.requested.run_until_cancelled(installed).await else { return Ok(()) };
        installed?;
        announce(control_plane, printer)?;
        run_manager(connection.client, options, stop).await
    };
    tokio::select! {
        result = work => result,
        exit = control_plane.unexpected_exit() => Err(exit),
        () = stop.hurried.cancelled() => Ok(()),
    }
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
