//! Flags of `capt addons`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use capt_core::compatibility::{Product, Version};
use capt_core::name::is_namespace_name;
use capt_core::selector;
use clap::{ArgGroup, Args, Subcommand};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

/// Make AddonStacks.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capt addons init --flux-manifests flux.yaml --karpenter-version 1.14.1 > stack.yaml
  capt addons values -f stack.yaml                        the values that each chart would get")]
pub(crate) struct AddonsArguments {
    #[command(subcommand)]
    pub(crate) command: AddonsCommand,
}

/// What is done with AddonStacks.
#[derive(Debug, Subcommand)]
pub(crate) enum AddonsCommand {
    Init(InitArguments),
    Values(ValuesArguments),
}

/// Write a stack that is ready to be applied: Flux, and Karpenter released by it.
///
/// The manifests of Flux are yours, as `flux install --export` prints them; they are checked. Karpenter gets its values from the
/// outputs of each cluster's own module: cluster_name, cluster_endpoint, karpenter_queue_name (may be missing) and, with --irsa,
/// karpenter_iam_role_arn. Everything is tried again for ever, on every version of Flux that is supported.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    group = ArgGroup::new("identity").args(["irsa", "pod_identity"]),
    after_help = "\
Examples:
  flux install --components=source-controller,helm-controller --export > flux.yaml
  capt addons init --flux-manifests flux.yaml --karpenter-version 1.14.1 --out addons/
  kubectl apply --server-side -f addons/
  kubectl label cluster NAME addons=base

Exit codes: 0 written, 1 it cannot be made, 2 bad usage."
)]
pub(crate) struct InitArguments {
    /// What `flux install --export` printed; - is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) flux_manifests: PathBuf,
    /// The version of Karpenter, for example 1.14.1
    #[arg(long, value_name = "VERSION")]
    pub(crate) karpenter_version: String,
    /// Karpenter's service account names its role (IAM roles for service accounts); the default
    #[arg(long)]
    pub(crate) irsa: bool,
    /// Karpenter's role is associated outside of the cluster (EKS Pod Identity)
    #[arg(long)]
    pub(crate) pod_identity: bool,
    /// The namespace of the Clusters
    #[arg(long, short, value_name = "NAME", default_value = "default", value_parser = namespace_name)]
    pub(crate) namespace: String,
    /// The label of the Clusters that get the stack
    #[arg(long, value_name = "KEY=VALUE", default_value = "addons=base", value_parser = label)]
    pub(crate) cluster_selector: (String, String),
    /// The version of Flux, where its manifests do not tell it
    #[arg(long, value_name = "VERSION", value_parser = |text: &str| Product::Flux.version(text))]
    pub(crate) flux_version: Option<Version>,
    /// Where to write: a file, or a directory (that exists or ends in /) for three files [default: standard output]
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Show the values that the charts of a stack would get, without a cluster.
///
/// For every HelmRelease that AddonStacks and ClusterResourceSets of the files bring: what Flux hands to its chart, made of
/// spec.values and of everything in valuesFrom, in Flux's order and with Helm's reading of each targetPath. What Secrets in the files
/// hold is not shown.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  capt addons values -f addons/                                <name> stands for each output
  terraform output -json > outputs.json
  capt addons values -f addons/ --outputs outputs.json --release karpenter

Exit codes: 0 shown, 1 a release would not get its values, 2 bad usage."
)]
pub(crate) struct ValuesArguments {
    /// Files and directories that belong together; - is standard input
    #[arg(long = "file", short, value_name = "FILE|DIR", num_args = 1.., required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The outputs of the cluster's module: what `terraform output -json` prints, or NAME: VALUE
    #[arg(long, value_name = "FILE")]
    pub(crate) outputs: Option<PathBuf>,
    /// Only the HelmRelease of this name
    #[arg(long, value_name = "NAME")]
    pub(crate) release: Option<String>,
    /// The name of the cluster
    #[arg(long, value_name = "NAME", default_value = "example", value_parser = namespace_name)]
    pub(crate) cluster: String,
}

fn namespace_name(text: &str) -> Result<String, &'static str> {
    let complaint = "write a name of lower case letters, digits and hyphens";
    if is_namespace_name(text) { Ok(text.to_owned()) } else { Err(complaint) }
}

fn label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write it as KEY=VALUE, for example addons=base")?;
    let labels = BTreeMap::from([(key.to_owned(), value.to_owned())]);
    let selector = LabelSelector { match_labels: Some(labels), match_expressions: None };
    match selector::problem(&selector) {
        Some(problem) => Err(problem),
        None if value.is_empty() => Err("write a value, for example addons=base".to_owned()),
        None => Ok((key.to_owned(), value.to_owned())),
    }
}
