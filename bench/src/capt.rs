//! `capt manager` as a process of its own.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::Context;
use capt_testkit::home;
use rustix::process::Signal;

use crate::diagnostics::{Counted, Diagnostics};

/// How long it may take to end.
const FAREWELL: Duration = Duration::from_secs(30);

/// The program that is named, or the one beside this one.
pub(crate) fn find(named: Option<PathBuf>) -> anyhow::Result<PathBuf> {
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
pub(crate) struct CaptProcess {
    pub(crate) diagnostics: Diagnostics,
    child: Child,
    messages: PathBuf,
}

/// What a process has of memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub(crate) resident: u64,
    pub(crate) peak: u64,
}

impl CaptProcess {
    /// Starts it for the API server of a kubeconfig. What it says goes to a file in the directory.
    pub(crate) async fn start(
        capt: &Path,
        kubeconfig: &Path,
        directory: &Path,
        counted: Counted,
        arguments: &[OsString],
    ) -> anyhow::Result<Self> {
        let diagnostics = Diagnostics::choose(counted).await?;
        let messages = directory.join("capt.log");
        let child = Command::new(capt)
            .args(["manager", "--leader-elect=false", "--log-format=json", "--kubeconfig"])
            .arg(kubeconfig)
            .arg("--diagnostics-address")
            .arg(diagnostics.address().to_string())
            .args(arguments)
            .env("POD_NAMESPACE", "default")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&messages)?)
            .spawn()
            .with_context(|| format!("starting {}", capt.display()))?;
        Ok(Self { diagnostics, child, messages })
    }

    /// What it has of memory now, and had at most.
    pub(crate) fn memory(&self) -> anyhow::Result<Memory> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.context("reading its memory")?;
        let bytes = |name| bytes(&status, name).with_context(|| format!("the kernel does not tell {name}"));
        Ok(Memory { resident: bytes("VmRSS")?, peak: bytes("VmHWM")? })
    }

    /// What it said.
    pub(crate) fn messages(&self) -> String {
        fs::read_to_string(&self.messages).unwrap_or_default()
    }

    pub(crate) fn stop(mut self) -> anyhow::Result<()> {
        home::signal(&self.child, Signal::TERM).context("asking capt to stop")?;
        let status = home::wait(&mut self.child, FAREWELL).context("waiting for capt to stop")?;
        anyhow::ensure!(status.success(), "capt ended with {status}:\n{}", self.messages());
        Ok(())
    }
}

impl Drop for CaptProcess {
    fn drop(&mut self) {
        // Both fail when it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What one of so many adds; nothing, where there is less with them than without.
pub(crate) fn each(without: u64, with: u64, count: NonZeroU32) -> u64 {
    with.saturating_sub(without) / u64::from(count.get())
}

/// A size in the words of `/proc/PID/status`.
fn bytes(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_the_kernel_writes_them() {
        let status = "Name:\tcapt\nVmHWM:\t   20480 kB\nVmRSS:\t   10240 kB\nThreads:\t3\n";
        assert_eq!(bytes(status, "VmRSS"), Some(10 << 20));
        assert_eq!(bytes(status, "VmHWM"), Some(20 << 20));
        assert_eq!(bytes(status, "VmSwap"), None);
        assert_eq!(bytes(status, "Threads"), None);
    }

    #[test]
    fn what_one_adds_is_never_less_than_nothing() {
        let four = NonZeroU32::new(4).unwrap();
        assert_eq!(each(100, 500, four), 100);
        assert_eq!(each(500, 100, four), 0);
    }
}
