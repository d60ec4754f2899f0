//! Flags that say which cluster is meant.

use std::path::PathBuf;

use clap::Args;

/// Which cluster is meant, and who we are there.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct ConnectionArguments {
    /// The management cluster, and who we are there [default: the file of the variable KUBECONFIG, else the cluster that
    /// this pod runs in, else ~/.kube/config, else the home of `capt up`]
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// A context of the kubeconfig [default: its current one]
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
}
