//! `capt demo`: the first cluster, for real and on this machine.
//!
//! ```text
//! home ─▶ templates, Cluster ─▶ Terraform starts a second control plane ─▶ demo-kubeconfig ─▶ its namespaces
//! ```

mod objects;
mod progress;
mod result;

use std::time::Duration;

use anyhow::Context;
use kube::Client;

use crate::cli::DemoArguments;
use crate::connection;
use crate::home::{self, Home};
use crate::printer::Printer;
use crate::signals::Stop;

/// The name of the Cluster and of everything that belongs to it.
const NAME: &str = "demo";
/// Where it is.
const NAMESPACE: &str = "default";
/// Both ways take seconds; what takes longer has a reason, which is told.
const PATIENCE: Duration = Duration::from_secs(600);

pub(crate) async fn run(arguments: DemoArguments, printer: Printer) -> anyhow::Result<()> {
    let DemoArguments { exit, delete, home } = arguments;
    let stop = Stop::on_signals().context("listening for signals")?;
    let visit = async |home: Home<'_>| {
        let client = connection::find(Some(home.kubeconfig)).await?.client;
        if delete {
            take_down(&client, printer).await?;
        } else {
            make(&client, home, exit, printer).await?;
        }
        if exit || delete {
            stop.requested.cancel();
        }
        Ok(())
    };
    home::run(&home, printer, &stop, visit).await
}

async fn make(client: &Client, home: Home<'_>, exit: bool, printer: Printer) -> anyhow::Result<()> {
    objects::put(client, home.directory).await?;
    printer.message(&format!(
        "Cluster `{NAME}` is asked for; Terraform makes its network and its control plane:"
    ));
    let made = async {
        progress::until_available(client, printer).await?;
        result::fetch(client, home.directory).await
    };
    let made = tokio::time::timeout(PATIENCE, made).await.with_context(|| {
        format!("Cluster `{NAME}` is not available after {} s: see the last lines above", PATIENCE.as_secs())
    })??;
    result::tell(&made, home, exit, printer)
}

async fn take_down(client: &Client, printer: Printer) -> anyhow::Result<()> {
    printer.message(&format!(
        "Cluster `{NAME}` is taken down; Terraform destroys its control plane and its network:"
    ));
    let gone = async {
        objects::delete(client).await?;
        progress::until_gone(client).await
    };
    tokio::time::timeout(PATIENCE, gone)
        .await
        .with_context(|| format!("Cluster `{NAME}` is not gone after {} s", PATIENCE.as_secs()))??;
    printer.value(&serde_json::json!({ "deleted": NAME }), &format!("Cluster `{NAME}` is gone."))
}
