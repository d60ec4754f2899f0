//! The stack: the order, what is waited for, and the values.

use super::super::flux::{CONTROLLERS, Flux, KINDS};
use super::super::{Identity, Request};
use super::{FLUX_GATE, KARPENTER_GATE, NAMESPACE, VALUES, scalar};

pub(super) fn file(request: &Request<'_>, flux: &Flux) -> String {
    let Request { namespace, selector: (key, value), identity, .. } = *request;
    let (readiness, values) = (readiness(flux), values(identity));
    let [namespace, selected] = [namespace, key].map(scalar);
    format!(
        "\
# The order: Flux, and when it is ready Karpenter, in each Cluster that has the label:
#   kubectl label cluster NAME {key}={value}
apiVersion: addons.cluster.x-k8s.io/v1alpha1
kind: AddonStack
metadata:
  name: base
  namespace: {namespace}
spec:
  clusterSelector:
    matchLabels:
      {selected}: \"{value}\"
  addons:
  - name: flux
    gateLabel: {FLUX_GATE}
    readiness:
{readiness}
  - name: karpenter
    dependsOn: [flux]
    gateLabel: {KARPENTER_GATE}
{values}
    readiness:
    - apiVersion: helm.toolkit.fluxcd.io/v2
      kind: HelmRelease
      namespace: {NAMESPACE}
      name: karpenter-crd
    - apiVersion: helm.toolkit.fluxcd.io/v2
      kind: HelmRelease
      namespace: {NAMESPACE}
      name: karpenter
"
    )
}

/// Flux is ready when its kinds can be used and its controllers run.
fn readiness(flux: &Flux) -> String {
    let definitions = KINDS.into_iter().map(|(name, ..)| {
        format!("    - apiVersion: apiextensions.k8s.io/v1\n      kind: CustomResourceDefinition\n      name: {name}")
    });
    let controllers = CONTROLLERS.into_iter().map(|name| {
        let namespace = scalar(&flux.namespace);
        format!("    - apiVersion: apps/v1\n      kind: Deployment\n      namespace: {namespace}\n      name: {name}")
    });
    definitions.chain(controllers).collect::<Vec<_>>().join("\n")
}

fn values(identity: Identity) -> String {
    const COMMON: &str = "    # The module has to give these outputs; the queue may be missing.";
    let (rights, role) = match identity {
        Identity::Irsa => {
            (" The role has to trust kube-system/karpenter.", "\n      - output: karpenter_iam_role_arn")
        }
        Identity::PodIdentity => (
            " It also has to associate the role of Karpenter with\n    \
             # the service account kube-system/karpenter, and to have the add-on eks-pod-identity-agent.",
            "",
        ),
    };
    format!(
        "\
{COMMON}{rights}
    values:
    - name: {VALUES}
      namespace: {NAMESPACE}
      keys:
      - output: cluster_name
      - output: cluster_endpoint
      - output: karpenter_queue_name
        optional: true{role}"
    )
}
