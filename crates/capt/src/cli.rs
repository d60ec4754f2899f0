//! What the user can type.
#![expect(clippy::doc_markdown, reason = "the docs are help texts, which show backticks as they are")]

mod addons;
mod approve;
mod backup;
mod cluster_api;
mod compat;
mod completion;
mod connection;
mod describe;
mod doctor;
mod engine;
mod home;
mod kubeconfig;
mod logs;
mod migrate;
mod plan;
mod reconcile;
mod state;
mod target;
mod validate;
mod webhook;
mod workload;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use tracing_subscriber::EnvFilter;

pub(crate) use addons::{AddonsArguments, AddonsCommand, InitArguments, ValuesArguments};
pub(crate) use approve::ApproveArguments;
pub(crate) use backup::{BackupArguments, RestoreArguments};
pub(crate) use cluster_api::ClusterApiArguments;
pub(crate) use compat::{CheckArguments, CompatArguments, CompatCommand, PathArguments};
pub(crate) use completion::CompletionArguments;
pub(crate) use connection::ConnectionArguments;
pub(crate) use describe::{DescribeArguments, DescribeTarget, GetArguments, GetTarget};
pub(crate) use doctor::DoctorArguments;
pub(crate) use engine::{EngineArguments, EngineChoice, Place};
pub(crate) use home::{DownArguments, StatusArguments};
pub(crate) use kubeconfig::KubeconfigArguments;
pub(crate) use logs::LogsArguments;
pub(crate) use migrate::{
    FromCrossplaneArguments, FromGoArguments, HelmReleaseArguments, MigrateArguments, MigrateCommand,
    ToCrossplaneArguments, WhichWorkspaces,
};
pub(crate) use plan::PlanArguments;
pub(crate) use reconcile::{ReconcileArguments, ReconcileTarget, RequestArguments};
pub(crate) use state::{
    StateArguments, StateCommand, StateListArguments, StateRestoreArguments, StateShowArguments,
};
pub(crate) use target::{PlaceArguments, TargetArguments, TargetKind};
pub(crate) use validate::ValidateArguments;
pub(crate) use webhook::WebhookArguments;
pub(crate) use workload::{WorkloadArguments, WorkloadCommand, WorkloadTarget};

/// Kubernetes clusters from Terraform modules, as Cluster API objects.
#[derive(Debug, Parser)]
#[command(name = "capt", version, arg_required_else_help = true, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// The form of what is printed to standard output
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORM")]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

const AFTER_HELP: &str = "\
Examples:
  capt demo                                a first cluster, made by Terraform on this machine
  capt up                                  a management cluster on this machine, until Ctrl-C
  capt up --detach                         the same in the background; `capt status`, `capt down`
  capt manager --kubeconfig FILE           the controllers, for a cluster that is there already
  capt describe cluster NAME               what makes up a cluster, and what blocks it
  capt kubeconfig NAME --merge             the way into it, for kubectl
  capt plan cluster NAME                   what Terraform would change
  capt logs cluster NAME -f                what Terraform prints
  capt reconcile cluster NAME --wait       the add-ons of a cluster, once more and now
  capt compat check --cluster NAME         whether the versions of a cluster go together
  capt validate -f DIR                     what is wrong in manifests, without a cluster
  capt doctor                              what is wrong, and how to fix it
  capt backup FILE -A                      everything in one encrypted file; capt restore FILE
  capt crds | kubectl apply --server-side -f -

Data goes to standard output, messages and logs go to standard error.
Exit codes: 0 done, 1 failed, 2 bad usage.";

/// Messages about the work itself; they go to standard error.
#[derive(Debug, Args)]
#[command(next_help_heading = "Logging")]
pub(crate) struct LogArguments {
    /// The form of log lines
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORM")]
    pub(crate) log_format: LogFormat,
    /// What is logged: off, error, warn, info, debug or trace, also by module: info,capt_controller=debug
    #[arg(long, global = true, env = "CAPT_LOG", default_value = "info", value_name = "FILTER")]
    #[arg(value_parser = |text: &str| EnvFilter::try_new(text).map(|_| text.to_owned()))]
    pub(crate) log_level: String,
}

/// The form of what is printed to standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people
    #[default]
    Human,
    /// One JSON value
    Json,
    /// YAML documents
    Yaml,
}

/// The form of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    #[default]
    Human,
    /// One JSON object a line
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArguments),
    Up(UpArguments),
    Status(StatusArguments),
    Down(DownArguments),
    Manager(ManagerArguments),
    Get(GetArguments),
    Describe(DescribeArguments),
    Kubeconfig(KubeconfigArguments),
    Plan(PlanArguments),
    Approve(ApproveArguments),
    Logs(LogsArguments),
    State(StateArguments),
    Reconcile(ReconcileArguments),
    Validate(ValidateArguments),
    Addons(AddonsArguments),
    Migrate(MigrateArguments),
    Compat(CompatArguments),
    Doctor(DoctorArguments),
    Backup(BackupArguments),
    Restore(RestoreArguments),
    Crds(CrdsArguments),
    Workload(WorkloadArguments),
    Completion(CompletionArguments),
    /// Print all of this as a page of the documentation
    #[command(hide = true)]
    Reference,
    /// Print the version
    Version,
}

/// Make a first cluster on this machine: management cluster, Terraform, workload cluster, add-ons and all.
///
/// Runs what `capt up` runs, applies the objects of examples/demo (a network, a control plane, a Cluster, two add-ons in
/// order) and shows how they come about, until all is ready. Terraform really makes the cluster: a second etcd,
/// kube-apiserver and kube-controller-manager, which stop and start with the management cluster. Only its Nodes are
/// simulated: no Pod runs. No cloud, no containers, no root. Where `capt up` runs already, the cluster is made there.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capt demo                     make the cluster and keep it until Ctrl-C
  capt demo --exit              make the cluster, show that it answers, and stop; it starts again with `capt up`
  capt demo --delete            destroy the cluster by Terraform, and stop")]
pub(crate) struct DemoArguments {
    /// Stop when everything is ready
    #[arg(long, conflicts_with = "delete")]
    pub(crate) exit: bool,
    /// Destroy the cluster, and stop
    #[arg(long)]
    pub(crate) delete: bool,
    #[command(flatten)]
    pub(crate) home: HomeArguments,
}

/// Run a management cluster on this machine, until Ctrl-C.
///
/// Starts etcd, kube-apiserver and kube-controller-manager as child processes, installs the kinds, writes a
/// kubeconfig and runs the controllers, which run OpenTofu or Terraform. The binaries are taken from the directory
/// CAPT_ASSETS or from PATH, else downloaded, else built with Go; the first time takes minutes. Nothing needs root or
/// containers. Everything listens on 127.0.0.1 only.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capt up                       data in $XDG_DATA_HOME/capt, which is ~/.local/share/capt
  capt up --dir /tmp/try        data elsewhere: a second, independent cluster
  capt up --detach              in the background: `capt status` tells how it is, `capt down` stops it
  capt down --purge             forget the cluster

Ctrl-C, SIGTERM or `capt down` stops everything in order and keeps the data. Running applies are asked to stop and waited for;
a second Ctrl-C does not wait.")]
pub(crate) struct UpArguments {
    /// Run it in the background, and return when it is ready; one that runs already is left as it is
    #[arg(long)]
    pub(crate) detach: bool,
    /// What --detach starts
    #[arg(long, hide = true, conflicts_with = "detach")]
    pub(crate) in_background: bool,
    #[command(flatten)]
    pub(crate) home: HomeArguments,
}

/// What a management cluster on this machine is like.
#[derive(Debug, Args)]
pub(crate) struct HomeArguments {
    /// Where the cluster keeps its data, from one start to the next
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Where probes and metrics are served, for example 127.0.0.1:9440 (nowhere by default)
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) diagnostics_address: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) cluster_api: ClusterApiArguments,
    #[command(flatten)]
    pub(crate) webhook: WebhookArguments,
    #[command(flatten)]
    pub(crate) engine: EngineArguments,
}

/// Run the controllers for a cluster that is there already.
///
/// The cluster is the one of --kubeconfig, else of the variable KUBECONFIG, else the one that this pod runs in,
/// else the one of ~/.kube/config.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capt manager                                       in a pod
  capt manager --kubeconfig FILE --leader-elect=false --diagnostics-address none
  capt manager --namespace team-a --watch-filter blue
  capt manager --engine crossplane                   where Crossplane runs Terraform

SIGTERM or Ctrl-C ends it: running applies are asked to stop and waited for, the lease is released.")]
pub(crate) struct ManagerArguments {
    /// The cluster, and who we are there
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Look at this namespace only
    #[arg(long, value_name = "NAME")]
    pub(crate) namespace: Option<String>,
    /// Look only at objects whose label cluster.x-k8s.io/watch-filter has this value
    #[arg(long, value_name = "VALUE")]
    pub(crate) watch_filter: Option<String>,
    /// How many objects of one kind are worked on at the same time
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) concurrency: u16,
    /// Work only while holding a lease, so that of several managers one is active
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = true)]
    #[arg(default_missing_value = "true", action = clap::ArgAction::Set)]
    pub(crate) leader_elect: bool,
    /// The namespace of the lease [default: the pod's own namespace, else capt-system]
    #[arg(long, value_name = "NAME")]
    pub(crate) leader_election_namespace: Option<String>,
    /// Where probes (/healthz, /readyz) and metrics (/metrics) are served, or none
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0:9440", value_parser = diagnostics_address)]
    pub(crate) diagnostics_address: DiagnosticsAddress,
    /// Let references lead to Secrets and ConfigMaps of any namespace, without a grant
    #[arg(long)]
    pub(crate) allow_cross_namespace_references: bool,
    #[command(flatten)]
    pub(crate) cluster_api: ClusterApiArguments,
    #[command(flatten)]
    pub(crate) webhook: WebhookArguments,
    #[command(flatten)]
    pub(crate) engine: EngineArguments,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// Where probes and metrics are served, if anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DiagnosticsAddress(pub(crate) Option<SocketAddr>);

fn diagnostics_address(text: &str) -> Result<DiagnosticsAddress, String> {
    if text == "none" {
        return Ok(DiagnosticsAddress(None));
    }
    let address =
        text.parse().map_err(|_| "write it as ADDRESS:PORT, for example 127.0.0.1:9440, or none")?;
    Ok(DiagnosticsAddress(Some(address)))
}

/// Print the custom resource definitions.
///
/// Those of CAPT's own kinds, and with --include also CRDs that are compatible with those of Crossplane's
/// provider-terraform and of Cluster API, for clusters that have neither.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capt crds | kubectl apply --server-side -f -
  capt crds --include terraform,cluster-api --output json | jq '.items[].metadata.name'")]
pub(crate) struct CrdsArguments {
    /// Kinds of others to print as well
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KINDS")]
    pub(crate) include: Vec<Included>,
}

/// Kinds of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Included {
    /// Those of Crossplane's provider-terraform
    Terraform,
    /// Those of Cluster API
    ClusterApi,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
