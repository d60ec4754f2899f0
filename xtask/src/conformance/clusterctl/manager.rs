//! The manager that was installed, as a process: with the arguments and the account of its Deployment.

use std::ffi::OsString;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use capt_testkit::terraform;
use tempfile::TempDir;

use super::super::process::{Process, command};
use super::super::server::Server;
use super::eyes::{SOON, get, until};
use super::installation::DEPLOYMENT;

const STOPPED_WITHIN: Duration = Duration::from_secs(60);
/// What it says when it may work.
const LEADS: &str = "\"leading\"";

/// A running manager. Dropped, it is killed.
pub(super) struct Manager {
    process: Process,
    /// Removed after the process has ended.
    _directory: TempDir,
}

impl Manager {
    /// Starts it and waits until it is the leader.
    pub(super) async fn start(capt: &Path, server: &Server, namespace: &str) -> anyhow::Result<Self> {
        let directory = tempfile::tempdir()?;
        let kubeconfig = directory.path().join("kubeconfig");
        fs::write(&kubeconfig, server.kubeconfig_of(namespace, DEPLOYMENT).await?)?;
        let mut command = command(capt);
        command
            .args(arguments(server, namespace, directory.path()).await?)
            .arg("--kubeconfig")
            .arg(&kubeconfig)
            .arg("--terraform-binary")
            .arg(terraform::obtain(None)?)
            .env_clear()
            .env("HOME", directory.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("POD_NAMESPACE", namespace);
        let process = Process::start("the manager", command, directory.path().join("manager.log"))?;
        let manager = Self { process, _directory: directory };
        manager
            .leads(server, namespace)
            .await
            .with_context(|| format!("the manager said:\n{}", manager.tail()))?;
        Ok(manager)
    }

    /// The Lease is where the manager is.
    async fn leads(&self, server: &Server, namespace: &str) -> anyhow::Result<()> {
        until(SOON, async || {
            let place = (namespace, DEPLOYMENT);
            let lease =
                get(&server.client, "coordination.k8s.io/v1", "Lease", place).await?.unwrap_or_default();
            let is_held = lease["spec"]["holderIdentity"].as_str().is_some_and(|holder| !holder.is_empty());
            let leads = is_held && self.process.said().contains(LEADS);
            Ok(if leads { Ok(()) } else { Err(format!("no leader in {namespace}: {lease}")) })
        })
        .await
    }

    /// The end of its log.
    pub(super) fn tail(&self) -> String {
        self.process.tail()
    }

    /// Stops it as Kubernetes stops a pod.
    pub(super) fn stop(self) -> anyhow::Result<()> {
        self.process.end(STOPPED_WITHIN)
    }
}

/// The arguments of the Deployment, but for what is a pod's own: its port and its volume.
async fn arguments(server: &Server, namespace: &str, directory: &Path) -> anyhow::Result<Vec<OsString>> {
    let given = server.arguments_of(namespace, DEPLOYMENT).await?;
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let changed =
        |argument: String| match argument.split_once('=').map_or(argument.as_str(), |(name, _)| name) {
            "--diagnostics-address" => format!("--diagnostics-address=127.0.0.1:{port}").into(),
            "--terraform-directory" => {
                let mut argument = OsString::from("--terraform-directory=");
                argument.push(directory.join("work"));
                argument
            }
            _ => argument.into(),
        };
    Ok(given.into_iter().map(changed).collect())
}
