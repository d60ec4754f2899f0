//! Flags of `capt state`.

use std::time::Duration;

use clap::{Args, Subcommand};

use super::TargetArguments;
use super::engine::time;

/// Look at the Terraform state of a Workspace and at the copies of it, and put one back.
///
/// CAPT copies a state before every apply and keeps the last three copies. Copies are named by their serial: how often
/// the state had been written.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct StateArguments {
    #[command(subcommand)]
    pub(crate) command: StateCommand,
}

/// What is done with the state.
#[derive(Debug, Subcommand)]
pub(crate) enum StateCommand {
    List(StateListArguments),
    Show(StateShowArguments),
    Restore(StateRestoreArguments),
}

/// List the state and its copies, and what came after each.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  capt state list workspace prod-vpc
  capt state list cluster prod -n team-a          of its network and its control plane"
)]
pub(crate) struct StateListArguments {
    #[command(flatten)]
    pub(crate) target: TargetArguments,
}

/// Show the resources in a state, without what is sensitive.
///
/// Hidden is what Terraform calls sensitive, what is named like a secret, and every value that reached the module from a
/// Secret, wherever it stands.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  capt state show workspace prod-vpc
  capt state show workspace prod-vpc --address aws_vpc.this
  capt state show apply prod-vpc-apply --snapshot 7 --output json"
)]
pub(crate) struct StateShowArguments {
    /// The copy with this serial [default: the state as it is now]
    #[arg(long, value_name = "SERIAL")]
    pub(crate) snapshot: Option<u64>,
    /// Only this resource, or all instances of it; can be repeated
    #[arg(long = "address", value_name = "ADDRESS")]
    pub(crate) addresses: Vec<String>,
    #[command(flatten)]
    pub(crate) target: TargetArguments,
}

/// Put a copy of a state back.
///
/// The state as it is now is copied before. Nothing of the infrastructure changes by this: CAPT plans with the state that
/// was put back, and whatever that plan would do waits for `capt approve`, whatever the policies say.
///
/// It is done under Terraform's own lock, while nothing runs. Whatever interrupts it, running it again finishes it.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  capt state list workspace prod-vpc              which copies there are
  capt state restore workspace prod-vpc --snapshot 7
  capt approve workspace prod-vpc                 look at what would follow, and approve it"
)]
pub(crate) struct StateRestoreArguments {
    /// The copy with this serial
    #[arg(long, value_name = "SERIAL")]
    pub(crate) snapshot: u64,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// How long to wait for a run to end and for the lock
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = time)]
    pub(crate) timeout: Duration,
    #[command(flatten)]
    pub(crate) target: TargetArguments,
}
