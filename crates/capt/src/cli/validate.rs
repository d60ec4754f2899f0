//! Flags of `capt validate`.

use std::path::PathBuf;

use capt_core::validation::Elsewhere;
use clap::Args;

/// Find what is wrong in manifests, without a cluster.
///
/// Reads YAML and JSON: any number of documents, and Lists. Looks at CAPT's own kinds and those of Cluster API and Crossplane that
/// go with them: fields, rules, placeholders, modules, references from one object to another, and the manifests that stacks and
/// ClusterResourceSets bring, with the values of HelmReleases and the versions of Flux and Karpenter. Everything is told at once,
/// each with its place and with what to write instead.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  capt validate -f cluster.yaml
  capt validate -f clusters/ -f addons/                 all *.yaml, *.yml and *.json below, together
  kustomize build . | capt validate -f -
  capt validate -f stack.yaml --elsewhere ConfigMap/flux-install --strict

Exit codes: 0 no errors, 1 errors (with --strict: or warnings), 2 bad usage."
)]
pub(crate) struct ValidateArguments {
    /// Files and directories that belong together; - is standard input
    #[arg(long = "file", short, value_name = "FILE|DIR", num_args = 1.., required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Objects that are in the cluster already: KIND, KIND/NAME or KIND/NAMESPACE/NAME
    #[arg(long, value_name = "OBJECT", value_delimiter = ',')]
    pub(crate) elsewhere: Vec<Elsewhere>,
    /// Take warnings for errors
    #[arg(long)]
    pub(crate) strict: bool,
}
