//! Flags of `capt describe` and `capt get`.

use clap::{Args, Subcommand};

use super::ConnectionArguments;
use super::reconcile::{namespace_name, object_name};

/// Show everything that makes up a cluster, and what blocks it first.
///
/// A tree of the Cluster, its network, its control plane, what Terraform does for them, the Secrets with the end of what is in them,
/// and the add-ons. The first thing that the others wait for is marked and told in full below, with what to do.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  capt describe cluster prod-1                       the tree, and what blocks
  capt describe cluster prod-1 --watch               the same, redrawn with every change until Ctrl-C
  capt describe cluster prod-1 --output json | jq -r '.blocker.action'

Marks: ✓ ready, ◌ waits or is on its way, ✗ calls for somebody, ⏸ paused, ? cannot be read; → blocks.
Data: .ready .deleting .paused .version .endpoint .addons.{ready,total} .created,
  .blocker.{kind,name,state,reason,since,message,meaning,action} (absent where nothing blocks),
  .tree.{kind,name,state,reason,since,message,expiresAt,renewsAt,blocks,children[]}; .state is one of Ready, Waiting,
  Failing, Paused, Unknown. With --watch one document for each change.
Exit codes: 0 it could be read, whatever it says, 1 it could not, 2 bad usage. To wait for a cluster:
  kubectl wait cluster NAME --for=condition=Available --timeout=30m"
)]
pub(crate) struct DescribeArguments {
    #[command(subcommand)]
    pub(crate) target: DescribeTarget,
}

/// What is shown.
#[derive(Debug, Subcommand)]
pub(crate) enum DescribeTarget {
    /// A cluster
    #[command(visible_alias = "clusters")]
    Cluster {
        /// The name of the Cluster
        #[arg(value_name = "NAME", value_parser = object_name)]
        name: String,
        /// Show it again with every change, until Ctrl-C or until it is gone
        #[arg(long, short)]
        watch: bool,
        /// The namespace of the Cluster [default: that of the kubeconfig's context, else default]
        #[arg(long, short, value_name = "NAME", value_parser = namespace_name)]
        namespace: Option<String>,
        #[command(flatten)]
        connection: ConnectionArguments,
    },
}

/// List clusters: whether each is ready, and if not, why.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  capt get clusters                                    those of one namespace
  capt get clusters --all-namespaces                   all of them
  capt get clusters prod-1 --output json | jq .ready   one of them, for a script
  capt get clusters --output json | jq -r '.[] | select(.ready | not) | .name'

Data: a list, or one object where a name is given; the fields are those of `capt describe cluster`, without .tree.
Exit codes: 0 they could be read, whether or not there are any, 1 they could not, or there is none of that name, 2 bad usage."
)]
pub(crate) struct GetArguments {
    #[command(subcommand)]
    pub(crate) target: GetTarget,
}

/// What is listed.
#[derive(Debug, Subcommand)]
pub(crate) enum GetTarget {
    /// Clusters
    #[command(visible_alias = "cluster")]
    Clusters {
        /// Only the Cluster of this name
        #[arg(value_name = "NAME", value_parser = object_name)]
        name: Option<String>,
        /// The namespace of the Clusters [default: that of the kubeconfig's context, else default]
        #[arg(long, short, value_name = "NAME", value_parser = namespace_name)]
        namespace: Option<String>,
        /// Those of every namespace
        #[arg(long, short = 'A', conflicts_with_all = ["namespace", "name"])]
        all_namespaces: bool,
        #[command(flatten)]
        connection: ConnectionArguments,
    },
}
