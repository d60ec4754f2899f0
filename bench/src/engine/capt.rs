//! `capt manager` as a process of its own.

use std::env;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::Context;
use capt_testkit::home;
use rustix::process::Signal;

use super::diagnostics::Diagnostics;
use super::stage::{NAMESPACE, Stage};

/// How long it may take to end.
const FAREWELL: Duration = Duration::from_secs(30);

/// The program that is named, or the one beside this one.
pub(super) fn find(named: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    let own = env::current_exe().context("finding the path of this program")?;
    let found = named.unwrap_or_else(|| own.with_file_name("capt"));
    anyhow::ensure!(
        found.is_file(),
        "there is no program {}: build it with cargo build -p capt, in the same profile, or name it with --capt",
        found.display()
    );
    Ok(found)
}

/// A `capt manager`. Dropped, it is killed.
pub(super) struct CaptManager {
    pub(super) diagnostics: Diagnostics,
    child: Child,
    terraform: CountedTerraform,
    messages: PathBuf,
}

impl CaptManager {
    pub(super) async fn start(capt: &Path, stage: &Stage) -> anyhow::Result<Self> {
        let diagnostics = Diagnostics::choose().await?;
        let directory = stage.directory.path();
        let terraform = CountedTerraform::make(directory, &stage.binary)?;
        let messages = directory.join("capt.log");
        let child = Command::new(capt)
            .args(["manager", "--leader-elect=false", "--log-format=json", "--kubeconfig"])
            .arg(stage.cluster.control_plane().kubeconfig_path())
            .arg("--diagnostics-address")
            .arg(diagnostics.address().to_string())
            .arg("--terraform-directory")
            .arg(directory)
            .arg("--terraform-binary")
            .arg(&terraform.program)
            .env("POD_NAMESPACE", NAMESPACE)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&messages)?)
            .spawn()
            .with_context(|| format!("starting {}", capt.display()))?;
        Ok(Self { diagnostics, child, terraform, messages })
    }

    /// What the kernel says about the process.
    pub(super) fn status(&self) -> anyhow::Result<String> {
        fs::read_to_string(format!("/proc/{}/status", self.child.id())).context("reading its memory")
    }

    /// The first argument of every Terraform that was started.
    pub(super) fn commands(&self) -> anyhow::Result<Vec<String>> {
        self.terraform.commands()
    }

    /// What it said.
    pub(super) fn messages(&self) -> String {
        fs::read_to_string(&self.messages).unwrap_or_default()
    }

    pub(super) fn stop(mut self) -> anyhow::Result<()> {
        home::signal(&self.child, Signal::TERM).context("asking capt to stop")?;
        let status = home::wait(&mut self.child, FAREWELL).context("waiting for capt to stop")?;
        anyhow::ensure!(status.success(), "capt ended with {status}:\n{}", self.messages());
        Ok(())
    }
}

impl Drop for CaptManager {
    fn drop(&mut self) {
        // Both fail when it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Terraform behind a script that writes down each start: what nobody can start unseen.
struct CountedTerraform {
    program: PathBuf,
    started: PathBuf,
}

impl CountedTerraform {
    fn make(directory: &Path, binary: &Path) -> anyhow::Result<Self> {
        let (program, started) = (directory.join("terraform"), directory.join("started"));
        fs::write(&started, "").context("making a list of starts")?;
        let quoted = |path: &Path| format!("'{}'", path.display().to_string().replace('\'', r"'\''"));
        let (list, binary) = (quoted(&started), quoted(binary));
        let script = format!("#!/bin/sh\necho \"$1\" >> {list}\nexec {binary} \"$@\"\n");
        fs::write(&program, script).context("writing a script")?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).context("writing a script")?;
        Ok(Self { program, started })
    }

    fn commands(&self) -> anyhow::Result<Vec<String>> {
        let list = fs::read_to_string(&self.started).context("reading the list of starts")?;
        Ok(list.lines().map(str::to_owned).collect())
    }
}
