//! What Karpenter comes by: the sources of its charts, and a release of each.

use super::super::block::Block;
use super::super::flux::Flux;
use super::super::{Identity, Request};
use super::{KARPENTER, KARPENTER_GATE, KarpenterTag, NAMESPACE, VALUES, config_map, knows, resource_set};
use crate::compatibility::{FeatureName, Version};

pub(super) fn file(request: &Request<'_>, flux: &Flux, karpenter: &KarpenterTag) -> String {
    let intro = "\
# Karpenter by two charts: the definitions of its kinds, and when they are there Karpenter itself. Two replicas need two nodes that
# are not Karpenter's own; on one node write `values: {replicas: 1}` into the second release.
";
    let set = "\
# Brings the above to each Cluster with the label karpenter.sh/enabled=true, which the stack sets when Flux is ready there.
";
    let manifests = manifests(request.identity, flux.version, karpenter);
    // It is our own text, without anything that a block cannot have.
    let text = Block::new(manifests)
        .map_or_else(|_| String::new(), |text| config_map(request, "karpenter", KARPENTER, &text));
    [intro, &text, "---\n", set, &resource_set(request, "karpenter", KARPENTER_GATE, "karpenter")].concat()
}

fn manifests(identity: Identity, flux: Version, karpenter: &KarpenterTag) -> String {
    [
        source("karpenter-crd", &karpenter.tag),
        source("karpenter", &karpenter.tag),
        definitions(flux),
        release(identity, flux),
    ]
    .join("---\n")
}

fn source(chart: &str, tag: &str) -> String {
    format!(
        "\
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata:
  name: {chart}
  namespace: {NAMESPACE}
spec:
  interval: 12h
  url: oci://public.ecr.aws/karpenter/{chart}
  ref:
    tag: \"{tag}\"
  layerSelector: # the chart as it is, for Helm
    mediaType: application/vnd.cncf.helm.chart.content.v1.tar+gzip
    operation: copy
"
    )
}

fn definitions(flux: Version) -> String {
    let retries = retries(flux);
    format!(
        "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: karpenter-crd
  namespace: {NAMESPACE}
spec:
  interval: 30m
  releaseName: karpenter-crd
  chartRef:
    kind: OCIRepository
    name: karpenter-crd
  # Tried again for ever: on a young cluster the first attempts may come before there are nodes.
  install:
{retries}
  upgrade:
{retries}
"
    )
}

fn release(identity: Identity, flux: Version) -> String {
    let retries = retries(flux);
    let values = values(identity, flux);
    format!(
        "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: karpenter
  namespace: {NAMESPACE}
spec:
  interval: 30m
  # The service account is called as the release, and the role in AWS trusts `{NAMESPACE}/karpenter`.
  releaseName: karpenter
  chartRef:
    kind: OCIRepository
    name: karpenter
  dependsOn:
  - name: karpenter-crd
  # The definitions are those of karpenter-crd.
  install:
    crds: Skip
{retries}
  upgrade:
    crds: Skip
{retries}
{values}"
    )
}

/// What makes Flux try again for ever, in the words that this Flux knows.
fn retries(flux: Version) -> &'static str {
    if knows(flux, FeatureName::RetryOnFailure) {
        "    strategy:\n      name: RetryOnFailure\n      retryInterval: 1m"
    } else {
        "    remediation:\n      retries: -1"
    }
}

fn values(identity: Identity, flux: Version) -> String {
    let literal = knows(flux, FeatureName::Literal);
    let head = if literal {
        "  # Outputs of the cluster's module, which CAPT keeps in this Secret; taken as texts, whatever they look like.\n"
    } else {
        "  # Outputs of the cluster's module, which CAPT keeps in this Secret, in quotes where Flux would read more than a text.\n"
    };
    let entry = |key: &str, path: &str, optional: bool| {
        let literal = if literal { "    literal: true\n" } else { "" };
        let optional = if optional { "    optional: true\n" } else { "" };
        format!(
            "  - kind: Secret\n    name: {VALUES}\n    valuesKey: {key}\n    targetPath: {path}\n{literal}{optional}"
        )
    };
    let mut text = format!("{head}  valuesFrom:\n");
    text += &entry("cluster_name", "settings.clusterName", false);
    text += &entry("cluster_endpoint", "settings.clusterEndpoint", false);
    text += &entry("karpenter_queue_name", "settings.interruptionQueue", true);
    match identity {
        Identity::Irsa => {
            // The dots of the annotation's key are part of it.
            text += &entry(
                "karpenter_iam_role_arn",
                r"serviceAccount.annotations.eks\.amazonaws\.com/role-arn",
                false,
            );
        }
        Identity::PodIdentity => {}
    }
    text
}
