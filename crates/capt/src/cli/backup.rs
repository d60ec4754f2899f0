//! Flags of `capt backup` and `capt restore`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::ConnectionArguments;
use super::engine::time;
use super::reconcile::namespace_name;

/// Keep all of CAPT's objects, Secrets and states in one encrypted file.
///
/// Clusters, control planes, networks, templates, applies, stacks, and what they refer to, with the states of Terraform: of a
/// namespace, or of all of them. Of a home on this machine (`capt up`) also the data of its local clusters, each of which is
/// stopped for a few seconds. What CAPT can derive again is left out.
///
/// While Terraform runs on one of them nothing is kept. The file is encrypted with a passphrase; `age --decrypt` opens it, too.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capt backup home.age -A                             everything, and ask for a passphrase
  capt backup team-a.age -n team-a                    one namespace
  capt backup home.age -A --passphrase-file FILE      without a terminal; or by the variable CAPT_BACKUP_PASSPHRASE
  age --decrypt home.age | gunzip | head -n 1         what is in it

Keep the passphrase elsewhere: without it nobody can open the file.")]
pub(crate) struct BackupArguments {
    /// The file to write; one that is there is not replaced
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The namespace [default: that of the kubeconfig's context, else default]
    #[arg(long, short, value_name = "NAME", value_parser = namespace_name, conflicts_with = "all_namespaces")]
    pub(crate) namespace: Option<String>,
    /// All namespaces, and Workspaces that no apply has made
    #[arg(long, short = 'A')]
    pub(crate) all_namespaces: bool,
    /// Replace the file if it is there
    #[arg(long)]
    pub(crate) force: bool,
    /// Wait until no Terraform runs any more
    #[arg(long)]
    pub(crate) wait: bool,
    /// How long to wait
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = time)]
    pub(crate) timeout: Duration,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArguments,
    #[command(flatten)]
    pub(crate) connection: ConnectionArguments,
}

/// Put a backup back into an empty home or an empty management cluster.
///
/// What is there already and differs is listed, and nothing is done. Everything is paused until all of it is back and has its
/// owners again. Nothing is made, changed or destroyed by Terraform unseen: each Workspace is planned, and goes on when its plan
/// is empty; any other plan waits for an approval.
///
/// Whatever interrupts it, running it again finishes it; running it once more changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capt restore home.age --dry-run                     what would be done
  capt restore home.age --wait                        do it, and wait until the clusters are there and the plans empty

Local clusters of `capt up` go back into a home in the directory that they came from: start an empty one there first.")]
pub(crate) struct RestoreArguments {
    /// The file that `capt backup` wrote
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Show what would be done, and do nothing
    #[arg(long, conflicts_with = "wait")]
    pub(crate) dry_run: bool,
    /// Wait until the clusters are available and all plans were empty
    #[arg(long)]
    pub(crate) wait: bool,
    /// How long to wait
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = time)]
    pub(crate) timeout: Duration,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArguments,
    #[command(flatten)]
    pub(crate) connection: ConnectionArguments,
}

/// Where the passphrase comes from.
#[derive(Debug, Args)]
pub(crate) struct PassphraseArguments {
    /// The file with the passphrase [default: the variable CAPT_BACKUP_PASSPHRASE, else the person at the terminal is asked]
    #[arg(long, value_name = "FILE")]
    pub(crate) passphrase_file: Option<PathBuf>,
}
