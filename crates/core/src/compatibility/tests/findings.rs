use rstest::rstest;

use super::*;

const STACK: &str = "
apiVersion: v1
kind: Namespace
metadata:
  name: flux-system
  labels: { app.kubernetes.io/part-of: flux, app.kubernetes.io/version: v2.8.8 }
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: { name: karpenter, namespace: kube-system }
spec: { url: oci://registry.example/karpenter/karpenter, ref: { tag: 1.9.0 } }
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: { name: karpenter, namespace: kube-system }
spec:
  chartRef: { kind: OCIRepository, name: karpenter }
  install: { strategy: { name: RetryOnFailure } }
";

/// How bad each is, and the message.
fn told(text: &str, kubernetes: Option<&str>) -> Vec<(Severity, String)> {
    let findings = findings(&manifests(text), kubernetes).into_iter();
    findings.map(|finding| (finding.severity, finding.message)).collect()
}

#[rstest]
#[case::all_is_well(STACK, Some("v1.34.2-eks-3abbec1"))]
#[case::nobody_knows_kubernetes(STACK, None)]
#[case::nothing_that_has_a_version("", Some("1.99"))]
#[case::nothing_and_no_version("", Some("banana"))]
fn where_all_is_well_there_is_nothing_to_tell(#[case] text: &str, #[case] kubernetes: Option<&str>) {
    assert_eq!(told(text, kubernetes), []);
}

#[rstest]
#[case::kubernetes_too_new(STACK.to_owned(), "1.36", Severity::Error, "Flux 2.8.8 supports Kubernetes 1.33 to 1.35 and not 1.36")]
#[case::kubernetes_too_old(STACK.to_owned(), "1.32", Severity::Error, "Kubernetes goes before Flux, one minor version at a time: Kubernetes from 1.32 to 1.33, then Flux")]
#[case::to_be_avoided(STACK.replace("1.9.0", "1.8.4"), "1.34", Severity::Error, "Karpenter 1.8.4 is not to be used")]
#[case::not_served(STACK.replace("toolkit.fluxcd.io/v2\n", "toolkit.fluxcd.io/v2beta2\n"), "1.34", Severity::Error,
    "HelmRelease `kube-system/karpenter` has an apiVersion that Flux 2.8 does not serve: write helm.toolkit.fluxcd.io/v2")]
#[case::not_served_yet(STACK.replace("v2.8.8", "v2.5.1"), "1.32", Severity::Error,
    "OCIRepository `kube-system/karpenter` has an apiVersion that Flux 2.5 does not serve: write source.toolkit.fluxcd.io/v1beta2")]
#[case::not_known_yet(STACK.replace("v2.8.8", "v2.6.4"), "1.33", Severity::Error,
    "has the strategy `RetryOnFailure`, which Flux 2.6 does not know: take Flux 2.7 to 2.9, or leave it out")]
#[case::literal(format!("{STACK}  valuesFrom: [{{ kind: Secret, name: x, targetPath: a, literal: true }}]\n"), "1.34", Severity::Error,
    "has `literal` in spec.valuesFrom, which Flux 2.8 does not know: take Flux 2.9, or leave it out")]
#[case::a_newer_flux(STACK.replace("v2.8.8", "v2.10.0"), "1.34", Severity::Warning, "Flux 2.10.0 is newer than what the table")]
#[case::a_range(STACK.replace("tag: 1.9.0", "semver: 1.x"), "1.34", Severity::Warning, "spec.ref.semver `1.x` is a range or no version")]
#[case::end_of_support(STACK.replace("v2.8.8", "v2.6.4"), "1.33", Severity::Warning, "the support of Flux 2.6 ended when Flux 2.9 came out")]
#[case::no_version(STACK.to_owned(), "banana", Severity::Warning, "the version of Kubernetes is not known: `banana` is no version")]
fn what_is_wrong_is_told_with_what_to_do(
    #[case] text: String,
    #[case] kubernetes: &str,
    #[case] severity: Severity,
    #[case] expected: &str,
) {
    let told = told(&text, Some(kubernetes));

    assert!(
        told.iter().any(|(found, message)| *found == severity && message.contains(expected)),
        "{told:#?}"
    );
    assert!(told.is_sorted_by_key(|(severity, _)| std::cmp::Reverse(*severity)), "{told:#?}");
}
