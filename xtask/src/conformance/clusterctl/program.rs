//! clusterctl as a process that reaches nothing but one management cluster.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use capt_testkit::home::wait;
use serde_json::Value;
use tempfile::TempDir;

const WITHIN: Duration = Duration::from_secs(120);

/// Where no proxy listens: whoever wants to leave this machine fails at once.
const NOWHERE: &str = "http://127.0.0.1:1";

/// clusterctl with its configuration.
pub(crate) struct Clusterctl {
    program: PathBuf,
    kubeconfig: Option<PathBuf>,
    directory: TempDir,
}

/// What it said.
pub(crate) struct Answer {
    question: String,
    succeeded: bool,
    pub(super) data: String,
    pub(super) messages: String,
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

impl Answer {
    /// What it said must have all of these.
    pub(super) fn names(&self, texts: &[&str]) -> anyhow::Result<()> {
        let said = format!("{}{}", self.data, self.messages);
        for text in texts {
            ensure!(said.contains(text), "{} does not say `{text}`:\n{said}", self.question);
        }
        Ok(())
    }

    /// The objects that it printed.
    pub(super) fn objects(&self) -> anyhow::Result<Vec<Value>> {
        let objects = serde_saphyr::from_multiple(&self.data);
        objects.with_context(|| format!("reading what {} printed", self.question))
    }
}

fn finish(mut command: Command, question: String, within: Duration) -> anyhow::Result<Option<Answer>> {
    let (data, messages) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdout(data.try_clone()?).stderr(messages.try_clone()?);
    let mut child = command.spawn().context("starting clusterctl")?;
    let Ok(status) = wait(&mut child, within) else {
        // Both fail when it has ended already.
        let _ = child.kill();
        let _ = child.wait();
        println!("{question} was killed after {within:?}:\n{}", text(messages)?);
        return Ok(None);
    };
    let (data, messages) = (text(data)?, text(messages)?);
    Ok(Some(Answer { question, succeeded: status.success(), data, messages }))
}

fn text(mut file: File) -> anyhow::Result<String> {
    let mut text = String::new();
    file.rewind()?;
    file.read_to_string(&mut text)?;
    Ok(text)
}
