use rstest::rstest;

use super::*;

fn good() -> String {
    flux("v2.9.5", "v2", "v1")
}

fn told(manifests: &str, karpenter: &str) -> String {
    stack(&request(manifests, karpenter, Identity::Irsa)).unwrap_err().to_string()
}

#[rstest]
#[case::nothing(
    "",
    "the manifests of Flux are empty: give what `flux install --components=source-controller,helm-controller --export` prints"
)]
#[case::blanks("\n \n", "the manifests of Flux are empty")]
#[case::no_yaml(
    "a: [",
    "the manifests of Flux cannot be used: ConfigMap `flux`, key `flux.yaml`, document 1, line 1: cannot be read as YAML"
)]
#[case::no_objects("a: b", "has no `apiVersion`")]
#[case::a_control_character("a: \u{1}", "the manifests of Flux have a control character in line 1")]
#[case::something_else(
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}",
    "the manifests of Flux have no CustomResourceDefinition `helmreleases.helm.toolkit.fluxcd.io`"
)]
fn manifests_that_are_none_of_flux(#[case] manifests: &str, #[case] expected: &str) {
    let told = told(manifests, "1.14.1");
    assert!(told.contains(expected), "{told}");
}

#[rstest]
#[case::no_definition(
    "helmreleases.helm.toolkit.fluxcd.io",
    "x.helm.toolkit.fluxcd.io",
    "have no CustomResourceDefinition `helmreleases.helm.toolkit.fluxcd.io`"
)]
#[case::no_controller(
    "name: helm-controller",
    "name: kustomize-controller",
    "have no Deployment `helm-controller`"
)]
#[case::not_served(
    "served: true",
    "served: false",
    "serve HelmRelease as nothing and not as v2, which the stack is written in: take Flux 2.3 or later"
)]
#[case::no_version(
    "app.kubernetes.io/version",
    "version",
    "do not tell their version (the label app.kubernetes.io/version): say it with --flux-version"
)]
#[case::a_version_that_is_none(
    "v2.9.5",
    "main",
    "do not tell their version (the label app.kubernetes.io/version): say it with --flux-version ("
)]
fn manifests_that_lack_something(#[case] from: &str, #[case] to: &str, #[case] expected: &str) {
    let told = told(&good().replace(from, to), "1.14.1");
    assert!(told.contains(expected), "{told}");
}

#[test]
fn flux_before_2_6_has_no_repositories_of_the_version_that_is_written() {
    let told = told(&flux("v2.5.1", "v2 v2beta2", "v1beta2"), "1.14.1");
    assert_eq!(
        told,
        "the manifests of Flux serve OCIRepository as v1beta2 and not as v1, which the stack is written in: take Flux 2.6 or later"
    );
}

#[test]
fn two_versions_of_flux_are_refused() {
    let manifests = good();
    let mut request = request(&manifests, "1.14.1", Identity::Irsa);
    request.flux_version = Some(Version::parse("2.8").unwrap());
    let told = stack(&request).unwrap_err().to_string();
    assert!(told.starts_with("the manifests are of Flux 2.9.5, and --flux-version says 2.8:"), "{told}");
}

#[rstest]
#[case::nothing("", "`` is no version of Karpenter's chart: write all three numbers, for example 1.14.1")]
#[case::two_numbers("1.14", "`1.14` is no version of Karpenter's chart")]
#[case::a_range("1.x", "`1.x` is no version of Karpenter's chart")]
#[case::an_injection("1.14.1\"\n    evil: x", "is no version of Karpenter's chart")]
#[case::too_old(
    "0.37.0",
    "Karpenter 0.37.0 has another chart than the one that this stack is written for: take 1.0 or later"
)]
#[case::one_to_avoid("1.8.4", "1.8.4")]
#[case::nothing_for_both("1.0.0", "there is none for both; take other versions")]
fn versions_of_karpenter(#[case] version: &str, #[case] expected: &str) {
    let told = told(&good(), version);
    assert!(told.contains(expected), "{told}");
}

#[test]
fn manifests_that_no_config_map_holds_are_refused_with_what_to_leave_out() {
    let label = "    app.kubernetes.io/component: kustomize-controller\n    app.kubernetes.io/component: helm-controller\n";
    let manifests = good() + &label.repeat(20_000);
    assert_eq!(
        told(&manifests, "1.14.1"),
        format!(
            "the manifests of Flux have {} bytes, and a ConfigMap holds 1,048,576: leave out kustomize-controller, which this \
             stack does not need, with `flux install --components=source-controller,helm-controller --export`",
            manifests.len()
        )
    );
}

#[test]
fn everything_is_told_at_once() {
    let Problems(problems) = stack(&request("a: [", "x", Identity::Irsa)).unwrap_err();
    assert_eq!(problems.len(), 2, "{problems:?}");
}
