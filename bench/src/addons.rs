//! What add-ons cost: a stack of three steps over many clusters that share one workload API server.
//!
//! ```text
//! requests  what the stack asks of both API servers for each cluster, and what is asked while nothing changes
//! process   how long `capt manager` takes, beside a loop that makes the same writes, and how much memory
//! ```

mod bare;
mod fleet;
mod manifests;
mod process;
mod proxy;
mod requests;
mod servers;

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// How many clusters the stack is brought to
    #[arg(long, value_name = "NUMBER", default_value = "200")]
    clusters: NonZeroU32,
    /// How many clusters the loop without a manager writes to at the same time; the manager takes 64
    #[arg(long, value_name = "NUMBER", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: u16,
    /// How long nothing is changed
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    idle_seconds: u32,
    /// The program whose time and memory are measured [default: `capt` beside this program]
    #[arg(long, value_name = "PATH")]
    capt: Option<PathBuf>,
}

pub(crate) async fn measure(options: Options) -> anyhow::Result<Value> {
    let Options { clusters, concurrency, idle_seconds, capt } = options;
    // Looked for before minutes of work depend on it.
    let capt = crate::capt::find(capt)?;
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    let idle = Duration::from_secs(idle_seconds.into());

    let measured = requests::measure(clusters, idle).await?;
    let bare = bare::measure(&measured.writes, clusters, concurrency).await?;
    let process = process::measure(&capt, clusters).await?;
    Ok(json!({
        "benchmark": "what add-ons cost",
        "build": build,
        "clusters": clusters,
        "steps": manifests::STEPS,
        "time": {
            "stack_put_until_all_ready_s": process.stack_put.as_secs_f64(),
            "bare_loop_s": bare.as_secs_f64(),
            "ratio": process.stack_put.as_secs_f64() / bare.as_secs_f64(),
            "bare_loop_concurrency": concurrency,
            "clusters_put_until_all_ready_s": process.clusters_put.as_secs_f64(),
        },
        "requests": measured.requests,
        "idle": measured.idle,
        "memory": process.memory,
    }))
}
