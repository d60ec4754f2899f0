//! The real Helm, with nothing of whoever runs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::tool::Tool;
use crate::repository::root;

/// The namespace that everything is installed in.
pub(in crate::conformance) const NAMESPACE: &str = "capt-system";
/// Where the image would be: nothing here pulls it.
const IMAGE: &str = "registry.example.com/capt";
/// The same without its name, as the guide to the installation has it.
pub(super) const REGISTRY: &str = "registry.example.com";
/// Versions of Kubernetes for which nobody is asked.
const KUBERNETES: &str = "1.34.0";

const HELM: Tool = Tool {
    name: "helm",
    part: "helm",
    module: "helm.sh/helm/v3",
    package: "helm.sh/helm/v3/cmd/helm",
    ldflags: |number| format!("-s -w -X helm.sh/helm/v3/internal/version.version=v{number}"),
};

/// One of the charts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(in crate::conformance) enum Chart {
    /// The manager.
    #[default]
    #[serde(rename = "capt")]
    Manager,
    /// The kinds.
    #[serde(rename = "capt-crds")]
    Crds,
}

impl Chart {
    /// Its name, and that of its release.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Manager => "capt",
            Self::Crds => "capt-crds",
        }
    }

    pub(super) fn directory(self) -> PathBuf {
        root().join("charts").join(self.name())
    }

    /// The least that has to be said.
    pub(in crate::conformance) fn values(self) -> Value {
        match self {
            Self::Manager => json!({ "image": { "repository": IMAGE } }),
            Self::Crds => json!({}),
        }
    }
}

/// The program, with a home of its own.
pub(in crate::conformance) struct Helm {
    program: PathBuf,
    home: TempDir,
}

/// What it answered.
pub(super) struct Answer {
    pub(super) succeeded: bool,
    pub(super) output: String,
    pub(super) messages: String,
}

impl Helm {
    /// Builds it the first time.
    pub(in crate::conformance) fn obtain() -> anyhow::Result<Self> {
        Ok(Self { program: HELM.obtain()?, home: tempfile::tempdir()? })
    }

    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// Runs it with values, which it reads from a file.
    pub(super) fn ask(
        &self,
        arguments: &[&str],
        chart: &Path,
        values: &Value,
        kubeconfig: Option<&Path>,
    ) -> anyhow::Result<Answer> {
        let file = tempfile::NamedTempFile::new_in(self.home.path())?;
        fs::write(file.path(), values.to_string())?;
        let mut command = self.command(kubeconfig);
        command.args(arguments).arg(chart).arg("--values").arg(file.path());
        answer(&mut command)
    }

    fn command(&self, kubeconfig: Option<&Path>) -> Command {
        let home = self.home.path();
        let mut command = Command::new(&self.program);
        command
            .env_clear()
            .env("HOME", home)
            .env("HELM_CACHE_HOME", home.join("cache"))
            .env("HELM_CONFIG_HOME", home.join("config"))
            .env("HELM_DATA_HOME", home.join("data"))
            .env("KUBECONFIG", kubeconfig.unwrap_or(&home.join("no-kubeconfig")))
            .args(["--namespace", NAMESPACE]);
        command
    }

    /// The objects that a chart becomes.
    pub(super) fn template(&self, chart: Chart, values: &Value) -> anyhow::Result<Vec<Value>> {
        let arguments = ["template", chart.name(), "--kube-version", KUBERNETES];
        let Answer { succeeded, output, messages } =
            self.ask(&arguments, &chart.directory(), values, None)?;
        ensure!(succeeded, "helm template: {messages}");
        let objects: Vec<Value> = serde_saphyr::from_multiple(&output).context("reading what helm made")?;
        Ok(objects.into_iter().filter(|object| !object.is_null()).collect())
    }

    /// Installs or upgrades a chart.
    pub(in crate::conformance) fn install(
        &self,
        chart: Chart,
        values: &Value,
        kubeconfig: &Path,
    ) -> anyhow::Result<()> {
        self.install_from(&chart.directory(), chart, values, kubeconfig)
    }

    /// Installs or upgrades a chart that is somewhere else.
    pub(super) fn install_from(
        &self,
        directory: &Path,
        chart: Chart,
        values: &Value,
        kubeconfig: &Path,
    ) -> anyhow::Result<()> {
        let arguments = ["upgrade", "--install", "--create-namespace", chart.name()];
        let Answer { succeeded, messages, .. } = self.ask(&arguments, directory, values, Some(kubeconfig))?;
        ensure!(succeeded, "helm upgrade --install {}: {messages}", chart.name());
        Ok(())
    }

    pub(super) fn uninstall(&self, chart: Chart, kubeconfig: &Path) -> anyhow::Result<()> {
        let mut command = self.command(Some(kubeconfig));
        let Answer { succeeded, messages, .. } = answer(command.args(["uninstall", chart.name()]))?;
        ensure!(succeeded, "helm uninstall {}: {messages}", chart.name());
        Ok(())
    }
}

fn answer(command: &mut Command) -> anyhow::Result<Answer> {
    let output = command.output().context("running helm")?;
    Ok(Answer {
        succeeded: output.status.success(),
        output: String::from_utf8_lossy(&output.stdout).into_owned(),
        messages: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}
