//! Crossplane's provider-terraform, as a process.

use std::path::{Path, PathBuf};

use super::POLL;
use super::diary::{CROSSPLANE, Diary};
use crate::conformance::process::{Process, command};
use crate::conformance::tool::Tool;

/// Where it is, built if need be.
pub(super) fn obtain() -> anyhow::Result<PathBuf> {
    let tool = Tool {
        name: "provider-terraform",
        part: "provider-terraform",
        module: "github.com/upbound/provider-terraform",
        package: "github.com/upbound/provider-terraform/cmd/provider",
        ldflags: |_| "-s -w".to_owned(),
    };
    tool.obtain()
}

/// Starts it. Outside of a pod it is told where the API server is, and so is its Terraform.
pub(super) fn start(
    provider: &Path,
    kubeconfig: &Path,
    terraform: &Path,
    diary: &Diary,
    directory: &Path,
) -> anyhow::Result<Process> {
    let bin = directory.join("crossplane-bin");
    diary.wrap(CROSSPLANE, terraform, &bin)?;
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = command(provider);
    command
        .args(["--debug", "--max-reconcile-rate=4", "--poll-jitter=0s"])
        .arg(format!("--poll={}s", POLL.as_secs()))
        .env_clear()
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("HOME", directory)
        .env("KUBECONFIG", kubeconfig)
        .env("KUBE_CONFIG_PATH", kubeconfig)
        .env("XP_TF_DIR", directory.join("crossplane-tf"))
        .env("CHECKPOINT_DISABLE", "1");
    Process::start("provider-terraform", command, directory.join("provider.log"))
}
