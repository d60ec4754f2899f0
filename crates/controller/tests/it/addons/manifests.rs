//! Manifests that stand in for those of Flux and Karpenter: the same kinds and names, and nothing inside.

/// Two controllers and two kinds, as `flux install --export` has them.
pub(crate) const FLUX: &str = r"
apiVersion: apps/v1
kind: Deployment
metadata: { name: source-controller, namespace: flux-system }
spec:
  selector: { matchLabels: { app: source-controller } }
  template:
    metadata: { labels: { app: source-controller } }
    spec: { containers: [{ name: manager, image: example.com/source-controller }] }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: helm-controller, namespace: flux-system }
spec:
  selector: { matchLabels: { app: helm-controller } }
  template:
    metadata: { labels: { app: helm-controller } }
    spec: { containers: [{ name: manager, image: example.com/helm-controller }] }
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: helmreleases.helm.toolkit.fluxcd.io }
spec:
  group: helm.toolkit.fluxcd.io
  names: { kind: HelmRelease, listKind: HelmReleaseList, plural: helmreleases, singular: helmrelease }
  scope: Namespaced
  versions:
  - name: v2
    served: true
    storage: true
    subresources: { status: {} }
    schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: ocirepositories.source.toolkit.fluxcd.io }
spec:
  group: source.toolkit.fluxcd.io
  names: { kind: OCIRepository, listKind: OCIRepositoryList, plural: ocirepositories, singular: ocirepository }
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: { status: {} }
    schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
---
apiVersion: v1
kind: Namespace
metadata: { name: flux-system }
";

/// A chart and its release, with values from the cluster's module.
pub(crate) const KARPENTER: &str = r#"
apiVersion: v1
kind: Namespace
metadata: { name: karpenter }
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: { name: karpenter, namespace: karpenter }
spec: { interval: 12h, url: "oci://example.com/karpenter", ref: { tag: "1.14.1" } }
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: { name: karpenter, namespace: karpenter }
spec:
  interval: 30m
  chartRef: { kind: OCIRepository, name: karpenter }
  valuesFrom:
  - { kind: Secret, name: connection, valuesKey: cluster_name, targetPath: settings.clusterName }
  - { kind: Secret, name: connection, valuesKey: cluster_endpoint, targetPath: settings.clusterEndpoint }
  - { kind: Secret, name: connection, valuesKey: queue, targetPath: settings.interruptionQueue }
"#;
