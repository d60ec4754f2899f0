//! How much memory a manager of settled Workspaces takes.

use std::num::NonZeroU32;
use std::path::Path;

use anyhow::Context;
use serde_json::{Value, json};

use super::capt::CaptManager;
use super::diagnostics::LONG_QUIET;
use super::stage::Stage;
use super::tell;

/// What was seen of one `capt manager`.
#[derive(Debug)]
pub(super) struct Look {
    resident: u64,
    peak: u64,
    reconciles: u64,
    runs: u64,
    commands: Vec<String>,
}

impl Look {
    fn to_json(&self) -> Value {
        // The engine asks for the version once, when it starts.
        let (asked, started): (Vec<_>, Vec<_>) = self.commands.iter().partition(|verb| *verb == "version");
        json!({
            "resident_bytes": self.resident,
            "peak_bytes": self.peak,
            "reconciles": self.reconciles,
            "runs": self.runs,
            "processes": started.len(),
            "processes_that_tell_the_version": asked.len(),
        })
    }
}

/// Starts `capt manager`, waits until it has looked at all Workspaces and is quiet, and measures.
pub(super) async fn look(capt: &Path, stage: &Stage, workspaces: u32) -> anyhow::Result<Look> {
    tell(&format!("capt manager starts with {workspaces} Workspaces"));
    let manager = CaptManager::start(capt, stage).await?;
    let settled = manager.diagnostics.settle(workspaces.into(), LONG_QUIET, || false).await;
    let reconciles = settled.with_context(|| format!("capt manager said:\n{}", manager.messages()))?;
    let runs =
        manager.diagnostics.runs().await.context("capt manager does not tell how often it ran Terraform")?;
    let status = manager.status()?;
    let bytes = |name| bytes(&status, name).with_context(|| format!("the kernel does not tell {name}"));
    let look = Look {
        resident: bytes("VmRSS")?,
        peak: bytes("VmHWM")?,
        reconciles,
        runs,
        commands: manager.commands()?,
    };
    manager.stop()?;
    Ok(look)
}

/// What Workspaces add.
pub(super) fn compare(empty: &Look, full: &Look, count: NonZeroU32) -> Value {
    json!({
        "workspaces": count,
        "without_workspaces": empty.to_json(),
        "with_workspaces": full.to_json(),
        "resident_bytes_per_workspace": each(empty.resident, full.resident, count),
        "peak_bytes_per_workspace": each(empty.peak, full.peak, count),
    })
}

/// What one of so many adds; nothing, where there is less with them than without.
fn each(empty: u64, full: u64, count: NonZeroU32) -> u64 {
    full.saturating_sub(empty) / u64::from(count.get())
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
