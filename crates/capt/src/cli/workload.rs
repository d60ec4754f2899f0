//! Flags of `capt workload`.

use std::path::PathBuf;
use std::time::Duration;

use capt_local::workload::WorkloadName;
use clap::{Args, Subcommand};

use super::engine::time;

/// Ask a home on this machine for one more control plane, or to take it away.
///
/// For Terraform modules, such as the one of examples/demo: what they start is looked after by `capt up`. It stops with the
/// home and starts with it, on the same port, until it is stopped here.
#[derive(Debug, Args)]
#[command(
    hide = true,
    arg_required_else_help = true,
    after_help = "\
Examples:
  capt workload start --home ~/.local/share/capt --name demo
  capt workload status --home ~/.local/share/capt --name demo --output json
  capt workload stop --home ~/.local/share/capt --name demo"
)]
pub(crate) struct WorkloadArguments {
    #[command(subcommand)]
    pub(crate) command: WorkloadCommand,
}

/// What is asked for.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkloadCommand {
    /// Make the control plane, or start it, and wait until it is ready
    Start(WorkloadTarget),
    /// Stop the control plane, and delete its data
    Stop(WorkloadTarget),
    /// Tell how the control plane is
    Status(WorkloadTarget),
}

/// Which one, and of which home.
#[derive(Debug, Args)]
pub(crate) struct WorkloadTarget {
    /// The data directory of the home, as `capt up --dir` has it
    #[arg(long, value_name = "DIR")]
    pub(crate) home: PathBuf,
    /// The name of the control plane: lower case letters, digits and hyphens
    #[arg(long, value_name = "NAME")]
    pub(crate) name: WorkloadName,
    /// How long to wait for the answer
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = time)]
    pub(crate) timeout: Duration,
}
