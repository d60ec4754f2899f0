//! How much memory a manager of settled Workspaces takes.

use std::num::NonZeroU32;
use std::path::Path;

use anyhow::Context;
use serde_json::{Value, json};

use super::capt::CaptManager;
use super::stage::Stage;
use crate::capt::{Memory, each};
use crate::diagnostics::LONG_QUIET;
use crate::progress::tell;

/// What was seen of one `capt manager`.
#[derive(Debug)]
pub(super) struct Look {
    memory: Memory,
    reconciles: u64,
    runs: u64,
    commands: Vec<String>,
}

impl Look {
    fn to_json(&self) -> Value {
        // The engine asks for the version once, when it starts.
        let (asked, started): (Vec<_>, Vec<_>) = self.commands.iter().partition(|verb| *verb == "version");
        json!({
            "resident_bytes": self.memory.resident,
            "peak_bytes": self.memory.peak,
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
    let process = &manager.process;
    let settled = process.diagnostics.settle(workspaces.into(), LONG_QUIET, || false).await;
    let reconciles = settled.with_context(|| format!("capt manager said:\n{}", process.messages()))?;
    let runs = process.diagnostics.runs().await;
    let runs = runs.context("capt manager does not tell how often it ran Terraform")?;
    let look = Look { memory: process.memory()?, reconciles, runs, commands: manager.commands()? };
    manager.process.stop()?;
    Ok(look)
}

/// What Workspaces add.
pub(super) fn compare(empty: &Look, full: &Look, count: NonZeroU32) -> Value {
    json!({
        "workspaces": count,
        "without_workspaces": empty.to_json(),
        "with_workspaces": full.to_json(),
        "resident_bytes_per_workspace": each(empty.memory.resident, full.memory.resident, count),
        "peak_bytes_per_workspace": each(empty.memory.peak, full.memory.peak, count),
    })
}
