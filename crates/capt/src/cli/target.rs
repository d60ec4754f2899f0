//! Flags that name a Workspace, by itself or by what it belongs to.

use clap::{Args, ValueEnum};

use super::ConnectionArguments;
use super::reconcile::{namespace_name, object_name};

/// Which Workspaces are meant.
#[derive(Debug, Args)]
pub(crate) struct TargetArguments {
    /// What is named
    #[arg(value_enum, value_name = "KIND")]
    pub(crate) kind: TargetKind,
    /// Its name
    #[arg(value_name = "NAME", value_parser = object_name)]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) place: PlaceArguments,
}

/// Where it is.
#[derive(Debug, Args)]
pub(crate) struct PlaceArguments {
    /// The namespace of the Cluster or the WorkspaceTemplateApply [default: that of the kubeconfig's context, else
    /// default]
    #[arg(long, short, value_name = "NAME", value_parser = namespace_name)]
    pub(crate) namespace: Option<String>,
    #[command(flatten)]
    pub(crate) connection: ConnectionArguments,
}

/// What names Workspaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TargetKind {
    /// A Workspace
    #[value(alias = "workspaces")]
    Workspace,
    /// A Cluster: the Workspaces of its network and of its control plane
    #[value(alias = "clusters")]
    Cluster,
    /// A WorkspaceTemplateApply: its Workspace
    #[value(aliases = ["wtapply", "workspacetemplateapply"])]
    Apply,
}
