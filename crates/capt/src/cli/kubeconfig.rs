//! Flags of `capt kubeconfig`.

use std::path::PathBuf;

use clap::Args;

use super::ConnectionArguments;
use super::reconcile::{namespace_name, object_name};

/// Print the kubeconfig of a cluster, or merge it into yours.
///
/// It is what the Secret `NAME-kubeconfig` holds, which CAPT keeps up to date. Where it could make its reader open files or start
/// programs, it is refused and told.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  capt kubeconfig prod-1 > prod-1.kubeconfig     to a file of its own
  capt kubeconfig prod-1 --merge                 into ~/.kube/config, as the context prod-1, which becomes the current one
  capt kubeconfig prod-1 --merge --user          EKS: with tokens of your own by the AWS CLI, which do not end after minutes
  capt kubeconfig prod-1 --merge --context-name work --keep-context
  kubectl --kubeconfig <(capt kubeconfig prod-1) get nodes

--merge changes nothing but the entries of this cluster, and the current context. The file is locked as kubectl does it (FILE.lock),
written whole or not at all, and afterwards readable by you alone. Comments in it are lost, as with `kubectl config`."
)]
pub(crate) struct KubeconfigArguments {
    /// The name of the Cluster
    #[arg(value_name = "NAME", value_parser = object_name)]
    pub(crate) name: String,
    /// The namespace of the Cluster [default: that of the kubeconfig's context, else default]
    #[arg(long, short, value_name = "NAME", value_parser = namespace_name)]
    pub(crate) namespace: Option<String>,
    /// The one for people (Secret `NAME-user-kubeconfig`), which clusters of EKS have
    #[arg(long)]
    pub(crate) user: bool,
    /// Merge it into ~/.kube/config, or into the first file of the variable KUBECONFIG
    #[arg(long)]
    pub(crate) merge: bool,
    /// Merge it into this file
    #[arg(long, value_name = "FILE", requires = "merge")]
    pub(crate) file: Option<PathBuf>,
    /// What the context is called [default: the name of the Cluster]
    #[arg(long, value_name = "NAME", requires = "merge", value_parser = context_name)]
    pub(crate) context_name: Option<String>,
    /// Leave the current context as it is
    #[arg(long, requires = "merge")]
    pub(crate) keep_context: bool,
    #[command(flatten)]
    pub(crate) connection: ConnectionArguments,
}

fn context_name(text: &str) -> Result<String, &'static str> {
    let plain = !text.trim().is_empty() && text.len() <= 253 && !text.contains(char::is_control);
    if plain { Ok(text.to_owned()) } else { Err("write a name of at most 253 letters, without line breaks") }
}
