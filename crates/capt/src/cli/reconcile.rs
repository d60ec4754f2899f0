//! Flags of `capt reconcile`.

use std::time::Duration;

use capt_core::name::{is_namespace_name, is_object_name};
use clap::{Args, Subcommand};

use super::ConnectionArguments;
use super::engine::time;

/// Bring add-ons to clusters once more, now, and ask Flux there to look at once.
///
/// What failed is tried again without waiting for its turn, also where CAPT had given up.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  capt reconcile cluster prod-1                            all add-ons of one cluster
  capt reconcile addonstack base --namespace team-a        one stack, in all its clusters
  capt reconcile addonstack base --cluster prod-1 --wait   one stack in one cluster, and what came of it"
)]
pub(crate) struct ReconcileArguments {
    #[command(subcommand)]
    pub(crate) target: ReconcileTarget,
}

/// What is brought once more.
#[derive(Debug, Subcommand)]
pub(crate) enum ReconcileTarget {
    /// The add-ons of a cluster
    Cluster {
        /// The name of the Cluster
        #[arg(value_name = "NAME", value_parser = object_name)]
        name: String,
        #[command(flatten)]
        request: RequestArguments,
    },
    /// An AddonStack, in all its clusters or in one
    #[command(name = "addonstack")]
    AddonStack {
        /// The name of the AddonStack
        #[arg(value_name = "NAME", value_parser = object_name)]
        name: String,
        /// In this cluster only
        #[arg(long, value_name = "NAME", value_parser = object_name)]
        cluster: Option<String>,
        #[command(flatten)]
        request: RequestArguments,
    },
}

/// Where it is asked for, and whether it is waited for.
#[derive(Debug, Args)]
pub(crate) struct RequestArguments {
    /// The namespace of the Cluster and the AddonStack [default: that of the kubeconfig's context, else default]
    #[arg(long, short, value_name = "NAME", value_parser = namespace_name)]
    pub(crate) namespace: Option<String>,
    /// Wait until CAPT has been there, and tell what came of it
    #[arg(long)]
    pub(crate) wait: bool,
    /// How long to wait
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = time)]
    pub(crate) timeout: Duration,
    #[command(flatten)]
    pub(crate) connection: ConnectionArguments,
}

pub(super) fn object_name(text: &str) -> Result<String, &'static str> {
    let complaint = "write a name in lower case letters, digits, hyphens and dots, as names of objects are";
    if is_object_name(text) { Ok(text.to_owned()) } else { Err(complaint) }
}

pub(super) fn namespace_name(text: &str) -> Result<String, &'static str> {
    let complaint = "write a name in lower case letters, digits and hyphens, as names of namespaces are";
    if is_namespace_name(text) { Ok(text.to_owned()) } else { Err(complaint) }
}
