//! Flags of the verbs that look after a home.
#![expect(clippy::doc_markdown, reason = "the docs are help texts, which show backticks as they are")]

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::engine::time;

/// Tell whether the management cluster of this machine runs, and what is in it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capt status                                        the one of $XDG_DATA_HOME/capt, which is ~/.local/share/capt
  capt status --dir /tmp/try --output json           another one, for programs
  capt status >/dev/null || capt up --detach         start it where it does not run

Exit codes: 0 it runs, 1 it does not (or not yet), 2 bad usage.")]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    pub(crate) place: HomePlace,
}

/// Stop the management cluster of this machine, and keep its data.
///
/// Works for one in the background and for one in another terminal. Running applies are asked to stop and waited for. One
/// that does not run is left as it is.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capt down                     stop it; `capt up` starts it again as it was
  capt down --timeout 1m        and wait a minute at most
  capt down --purge             stop it and delete its data, after a question

--purge refuses while there is infrastructure: Terraform's state is in the data, and without it nobody takes the
infrastructure down. Delete the Clusters and Workspaces first; --force deletes the data all the same.")]
pub(crate) struct DownArguments {
    #[command(flatten)]
    pub(crate) place: HomePlace,
    /// How long to wait until it has stopped
    #[arg(long, value_name = "TIME", default_value = "20m", value_parser = time)]
    pub(crate) timeout: Duration,
    /// Delete the data as well: everything that the cluster knows
    #[arg(long)]
    pub(crate) purge: bool,
    /// Do not ask
    #[arg(long, requires = "purge")]
    pub(crate) yes: bool,
    /// Delete the data though there is infrastructure, which then nobody looks after
    #[arg(long, requires = "purge")]
    pub(crate) force: bool,
}

/// Where a home is.
#[derive(Debug, Args)]
pub(crate) struct HomePlace {
    /// Where the cluster keeps its data [default: $XDG_DATA_HOME/capt, which is ~/.local/share/capt]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}
