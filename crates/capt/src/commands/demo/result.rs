//! What the demo ends with: a kubeconfig that works, and the proof of it.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt};
use serde::Serialize;

use super::{NAME, NAMESPACE};
use crate::cli::Output;
use crate::connection;
use crate::home::Home;
use crate::printer::Printer;

/// What a program needs to know.
#[derive(Serialize)]
pub(super) struct Made {
    cluster: &'static str,
    kubeconfig: PathBuf,
    namespaces: Vec<String>,
}

/// Reads the kubeconfig as Cluster API's clients do, and asks the new cluster with it.
pub(super) async fn fetch(client: &Client, directory: &Path) -> anyhow::Result<Made> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), NAMESPACE);
    let name = format!("{NAME}-kubeconfig");
    let secret = secrets.get(&name).await.with_context(|| format!("reading Secret `{name}`"))?;
    let content = secret.data.and_then(|mut data| data.remove("value"));
    let content = content.with_context(|| format!("Secret `{name}` has no key `value`"))?;
    let kubeconfig = directory.join(format!("{NAME}.kubeconfig"));
    write_private(&kubeconfig, &content.0).with_context(|| format!("writing {}", kubeconfig.display()))?;
    let workload = connection::find(Some(&kubeconfig)).await?;
    // A cluster of an earlier run starts with the home, and may need a moment longer.
    connection::until_it_answers(&workload).await;
    let namespaces: Api<Namespace> = Api::all(workload.client);
    let found =
        namespaces.list(&ListParams::default()).await.context("listing the namespaces of the new cluster")?;
    let namespaces = found.items.iter().map(ResourceExt::name_any).collect();
    Ok(Made { cluster: NAME, kubeconfig, namespaces })
}

/// Writes a file that only its owner can read.
fn write_private(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let new = path.with_extension("new");
    // A file that is left from an interrupted start may have been made with other rights.
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    file.write_all(content)?;
    std::fs::rename(&new, path)
}

/// Says what there is now and what can be done with it.
pub(super) fn tell(made: &Made, home: Home<'_>, exit: bool, printer: Printer) -> anyhow::Result<()> {
    if printer.output() != Output::Human {
        return printer.value(made, "");
    }
    let kubeconfig = made.kubeconfig.display();
    printer.message(&format!("\nThe cluster answers. Its namespaces: {}\n", made.namespaces.join(", ")));
    printer.text(&format!("    kubectl --kubeconfig '{kubeconfig}' get namespaces\n"))?;
    let management = home.kubeconfig.display();
    let goes_on = if exit {
        "The cluster stops now, and starts again with `capt up` or `capt demo`."
    } else {
        "Ctrl-C stops both clusters; `capt up` or `capt demo` starts them again."
    };
    printer.message(&format!(
        "    kubectl --kubeconfig '{management}' get cluster,captcluster,captcontrolplane,wtapply,workspace\n\n\
         {goes_on} `capt demo --delete` destroys the cluster by Terraform."
    ));
    Ok(())
}
