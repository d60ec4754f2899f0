//! Flags of `capt compat`.

use std::path::PathBuf;

use capt_core::compatibility::{Product, Version, Versions};
use clap::{Args, Subcommand};
use jiff::civil::Date;

use super::ConnectionArguments;
use super::reconcile::{namespace_name, object_name};

/// Tell which versions of Kubernetes, Flux, Helm and Karpenter go together.
///
/// Without a command, the whole table is printed, with its date and its sources.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  capt compat                                                         the table
  capt compat check --kubernetes 1.34 --flux 2.9 --karpenter 1.14.1   whether these go together
  capt compat path --from kubernetes=1.33,flux=2.7 --to kubernetes=1.36

Exit codes: 0 all is supported, 1 something is not, or the table does not know it, 2 bad usage."
)]
pub(crate) struct CompatArguments {
    #[command(subcommand)]
    pub(crate) command: Option<CompatCommand>,
}

/// What is asked of the table.
#[derive(Debug, Subcommand)]
pub(crate) enum CompatCommand {
    Check(CheckArguments),
    Path(PathArguments),
}

/// Judge versions: those that are given, those that manifests bring, or those of a cluster.
///
/// A version that is given counts before one that is read, so that a cluster can be judged before it is upgraded:
/// `--cluster prod-1 --kubernetes 1.35`.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  capt compat check --kubernetes 1.34 --flux 2.9 --karpenter 1.14.1
  capt compat check --kubernetes 1.34 -f flux.yaml -f karpenter.yaml
  flux install --export | capt compat check --kubernetes 1.34 -f -
  capt compat check --cluster prod-1 --namespace team-a
  capt compat check --cluster prod-1 --kubernetes 1.35

Exit codes: 0 all is supported, 1 something is not, or the table does not know it, 2 bad usage."
)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) versions: VersionArguments,
    /// Manifests, and ConfigMaps with manifests, that bring Flux and Karpenter; - is standard input
    #[arg(long = "file", short, value_name = "FILE", num_args = 1.., conflicts_with = "cluster")]
    pub(crate) files: Vec<PathBuf>,
    /// A Cluster: its own version of Kubernetes, and what the AddonStacks that select it bring
    #[arg(long, value_name = "NAME", value_parser = object_name)]
    pub(crate) cluster: Option<String>,
    /// The namespace of the Cluster [default: that of the kubeconfig's context, else default]
    #[arg(long, short, value_name = "NAME", value_parser = namespace_name, requires = "cluster")]
    pub(crate) namespace: Option<String>,
    /// The day on which it is asked whether EKS still supports a version [default: today]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = date)]
    pub(crate) date: Option<Date>,
    #[command(flatten)]
    pub(crate) connection: ConnectionArguments,
}

fn date(text: &str) -> Result<Date, &'static str> {
    text.parse().map_err(|_| "write a day as for example 2027-01-31")
}

/// Versions by flags.
#[derive(Debug, Args)]
pub(crate) struct VersionArguments {
    /// A version of Kubernetes
    #[arg(long, value_name = "VERSION", value_parser = |text: &str| Product::Kubernetes.version(text))]
    pub(crate) kubernetes: Option<Version>,
    /// A version of Flux
    #[arg(long, value_name = "VERSION", value_parser = |text: &str| Product::Flux.version(text))]
    pub(crate) flux: Option<Version>,
    /// A version of Karpenter
    #[arg(long, value_name = "VERSION", value_parser = |text: &str| Product::Karpenter.version(text))]
    pub(crate) karpenter: Option<Version>,
    /// A version of Helm, which is compared with the Helm in Flux
    #[arg(long, value_name = "VERSION", value_parser = |text: &str| Product::Helm.version(text))]
    pub(crate) helm: Option<Version>,
}

impl From<&VersionArguments> for Versions {
    fn from(arguments: &VersionArguments) -> Self {
        let VersionArguments { kubernetes, flux, karpenter, helm } = *arguments;
        Self { kubernetes, flux, karpenter, helm }
    }
}

/// Tell in which order to upgrade.
///
/// Kubernetes goes one minor version at a time. An add-on that has to move before it comes first, one that needs the newer
/// Kubernetes comes after. An add-on that --to does not name is moved only where it has to.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  capt compat path --from kubernetes=1.33,flux=2.7,karpenter=1.6 --to kubernetes=1.36
  capt compat path --from kubernetes=1.33,flux=2.7,karpenter=1.6 --to kubernetes=1.34,flux=2.9,karpenter=1.14.1

Exit codes: 0 every state on the way is supported, 1 one is not, or there is no way, 2 bad usage."
)]
pub(crate) struct PathArguments {
    /// What there is now
    #[arg(long, value_name = "VERSIONS", value_parser = versions)]
    pub(crate) from: Versions,
    /// What there is to be
    #[arg(long, value_name = "VERSIONS", value_parser = versions)]
    pub(crate) to: Versions,
}

fn versions(text: &str) -> Result<Versions, String> {
    let mut versions = Versions::default();
    for part in text.split(',') {
        let how = "write it as for example kubernetes=1.34,flux=2.9,karpenter=1.14.1";
        let (name, version) = part.split_once('=').ok_or(how)?;
        let product = match name.trim() {
            "kubernetes" => Product::Kubernetes,
            "flux" => Product::Flux,
            "karpenter" => Product::Karpenter,
            "helm" => {
                return Err("helm comes with Flux and has no upgrade of its own: leave it out".to_owned());
            }
            _ => return Err(how.to_owned()),
        };
        if versions.get(product).is_some() {
            return Err(format!("{name} is there twice: leave one out"));
        }
        versions = versions.with(product, product.version(version).map_err(|problem| problem.to_string())?);
    }
    Ok(versions)
}
