//! Flags of `capt migrate`.

use std::collections::BTreeMap;
use std::time::Duration;

use capt_core::selector;
use clap::{Args, Subcommand};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::ConnectionArguments;
use super::engine::time;
use super::reconcile::{namespace_name, object_name};

/// Hand over what runs, without making it anew: releases of Helm to Flux, Workspaces from Crossplane to CAPT and back, the objects of
/// the Go implementation to CAPT.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct MigrateArguments {
    #[command(subcommand)]
    pub(crate) command: MigrateCommand,
}

/// What is handed over.
#[derive(Debug, Subcommand)]
pub(crate) enum MigrateCommand {
    HelmRelease(HelmReleaseArguments),
    FromCrossplane(FromCrossplaneArguments),
    ToCrossplane(ToCrossplaneArguments),
    FromGo(FromGoArguments),
}

/// Take over what the earlier Go implementation of CAPT left in a management cluster.
///
/// Puts CAPT's kinds in the place of the earlier ones, where objects stay as they are, and puts right the endpoints of Clusters
/// that are URLs. The rest the manager does by itself once it runs; it is shown here, object by object: what it takes over, which
/// templates differ from what runs (such Workspaces stay as they are until somebody approves the difference), which Secrets
/// become CAPT's, and what is left for you. Terraform is not run.
///
/// Nothing is done while a manager of the Go implementation runs. Whatever interrupts it, running it again finishes it; running
/// it once more changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capt migrate from-go --dry-run -A        what would become of every object
  capt migrate from-go --yes -A            do it; then start the manager
  capt migrate from-go --dry-run -n team-a only the objects of one namespace, and the kinds

Stop the Go manager before it. Do not uninstall its chart: Helm would delete the kinds with every object of them.")]
pub(crate) struct FromGoArguments {
    /// The namespace whose objects are looked at [default: that of the kubeconfig's context, else default]
    #[arg(long, short, value_name = "NAME", value_parser = namespace_name, conflicts_with = "all_namespaces")]
    pub(crate) namespace: Option<String>,
    /// The objects of all namespaces
    #[arg(long, short = 'A')]
    pub(crate) all_namespaces: bool,
    /// Show what would be done, and do nothing
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) connection: ConnectionArguments,
}

/// Take helm_release resources out of a WorkspaceTemplate and of the states of all that use it.
///
/// Nothing is uninstalled: the releases go on running, and the HelmRelease that an AddonStack or a ClusterResourceSet
/// brings for the label takes them over. Every WorkspaceTemplateApply of the template is paused, the resources leave
/// the states (each is copied before), then the template, the Clusters get the label, and the pause is lifted.
///
/// Whatever interrupts it, running it again finishes it; running it once more changes nothing.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  capt migrate helm-release karpenter --dry-run            show the diff, and what leaves which state
  capt migrate helm-release karpenter --yes                do it
  capt migrate helm-release --all --template eks -n team-a all releases of one template

Before it, make the AddonStack (or the ClusterResourceSet) that brings the HelmRelease: of the same release name and
namespace. Keep the edited template where you keep its manifest, too."
)]
pub(crate) struct HelmReleaseArguments {
    /// The names of the resources: karpenter is helm_release.karpenter
    #[arg(value_name = "NAME", value_parser = release_name, required_unless_present = "all", conflicts_with = "all")]
    pub(crate) names: Vec<String>,
    /// All helm_release resources of the template
    #[arg(long)]
    pub(crate) all: bool,
    /// The WorkspaceTemplate [default: the one of the namespace that has them]
    #[arg(long, value_name = "NAME", value_parser = object_name)]
    pub(crate) template: Option<String>,
    /// Only if the template is used by no other WorkspaceTemplateApply than these
    #[arg(long = "apply", value_name = "NAME", value_parser = object_name)]
    pub(crate) applies: Vec<String>,
    /// The namespace of the template and of those named by --apply [default: that of the kubeconfig's context, else
    /// default]
    #[arg(long, short, value_name = "NAME", value_parser = namespace_name)]
    pub(crate) namespace: Option<String>,
    /// A label for the Clusters
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label, default_value = "karpenter.sh/enabled=true")]
    pub(crate) labels: Vec<(String, String)>,
    /// Take out the provider "helm" as well, if nothing else needs it
    #[arg(long)]
    pub(crate) drop_provider: bool,
    /// Show what would be done, and do nothing
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// How long to wait for runs of Terraform to end, and for CAPT to carry the template over
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = time)]
    pub(crate) timeout: Duration,
    #[command(flatten)]
    pub(crate) connection: ConnectionArguments,
}

/// Let CAPT run Workspaces in place of Crossplane's provider-terraform.
///
/// The state stays where the ProviderConfig says, and the spec of the Workspace as it is. Crossplane is paused for the
/// Workspace, and CAPT begins when Crossplane has put it down: at no moment do both run it. The first plan is only looked
/// at: if it is empty, CAPT goes on; if not, it waits for approval.
///
/// Whatever interrupts it, running it again finishes it. It takes a manager with `--engine auto` or `process`.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  capt migrate from-crossplane --all --dry-run     where each state is, and what is in the way
  capt migrate from-crossplane network --yes       one Workspace
  capt migrate from-crossplane --all --yes         before you install Crossplane, too: it then leaves alone what CAPT runs
  capt migrate to-crossplane network --yes         back again"
)]
pub(crate) struct FromCrossplaneArguments {
    #[command(flatten)]
    pub(crate) which: WhichWorkspaces,
    /// provider-terraform is stopped, and cannot say that it has put a Workspace down
    #[arg(long)]
    pub(crate) provider_stopped: bool,
}

/// Let Crossplane's provider-terraform run Workspaces in place of CAPT.
///
/// CAPT ends what it runs, lets go of the state, forgets what it has on record, and takes its marks and the pause away.
/// Where the ProviderConfig does not lead to the state, Crossplane would make everything a second time: such a Workspace
/// stays with CAPT, and what the ProviderConfig has to say is shown.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  capt migrate to-crossplane --all --dry-run       what is in the way
  capt migrate to-crossplane network --yes         one Workspace"
)]
pub(crate) struct ToCrossplaneArguments {
    #[command(flatten)]
    pub(crate) which: WhichWorkspaces,
}

/// Which Workspaces are handed over, and how.
#[derive(Debug, Args)]
pub(crate) struct WhichWorkspaces {
    /// The names of the Workspaces
    #[arg(value_name = "NAME", value_parser = object_name, required_unless_present = "all", conflicts_with = "all")]
    pub(crate) names: Vec<String>,
    /// All Workspaces of the cluster
    #[arg(long)]
    pub(crate) all: bool,
    /// Show what would be done, and do nothing
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// How long to wait for each Workspace
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = time)]
    pub(crate) timeout: Duration,
    #[command(flatten)]
    pub(crate) connection: ConnectionArguments,
}

fn release_name(text: &str) -> Result<String, &'static str> {
    let name = text.strip_prefix("helm_release.").unwrap_or(text);
    let begins = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
    let rest = name.chars().all(|character| character.is_alphanumeric() || matches!(character, '_' | '-'));
    if begins && rest {
        Ok(name.to_owned())
    } else {
        Err(
            "write the name of the resource in Terraform: karpenter for resource \"helm_release\" \"karpenter\"",
        )
    }
}

fn label(text: &str) -> Result<(String, String), String> {
    let (key, value) =
        text.split_once('=').ok_or("write it as KEY=VALUE, for example karpenter.sh/enabled=true")?;
    let selector = LabelSelector {
        match_labels: Some(BTreeMap::from([(key.to_owned(), value.to_owned())])),
        match_expressions: None,
    };
    match selector::problem(&selector) {
        Some(problem) => Err(problem),
        None => Ok((key.to_owned(), value.to_owned())),
    }
}
