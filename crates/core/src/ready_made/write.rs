//! The objects of the stack, as people read them.

mod karpenter;
mod stack;

use super::block::Block;
use super::flux::Flux;
use super::problem::Problem;
use super::{File, Request};
use crate::compatibility::{FeatureName, Table, Version};
use crate::condition::cut;

/// The file with what Flux comes by.
const FLUX: &str = "flux.yaml";
/// The file with what Karpenter comes by.
pub(super) const KARPENTER: &str = "karpenter.yaml";
/// The file with the stack itself.
const STACK: &str = "stack.yaml";

/// The labels that let each add-on start.
const FLUX_GATE: &str = "fluxcd.io/enabled";
const KARPENTER_GATE: &str = "karpenter.sh/enabled";

/// Where Karpenter runs, as its guide says: requests from there come before those of others.
const NAMESPACE: &str = "kube-system";
/// The Secret with the values of each cluster.
const VALUES: &str = "karpenter-values";

/// A version of Karpenter as the tag of its chart.
#[derive(Debug)]
pub(super) struct KarpenterTag {
    tag: String,
    pub(super) version: Version,
}

/// Reads a version of Karpenter: all of it, since it is the tag of the chart. Tags have no `v`.
pub(super) fn karpenter_tag(text: &str) -> Result<KarpenterTag, Problem> {
    const SHOWN: usize = 40;
    let tag = text.trim().trim_start_matches('v');
    let is_plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '-');
    let refused = || Problem::KarpenterVersion(cut(text, SHOWN));
    let version = Version::parse(tag).map_err(|_| refused())?;
    let numbers = tag.split('-').next().unwrap_or_default().split('.').count();
    if numbers != 3 || !tag.chars().all(is_plain) {
        return Err(refused());
    }
    if version.major() < 1 {
        return Err(Problem::OldKarpenter(tag.to_owned()));
    }
    Ok(KarpenterTag { tag: tag.to_owned(), version })
}

/// Everything that is applied.
pub(super) fn files(request: &Request<'_>, flux: &Flux, karpenter: &KarpenterTag) -> Vec<File> {
    vec![
        File { name: FLUX, text: flux_file(request, flux) },
        File { name: KARPENTER, text: karpenter::file(request, flux, karpenter) },
        File { name: STACK, text: stack::file(request, flux) },
    ]
}

/// A text as YAML has it: in quotes where it would be read as something else, as `on` and `123` would.
fn scalar(text: &str) -> String {
    serde_saphyr::to_string(&text)
        .map_or_else(|_| format!("{text:?}"), |written| written.trim_end().to_owned())
}

/// Whether this Flux knows something. A Flux that the table does not have yet is newer than all of it, and knows it.
fn knows(flux: Version, feature: FeatureName) -> bool {
    let table = Table::embedded();
    table
        .has(flux, feature)
        .unwrap_or_else(|| table.flux.last().is_some_and(|newest| newest.minor < flux.minor()))
}

fn flux_file(request: &Request<'_>, flux: &Flux) -> String {
    let intro = format!(
        "\
# Flux {version}, as `flux install --export` wrote it. Apply this with `kubectl apply --server-side`: a plain `kubectl apply` keeps
# a copy of an object in an annotation that can be too small for it.
",
        version = flux.version
    );
    let set = "\
# Brings Flux to each Cluster with the label fluxcd.io/enabled=true, which the stack sets when it is Flux's turn. ApplyOnce: what is
# in a cluster already is left alone; with Reconcile Cluster API would take away what Flux writes into its own objects.
";
    intro
        + &config_map(request, "flux-install", FLUX, &flux.text)
        + "---\n"
        + set
        + &resource_set(request, "flux", FLUX_GATE, "flux-install")
}

fn config_map(request: &Request<'_>, name: &str, key: &str, text: &Block) -> String {
    format!(
        "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}
  namespace: {namespace}
data:
  {key}: {text}",
        namespace = scalar(request.namespace),
        text = text.written(4)
    )
}

fn resource_set(request: &Request<'_>, name: &str, gate: &str, resource: &str) -> String {
    format!(
        "\
apiVersion: addons.cluster.x-k8s.io/v1beta2
kind: ClusterResourceSet
metadata:
  name: {name}
  namespace: {namespace}
spec:
  clusterSelector:
    matchLabels:
      {gate}: \"true\"
  resources:
  - kind: ConfigMap
    name: {resource}
  strategy: ApplyOnce
",
        namespace = scalar(request.namespace)
    )
}
