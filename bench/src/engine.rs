//! What the Terraform engine costs.
//!
//! ```text
//! overhead  the same module, by hand and by the engine, in turn
//! idle      settled Workspaces that are looked at for a simulated hour
//! memory    `capt manager` without Workspaces, and with these
//! state     what storing a state writes to the API server, beside the tool's own backend
//! ```

mod binary;
mod capt;
mod clock;
mod counting;
mod idle;
mod memory;
mod overhead;
mod ratio;
mod stage;
mod state;
mod workspaces;

use std::num::NonZeroU32;
use std::path::PathBuf;

use anyhow::Context;
use serde_json::{Value, json};

use clock::SimulatedClock;
use counting::Counter;
use stage::{Manager, Stage};

#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Options {
    /// Measure what the engine adds to the bare command line
    #[arg(long)]
    overhead: bool,
    /// Measure what is started while nothing changes
    #[arg(long)]
    idle: bool,
    /// Measure the memory of a manager of many Workspaces
    #[arg(long)]
    memory: bool,
    /// Measure what storing a state writes to the API server
    #[arg(long)]
    state: bool,
    /// How often the engine is compared with the bare command line
    #[arg(long, value_name = "NUMBER", default_value = "15")]
    rounds: NonZeroU32,
    /// How many Workspaces are settled
    #[arg(long, value_name = "NUMBER", default_value = "200")]
    workspaces: NonZeroU32,
    /// The program whose memory is measured [default: `capt` beside this program]
    #[arg(long, value_name = "PATH")]
    capt: Option<PathBuf>,
    /// OpenTofu or Terraform [default: the one in PATH, or else OpenTofu, got like the other parts]
    #[arg(long, value_name = "PATH")]
    terraform_binary: Option<PathBuf>,
}

/// Measures the parts that were asked for, or all of them.
pub(crate) async fn measure(options: Options) -> anyhow::Result<Value> {
    let all = !(options.overhead || options.idle || options.memory || options.state);
    let (idle, memory) = (all || options.idle, all || options.memory);
    let binary = binary::find(options.terraform_binary.as_deref()).await?;
    // Looked for before minutes of work depend on it.
    let storing = all || options.state;
    let capt = if memory || storing { Some(crate::capt::find(options.capt)?) } else { None };
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    let mut report = json!({ "benchmark": "what the Terraform engine costs", "build": build });
    if all || options.overhead {
        report["overhead"] = overhead::measure(&binary, options.rounds.get()).await?;
    }
    if !idle && !memory && !storing {
        return Ok(report);
    }
    let stage = Stage::set(binary).await?;
    if let Some(capt) = capt.as_ref().filter(|_| storing) {
        report["state"] = state::measure(capt, &stage).await?;
    }
    if !idle && !memory {
        return Ok(report);
    }
    let count = options.workspaces;
    let capt = capt.filter(|_| memory);
    let empty = match &capt {
        Some(capt) => Some(memory::look(capt, &stage, 0).await?),
        None => None,
    };
    let (clock, counter) = (SimulatedClock::default(), Counter::default());
    let manager = Manager::start(&stage, &clock, &counter).await?;
    report["new_workspaces"] = workspaces::settle(&stage, &manager, &counter, count).await?;
    let manager = if idle {
        let (manager, measured) = idle::measure(&stage, manager, &clock, &counter, count).await?;
        report["idle"] = measured;
        manager
    } else {
        manager
    };
    manager.stop().await.context("stopping the manager")?;
    if let (Some(capt), Some(empty)) = (&capt, empty) {
        report["memory"] = memory::compare(&empty, &memory::look(capt, &stage, count.get()).await?, count);
    }
    Ok(report)
}
