//! How long `capt manager` takes to bring the stack, and how much memory. It talks to both API servers itself, and nobody listens.

use std::num::NonZeroU32;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};

use super::fleet::Fleet;
use super::servers::Servers;
use crate::capt::{CaptProcess, Memory, each};
use crate::diagnostics::{Counted, LONG_QUIET};
use crate::progress::tell;

/// What was seen of a process.
pub(super) struct Measured {
    /// From the stack, with all clusters there, until it is ready in all of them.
    pub(super) stack_put: Duration,
    /// From the first of as many more clusters, with the stack there, until it is ready in all of them.
    pub(super) clusters_put: Duration,
    pub(super) memory: Value,
}

pub(super) async fn measure(capt: &Path, clusters: NonZeroU32) -> anyhow::Result<Measured> {
    let servers = Servers::start().await?;
    let directory = tempfile::tempdir().context("making a directory to work in")?;
    let kubeconfig = servers.workload.control_plane().kubeconfig();
    let fleet = Fleet::new(servers.management.client(), kubeconfig).await?;
    tell(&format!("{clusters} clusters without add-ons"));
    let names = fleet.put_clusters("first", clusters.get()).await?;
    // Nobody has Workspaces here.
    let arguments = ["--engine".into(), "crossplane".into()];
    let management = servers.management.control_plane().kubeconfig_path();
    let process = CaptProcess::start(capt, management, directory.path(), Counted::All, &arguments).await?;
    let measured = watch(&process, &fleet, &names, clusters).await;
    let measured = measured.with_context(|| format!("capt manager said:\n{}", process.messages()))?;
    process.stop()?;
    Ok(measured)
}

async fn watch(
    process: &CaptProcess,
    fleet: &Fleet,
    names: &[String],
    clusters: NonZeroU32,
) -> anyhow::Result<Measured> {
    let before = settled(process, clusters.get().into()).await?;

    tell(&format!("capt manager brings a stack to {clusters} clusters"));
    let started = Instant::now();
    fleet.put_stack().await?;
    fleet.until_ready(names).await?;
    let stack_put = started.elapsed();
    let after = settled(process, 0).await?;

    tell(&format!("{clusters} more clusters are put there"));
    let started = Instant::now();
    let names = fleet.put_clusters("second", clusters.get()).await?;
    fleet.until_ready(&names).await?;
    let clusters_put = started.elapsed();

    let told = |memory: Memory| json!({ "resident_bytes": memory.resident, "peak_bytes": memory.peak });
    let memory = json!({
        "without_the_stack": told(before),
        "with_the_stack": told(after),
        "resident_bytes_per_cluster": each(before.resident, after.resident, clusters),
        "peak_bytes_per_cluster": each(before.peak, after.peak, clusters),
        "with_twice_as_many_clusters": told(settled(process, 0).await?),
    });
    Ok(Measured { stack_put, clusters_put, memory })
}

/// What the process has of memory once it has reconciled so often and is quiet.
async fn settled(process: &CaptProcess, at_least: u64) -> anyhow::Result<Memory> {
    process.diagnostics.settle(at_least, LONG_QUIET, || false).await?;
    process.memory()
}
