//! Flags of `capt logs`.

use std::path::PathBuf;

use clap::Args;

use super::TargetArguments;

/// Show what Terraform printed for a Workspace, without secrets.
///
/// Shows the last run. CAPT keeps the last runs of each Workspace beside its state; looks at reality that found nothing
/// make room first. With -f a run that goes on is followed to its end: line by line where the manager runs on this machine,
/// by its progress where it runs elsewhere, and then with all that it printed. A cluster is followed through the pauses
/// between its runs, until it can be used, or waits for somebody.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  capt logs workspace prod-vpc                    the last run
  capt logs cluster prod -f                       what goes on, until the cluster can be used
  capt logs workspace prod-vpc --list             which runs are kept
  capt logs workspace prod-vpc --run 12
  capt logs workspace prod-vpc --previous         the run before the last one"
)]
pub(crate) struct LogsArguments {
    /// Follow the run that goes on, to its end
    #[arg(long, short, conflicts_with_all = ["run", "previous", "list"])]
    pub(crate) follow: bool,
    /// The run with this number
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["previous", "list"])]
    pub(crate) run: Option<u64>,
    /// The run before the last one
    #[arg(long, short, conflicts_with = "list")]
    pub(crate) previous: bool,
    /// List the runs that are kept
    #[arg(long)]
    pub(crate) list: bool,
    /// Where the manager works, if it runs on this machine in a directory of its own
    #[arg(long, value_name = "DIR")]
    pub(crate) terraform_directory: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) target: TargetArguments,
}
