//! clusterctl as a process that reaches nothing but one management cluster.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use tempfile::TempDir;

use super::super::answer::{Answer, finish};

const WITHIN: Duration = Duration::from_secs(120);

/// Where no proxy listens: whoever wants to leave this machine fails at once.
pub(in crate::conformance) const NOWHERE: &str = "http://127.0.0.1:1";

/// clusterctl with its configuration.
pub(crate) struct Clusterctl {
    program: PathBuf,
    kubeconfig: Option<PathBuf>,
    directory: TempDir,
}

impl Clusterctl {
    pub(crate) fn new(
        program: &Path,
        configuration: &str,
        kubeconfig: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let directory = tempfile::tempdir()?;
        fs::write(directory.path().join("clusterctl.yaml"), configuration)?;
        Ok(Self { program: program.to_owned(), kubeconfig: kubeconfig.map(Path::to_owned), directory })
    }

    /// Runs it; it must succeed.
    pub(crate) async fn run(&self, arguments: &[&str]) -> anyhow::Result<Answer> {
        self.run_with(arguments, &[]).await
    }

    /// Runs it and kills it after this time: whether it succeeded before that.
    pub(crate) async fn run_until_killed(&self, arguments: &[&str], after: Duration) -> anyhow::Result<bool> {
        Ok(self.ask_within(arguments, &[], after).await?.is_some_and(|answer| answer.succeeded))
    }

    /// Runs it with variables for templates; it must succeed.
    pub(super) async fn run_with(
        &self,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> anyhow::Result<Answer> {
        let answer = self.ask(arguments, variables).await?;
        ensure!(answer.succeeded, "{} failed:\n{}", answer.question, answer.messages);
        Ok(answer)
    }

    /// Runs it; it must refuse.
    pub(super) async fn refuses(&self, arguments: &[&str]) -> anyhow::Result<Answer> {
        let answer = self.ask(arguments, &[]).await?;
        ensure!(!answer.succeeded, "{} was not refused:\n{}", answer.question, answer.messages);
        Ok(answer)
    }

    async fn ask(&self, arguments: &[&str], variables: &[(&str, &str)]) -> anyhow::Result<Answer> {
        let answer = self.ask_within(arguments, variables, WITHIN).await?;
        answer.with_context(|| format!("clusterctl {} took longer than {WITHIN:?}", arguments.join(" ")))
    }

    /// What it answers, if it does within this time. Then it is killed.
    async fn ask_within(
        &self,
        arguments: &[&str],
        variables: &[(&str, &str)],
        within: Duration,
    ) -> anyhow::Result<Option<Answer>> {
        let home = self.directory.path();
        let question = format!("clusterctl {}", arguments.join(" "));
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .arg("--config")
            .arg(home.join("clusterctl.yaml"))
            .env_clear()
            .envs([("HOME", home), ("XDG_CONFIG_HOME", home)])
            .env("CLUSTERCTL_DISABLE_VERSIONCHECK", "true")
            .envs([("HTTP_PROXY", NOWHERE), ("HTTPS_PROXY", NOWHERE), ("GOPROXY", "off")])
            .envs(variables.iter().copied())
            .stdin(Stdio::null());
        if let Some(kubeconfig) = &self.kubeconfig {
            command.env("KUBECONFIG", kubeconfig);
        }
        tokio::task::spawn_blocking(move || finish(command, question, within)).await?
    }
}
