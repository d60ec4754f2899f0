//! `capt demo`: the first cluster, for real and on this machine.
//!
//! ```text
//! home ─▶ templates, Cluster, AddonStack ─▶ Terraform starts a second control plane ─▶ demo-kubeconfig ─▶ add-ons
//! ```

mod objects;
mod result;
mod view;

use std::time::Duration;

use anyhow::Context;
use kube::Client;

use crate::cli::{DemoArguments, Output};
use crate::connection;
use crate::home::{self, Home, Record};
use crate::printer::Printer;
use crate::signals::Stop;
use crate::{live, telemetry};
use result::Afterwards;

/// The name of the Cluster and of everything that belongs to it.
const NAME: &str = "demo";
/// Where it is.
const NAMESPACE: &str = "default";
/// Both ways take seconds; what takes longer has a reason, which is told.
const PATIENCE: Duration = Duration::from_secs(600);

pub(crate) async fn run(arguments: DemoArguments, printer: Printer) -> anyhow::Result<()> {
    let DemoArguments { exit, delete, home } = arguments;
    let stop = Stop::on_signals().context("listening for signals")?;
    let directory = home::directory(home.dir.as_deref())?;
    let runs = home::running(&directory)?.and_then(|running| Record::of(&directory, running.pid));
    if let Some(Record { server, .. }) = runs {
        let kubeconfig = directory.join("kubeconfig");
        let home = Home { server: &server, kubeconfig: &kubeconfig, directory: &directory };
        let visit = Box::pin(visit(home, delete, Afterwards::GoesOn, printer));
        return stop.requested.run_until_cancelled(visit).await.unwrap_or(Ok(()));
    }
    // What people read is for what the log is about.
    let log = capt_local::home::log(&directory);
    let is_elsewhere = printer.output() == Output::Human;
    if is_elsewhere {
        telemetry::continue_in(log.clone());
    }
    let afterwards = if exit { Afterwards::Stops } else { Afterwards::UntilCtrlC };
    let own = async |home: Home<'_>| {
        if is_elsewhere && !live::Stream::Messages.can_redraw() {
            printer.message(&format!("the log is in {}", log.display()));
        }
        visit(home, delete, afterwards, printer).await?;
        if exit || delete {
            stop.requested.cancel();
        }
        Ok(())
    };
    home::run(&home, printer, &stop, own).await
}

async fn visit(home: Home<'_>, delete: bool, afterwards: Afterwards, printer: Printer) -> anyhow::Result<()> {
    let client = connection::find(Some(home.kubeconfig)).await?.client;
    if delete { take_down(&client, printer).await } else { make(&client, home, afterwards, printer).await }
}

async fn make(
    client: &Client,
    home: Home<'_>,
    afterwards: Afterwards,
    printer: Printer,
) -> anyhow::Result<()> {
    objects::put(client, home.directory).await?;
    printer.message(&format!(
        "\nTerraform makes Cluster `{NAME}`, its network first; then CAPT brings its add-ons in order:\n"
    ));
    let made = async {
        view::until_ready(client, printer).await?;
        result::fetch(client, home.directory).await
    };
    let made = tokio::time::timeout(PATIENCE, made).await.with_context(|| {
        format!("Cluster `{NAME}` is not ready after {} s: see above what it waits for", PATIENCE.as_secs())
    })??;
    result::tell(&made, home, afterwards, printer)
}

async fn take_down(client: &Client, printer: Printer) -> anyhow::Result<()> {
    printer.message(&format!(
        "\nTerraform destroys Cluster `{NAME}`, its control plane first and then its network:\n"
    ));
    let gone = async {
        objects::delete(client).await?;
        view::until_gone(client, printer).await
    };
    tokio::time::timeout(PATIENCE, gone).await.with_context(|| {
        format!("Cluster `{NAME}` is not gone after {} s: see above what it waits for", PATIENCE.as_secs())
    })??;
    printer.value(&serde_json::json!({ "deleted": NAME }), &format!("\nCluster `{NAME}` is gone."))
}
