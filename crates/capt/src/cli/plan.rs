//! Flags of `capt plan`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::engine::time;
use super::reconcile::object_name;
use super::{PlaceArguments, TargetKind};

/// Show what Terraform would change. Nothing is applied.
///
/// Of a Workspace that is the plan that waits for approval, else what the last look at reality found, else a fresh plan,
/// which the manager makes. What is sensitive is not shown.
///
/// With -f: what would become of Workspaces if these manifests were applied. Clusters, networks, control planes, templates
/// and applies on disk are followed to the Workspaces that they lead to; for each that would change, how its variables and its
/// module change, and what Terraform would do. The manager makes that plan by the state as it is; nothing is applied, and
/// nothing follows from it. Before a Workspace is there, its variables are listed: everything in it would be made.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  capt plan workspace prod-vpc
  capt plan cluster prod --fresh                     a new plan of its network and its control plane
  capt plan -f cluster.yaml -f templates/ -n team-a  what manifests on disk would change
  capt plan -f templates/ --render-only              only how Workspaces would change; no manager is asked
  capt plan workspace prod-vpc --detailed-exitcode || echo \"something would change\"

Exit codes: 0 shown, 1 failed, 2 bad usage. With --detailed-exitcode: 3 where something would change (Terraform's own 2
is bad usage here)."
)]
pub(crate) struct PlanArguments {
    /// What is named
    #[arg(
        value_enum,
        value_name = "KIND",
        required_unless_present = "files",
        conflicts_with = "files",
        requires = "name"
    )]
    pub(crate) kind: Option<TargetKind>,
    /// Its name
    #[arg(value_name = "NAME", value_parser = object_name)]
    pub(crate) name: Option<String>,
    /// A manifest, or a directory of manifests; can be repeated
    #[arg(long = "filename", short = 'f', value_name = "FILE|DIR", id = "files")]
    pub(crate) files: Vec<PathBuf>,
    /// Ask for a new plan, whatever there is already
    #[arg(long, conflicts_with = "files")]
    pub(crate) fresh: bool,
    /// Show only how Workspaces would change, and ask nobody what Terraform would do
    #[arg(long, conflicts_with = "kind")]
    pub(crate) render_only: bool,
    /// End with 3 where something would change
    #[arg(long)]
    pub(crate) detailed_exitcode: bool,
    /// How long to wait for a plan
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = time)]
    pub(crate) timeout: Duration,
    #[command(flatten)]
    pub(crate) place: PlaceArguments,
}
