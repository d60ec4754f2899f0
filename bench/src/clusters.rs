//! What clusters cost, with a Terraform that is done at once.
//!
//! ```text
//! requests  what one cluster asks of the API server until it is ready, and many in a minute in which nothing changes
//! follow    a connection Secret changes, until `<cluster>-kubeconfig` shows it, beside one raw write
//! burst     many clusters at once, until all are ready, beside a loop that makes the same writes
//! ```

mod burst;
mod engine;
mod follow;
mod idle;
pub(crate) mod manifests;
pub(crate) mod ready;
pub(crate) mod recorder;
pub(crate) mod replay;
mod requests;
pub(crate) mod stage;

use std::time::Duration;

use serde_json::{Value, json};

use crate::progress::tell;
use stage::Stage;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// How many clusters are settled
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    clusters: usize,
    /// How many connection Secrets are changed, one after the other
    #[arg(long, value_name = "NUMBER", default_value_t = 200)]
    changes: usize,
    /// How many clusters are made at once; several numbers are measured one after the other
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', default_value = "100,1000")]
    burst: Vec<usize>,
    /// How many of them are made at the same time
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    concurrency: u16,
    /// How long nothing is changed
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    idle_seconds: u32,
}

pub(crate) async fn measure(options: Options) -> anyhow::Result<Value> {
    let Options { clusters, changes, burst, concurrency, idle_seconds } = options;
    anyhow::ensure!(clusters > 0 && concurrency > 0, "there is nothing to measure without clusters");
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    let mut report = json!({ "benchmark": "what clusters cost", "build": build, "clusters": clusters });

    let stage = Stage::set(concurrency).await?;
    tell("one cluster with a network that is there, one with a network of its own");
    report["requests_per_cluster"] = requests::measure(&stage).await?;
    tell(&format!("{clusters} clusters settle"));
    let names = stage.settle("settled", clusters).await?;
    tell(&format!("nothing changes for {idle_seconds} s"));
    report["idle"] = idle::measure(&stage, clusters, Duration::from_secs(idle_seconds.into())).await?;
    tell(&format!("{changes} connection Secrets change"));
    report["connection_secret_changed"] = follow::measure(&stage, &names, changes).await?;
    stage.stop().await?;

    let mut bursts = Vec::new();
    for clusters in burst {
        bursts.push(burst::measure(clusters, concurrency).await?);
    }
    report["bursts"] = json!(bursts);
    Ok(report)
}
