//! Flags of `capt doctor`.

use clap::Args;

use super::ConnectionArguments;
use super::reconcile::{namespace_name, object_name};

/// Look for what is wrong, and say how to fix it.
///
/// Looks at the parts on this machine, the management cluster, what you and CAPT may do there, the kinds, who serves them, the
/// manager, the clock, AWS credentials where a cluster is one of EKS, and at the Secrets and states of every cluster. Changes
/// nothing, and shows no content of a Secret.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capt doctor                                  everything
  capt doctor --cluster prod-1 -n team-a       one cluster
  capt doctor --output json | jq '.findings[] | select(.level == \"bad\")'

Exit codes: 0 nothing is wrong (there may be warnings), 1 something is.")]
pub(crate) struct DoctorArguments {
    /// Of the clusters, look at this one only
    #[arg(long, value_name = "NAME", value_parser = object_name)]
    pub(crate) cluster: Option<String>,
    /// Look at the clusters of this namespace [default: with --cluster, that of the kubeconfig's context, else all]
    #[arg(long, short, value_name = "NAME", value_parser = namespace_name)]
    pub(crate) namespace: Option<String>,
    /// Look for AWS credentials, whether a cluster is one of EKS or not
    #[arg(long)]
    pub(crate) aws: bool,
    #[command(flatten)]
    pub(crate) connection: ConnectionArguments,
}
