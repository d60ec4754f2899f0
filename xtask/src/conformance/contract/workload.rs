//! The cluster that the Clusters stand for: a real API server that can be upgraded in place.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, ensure};
use capt_local::{ControlPlane, ControlPlaneOptions, Helper, Parts, Progress};
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use kube::Client;
use kube::api::{Api, DeleteParams, PostParams};
use serde_json::json;

use super::super::server::{client, kubeconfig_of_account};

const NAMESPACE: &str = "kube-system";

/// A real API server, in an older version until it is upgraded.
pub(super) struct Workload {
    pub(super) client: Client,
    /// Where its API server listens.
    pub(super) url: String,
    /// Its certificate authority, as PEM.
    pub(super) authority: String,
    /// The version that it has at first.
    pub(super) before: String,
    /// The version that it is upgraded to.
    pub(super) after: String,
    directory: PathBuf,
    parts: Parts,
    running: Mutex<Running>,
}

struct Running {
    version: String,
    control_plane: Option<ControlPlane>,
}

impl Workload {
    /// Starts it in a directory.
    pub(super) async fn start(directory: PathBuf) -> anyhow::Result<Self> {
        let parts = find_parts().await?;
        let binaries = directory.join("binaries");
        fs::create_dir_all(&binaries)?;
        let version = version_of(&parts.kube_apiserver)?;
        let other = neighbour(&version);
        let program = binaries.join("kube-apiserver");
        with_other_version(&parts.kube_apiserver, &program, &version, &other)?;
        let changed = Parts { kube_apiserver: program, ..parts.clone() };
        let (first, second) = if other < version {
            ((changed, other), (parts, version))
        } else {
            ((parts, version), (changed, other))
        };
        Self::start_with(directory.join("home"), first, second).await
    }

    /// Starts one that stays as it is.
    pub(super) async fn start_for_good(directory: PathBuf) -> anyhow::Result<Self> {
        let parts = find_parts().await?;
        let version = version_of(&parts.kube_apiserver)?;
        Self::start_with(directory, (parts.clone(), version.clone()), (parts, version)).await
    }

    async fn start_with(
        directory: PathBuf,
        (first, before): (Parts, String),
        (second, after): (Parts, String),
    ) -> anyhow::Result<Self> {
        let control_plane = launch(first, directory.clone()).await?;
        Ok(Self {
            client: client(&control_plane.kubeconfig()).await?,
            url: control_plane.url().to_owned(),
            authority: control_plane.certificate_authority().to_owned(),
            before: before.clone(),
            after,
            directory,
            parts: second,
            running: Mutex::new(Running { version: before, control_plane: Some(control_plane) }),
        })
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The version that it has now.
    pub(super) fn version(&self) -> String {
        self.running().version.clone()
    }

    /// Stops the API server and starts the newer one on the same data, port and keys.
    pub(super) async fn upgrade(&self) -> anyhow::Result<()> {
        let running = self.running().control_plane.take();
        tokio::task::spawn_blocking(move || running.map(ControlPlane::stop)).await?;
        let upgraded = launch(self.parts.clone(), self.directory.clone()).await?;
        let version = upgraded.kubernetes_version()?;
        ensure!(version == self.after, "the API server was upgraded to {version} and not to {}", self.after);
        *self.running() = Running { version, control_plane: Some(upgraded) };
        Ok(())
    }

    fn accounts(&self) -> Api<ServiceAccount> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    /// Makes an account that may do everything and answers with a kubeconfig that has its token.
    pub(super) async fn kubeconfig_of(&self, account: &str) -> anyhow::Result<String> {
        let parameters = PostParams::default();
        let metadata = json!({ "name": account });
        let object = serde_json::from_value(json!({ "metadata": metadata }))?;
        self.accounts().create(&parameters, &object).await?;
        let binding: ClusterRoleBinding = serde_json::from_value(json!({
            "metadata": metadata,
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin" },
            "subjects": [{ "kind": "ServiceAccount", "name": account, "namespace": NAMESPACE }],
        }))?;
        Api::all(self.client.clone()).create(&parameters, &binding).await?;
        kubeconfig_of_account(&self.accounts(), account, &self.url, &self.authority).await
    }

    /// From now on nobody gets in by this account.
    pub(super) async fn close(&self, account: &str) -> anyhow::Result<()> {
        self.accounts().delete(account, &DeleteParams::default()).await?;
        Ok(())
    }

    /// Its certificate authority, as kubeconfigs have it.
    pub(super) fn authority_data(&self) -> String {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.encode(&self.authority)
    }
}

async fn find_parts() -> anyhow::Result<Parts> {
    Ok(tokio::task::spawn_blocking(|| Parts::find(&Progress::stderr())).await??)
}

async fn launch(parts: Parts, directory: PathBuf) -> anyhow::Result<ControlPlane> {
    tokio::task::spawn_blocking(move || {
        let options = ControlPlaneOptions {
            durable: false,
            controller_manager: false,
            ..ControlPlaneOptions::new(directory, Helper::current_exe()?)
        };
        Ok(ControlPlane::start(&parts, &options, &Progress::stderr())?)
    })
    .await?
}

fn version_of(program: &Path) -> anyhow::Result<String> {
    let output = Command::new(program).arg("--version").output()?;
    let text = String::from_utf8(output.stdout)?;
    let version = text.trim().strip_prefix("Kubernetes v").map(str::to_owned);
    version.with_context(|| format!("{} does not tell its version", program.display()))
}

/// A version that differs in one digit of the patch, so that it is written in as many letters.
fn neighbour(version: &str) -> String {
    let (start, last) = version.split_at(version.len().saturating_sub(1));
    let digit = last.parse::<u8>().unwrap_or(0);
    format!("{start}{}", if digit == 0 { 1 } else { digit - 1 })
}

/// The same program, which says that it has another version: there is no other way to two versions without two builds.
fn with_other_version(program: &Path, copy: &Path, version: &str, other: &str) -> anyhow::Result<()> {
    let mut content = fs::read(program).with_context(|| format!("reading {}", program.display()))?;
    let (old, new) = (format!("v{version}"), format!("v{other}"));
    let mut start = 0;
    while let Some(found) = content[start..].windows(old.len()).position(|window| window == old.as_bytes()) {
        let place = start + found;
        content[place..place + new.len()].copy_from_slice(new.as_bytes());
        start = place + new.len();
    }
    ensure!(start > 0, "{} does not tell its version {version}", program.display());
    fs::write(copy, content)?;
    fs::set_permissions(copy, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::older("1.34.4", "1.34.3")]
    #[case::none_is_older("1.34.0", "1.34.1")]
    #[case::of_two_digits("1.33.12", "1.33.11")]
    fn a_neighbour_is_as_long(#[case] version: &str, #[case] other: &str) {
        assert_eq!(neighbour(version), other);
    }
}
