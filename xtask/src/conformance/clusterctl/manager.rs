//! The manager that was installed, as a process: with the arguments and the account of its Deployment.

use std::ffi::OsString;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use capt_testkit::{home, terraform};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::api::Api;
use rustix::process::Signal;
use tempfile::TempDir;

use super::super::server::{Server, kubeconfig_of_account};
use super::eyes::{SOON, get, until};
use super::installation::DEPLOYMENT;

const STOPPED_WITHIN: Duration = Duration::from_secs(60);
const LINES: usize = 40;
/// What it says when it may work.
const LEADS: &str = "\"leading\"";

/// A running manager. Dropped, it is killed.
pub(super) struct Manager {
    child: Child,
    log: PathBuf,
    /// Removed after the process has ended.
    _directory: TempDir,
}

impl Manager {
    /// Starts it and waits until it is the leader.
    pub(super) async fn start(capt: &Path, server: &Server, namespace: &str) -> anyhow::Result<Self> {
        let directory = tempfile::tempdir()?;
        let kubeconfig = directory.path().join("kubeconfig");
        fs::write(&kubeconfig, account(server, namespace).await?)?;
        let log = directory.path().join("manager.log");
        let file = File::create(&log)?;
        let mut command = Command::new(capt);
        command
            .args(arguments(server, namespace, directory.path()).await?)
            .arg("--kubeconfig")
            .arg(&kubeconfig)
            .arg("--terraform-binary")
            .arg(terraform::obtain(None)?)
            .env_clear()
            .env("HOME", directory.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("POD_NAMESPACE", namespace)
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file);
        let child = command.spawn().context("starting the manager")?;
        let manager = Self { child, log, _directory: directory };
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
            let leads = is_held && self.log().contains(LEADS);
            Ok(if leads { Ok(()) } else { Err(format!("no leader in {namespace}: {lease}")) })
        })
        .await
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// The end of its log.
    pub(super) fn tail(&self) -> String {
        let text = self.log();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LINES)..].join("\n")
    }

    /// Stops it as Kubernetes stops a pod.
    pub(super) fn stop(mut self) -> anyhow::Result<()> {
        home::signal(&self.child, Signal::TERM)?;
        let status = home::wait(&mut self.child, STOPPED_WITHIN)?;
        ensure!(status.success(), "the manager ended with {status}:\n{}", self.tail());
        Ok(())
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        // Both fail when it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A kubeconfig with a token of the account that was installed.
pub(super) async fn account(server: &Server, namespace: &str) -> anyhow::Result<String> {
    let accounts = Api::<ServiceAccount>::namespaced(server.client.clone(), namespace);
    let (url, authority) = (server.control_plane.url(), server.control_plane.certificate_authority());
    kubeconfig_of_account(&accounts, DEPLOYMENT, url, authority).await
}

/// The arguments of the Deployment, but for what is a pod's own: its port and its volume.
async fn arguments(server: &Server, namespace: &str, directory: &Path) -> anyhow::Result<Vec<OsString>> {
    let deployment = Api::<Deployment>::namespaced(server.client.clone(), namespace).get(DEPLOYMENT).await?;
    let containers = deployment.spec.and_then(|spec| spec.template.spec).map(|pod| pod.containers);
    let container = containers.and_then(|containers| containers.into_iter().next());
    let given = container.and_then(|container| container.args).context("the Deployment has no arguments")?;
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
