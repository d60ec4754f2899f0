//! A management cluster and its manager, as processes.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};
use capt_api::crd::{Foreign, foreign, own};
use capt_controller::install::{Kinds, install};
use capt_local::{ControlPlane, ControlPlaneOptions, Helper, Parts, Progress};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

/// Starts `capt manager`, which works below `place` and tells there what it does.
pub(super) fn manager(
    capt: &Path,
    place: &Path,
    kubeconfig: &Path,
    terraform: Option<&Path>,
) -> anyhow::Result<Child> {
    let messages = File::options().append(true).create(true).open(place.join("messages"))?;
    let mut command = Command::new(capt);
    command.args(["manager", "--engine", "process", "--leader-elect=false", "--diagnostics-address", "none"]);
    command.arg("--kubeconfig").arg(kubeconfig).arg("--terraform-directory").arg(place.join("terraform"));
    if let Some(terraform) = terraform {
        command.arg("--terraform-binary").arg(terraform);
    }
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(messages).spawn();
    child.context("starting `capt manager`")
}

/// A control plane whose data nobody will miss.
pub(super) async fn control_plane(directory: &Path) -> anyhow::Result<ControlPlane> {
    let directory = directory.to_owned();
    tokio::task::spawn_blocking(move || {
        let progress = Progress::stderr();
        let parts = Parts::find(&progress)?;
        let options = ControlPlaneOptions {
            durable: false,
            ..ControlPlaneOptions::new(directory, Helper::current_exe()?)
        };
        Ok(ControlPlane::start(&parts, &options, &progress)?)
    })
    .await?
}

/// Installs what `capt up` would install.
pub(super) async fn prepare(client: &Client) -> anyhow::Result<()> {
    install(client, Kinds::Own, &own()).await?;
    for kinds in [Foreign::Terraform, Foreign::ClusterApi] {
        install(client, Kinds::Foreign, &foreign(kinds)).await?;
    }
    let namespaces: kube::Api<k8s_openapi::api::core::v1::Namespace> = kube::Api::all(client.clone());
    let namespace = serde_json::from_value(serde_json::json!({ "metadata": { "name": "capt-system" } }))?;
    match namespaces.create(&kube::api::PostParams::default(), &namespace).await {
        Ok(_) => Ok(()),
        Err(error) => bail!("making the namespace of the manager: {error}"),
    }
}

/// A client of whom the kubeconfig names.
pub(super) async fn client(kubeconfig: &Path) -> anyhow::Result<Client> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}
