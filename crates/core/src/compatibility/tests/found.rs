use rstest::rstest;
use serde_json::{Value, json};

use super::*;

/// An object of Flux with this label.
fn labelled(name: &str, version: &str) -> String {
    let object = json!({
        "apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": { "name": name, "labels": { "app.kubernetes.io/part-of": "flux", "app.kubernetes.io/version": version } },
    });
    format!("{object}\n---\n")
}

fn deployment(name: &str, image: &str) -> String {
    let object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": name, "namespace": "flux-system" },
        "spec": { "template": { "spec": { "containers": [{ "name": "manager", "image": image }] } } },
    });
    format!("{object}\n---\n")
}

fn repository(name: &str, reference: &Value) -> String {
    let object = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "OCIRepository",
        "metadata": { "name": name, "namespace": "kube-system" },
        "spec": { "url": format!("oci://registry.example/karpenter/{name}"), "ref": reference },
    });
    format!("{object}\n---\n")
}

fn release(chart: &str, version: &Value) -> String {
    let object = json!({
        "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
        "metadata": { "name": "karpenter", "namespace": "kube-system" },
        "spec": { "chart": { "spec": { "chart": chart, "version": version } } },
    });
    format!("{object}\n---\n")
}

fn doubts(found: &Found) -> Vec<String> {
    found.doubts.iter().map(ToString::to_string).collect()
}

#[test]
fn what_brings_neither_flux_nor_karpenter_tells_nothing() {
    let other = labelled("x", "v1").replace("\"flux\"", "\"something\"");
    let found = versions_in(&manifests(&(other + &release("podinfo", &json!("6.0.0")))));

    assert_eq!(found, Found::default());
}

#[rstest]
#[case::label(labelled("a", "v2.9.5") + &labelled("b", "v2.9.5"), "2.9.5")]
#[case::label_before_image(labelled("a", "v2.8.1") + &deployment("source-controller", "x/fluxcd/source-controller:v1.9.5"), "2.8.1")]
#[case::image(deployment("source-controller", "registry.example/fluxcd/source-controller:v1.9.0"), "2.9")]
#[case::image_with_a_port_and_a_digest(
    deployment("helm-controller", "localhost:5000/fluxcd/helm-controller:v1.5.5@sha256:abc"),
    "2.8"
)]
#[case::both_images(
    deployment("source-controller", "x/fluxcd/source-controller:v1.7.4") + &deployment("helm-controller", "x/fluxcd/helm-controller:v1.4.5"),
    "2.7"
)]
fn the_version_of_flux_is_read(#[case] text: String, #[case] expected: &str) {
    let found = versions_in(&manifests(&text));

    assert_eq!(doubts(&found), [""; 0]);
    assert_eq!(found.versions.flux, Some(version(expected)));
}

#[rstest]
#[case::two_labels(labelled("a", "v2.9.5") + &labelled("b", "v2.8.0"),
    "there are two versions of Flux: 2.9.5 by ServiceAccount `a`, and 2.8.0 by ServiceAccount `b`")]
#[case::two_images(
    deployment("source-controller", "x/fluxcd/source-controller:v1.9.5") + &deployment("helm-controller", "x/fluxcd/helm-controller:v1.4.5"),
    "there are two versions of Flux: 2.9 by Deployment `flux-system/source-controller`, and 2.7 by")]
#[case::no_version(
    labelled("a", "latest"),
    "ServiceAccount `a`: the label app.kubernetes.io/version `latest` does not tell"
)]
#[case::a_digest(
    deployment("source-controller", "x/fluxcd/source-controller@sha256:abc"),
    "the image `x/fluxcd/source-controller@sha256:abc` is of no version"
)]
#[case::a_newer_controller(
    deployment("source-controller", "x/fluxcd/source-controller:v1.10.1"),
    "is of no version of Flux that the table knows"
)]
#[case::a_long_image(deployment("source-controller", &format!("x/fluxcd/source-controller:{}", "9".repeat(1000))), "…`")]
fn a_flux_that_cannot_be_told_is_told(#[case] text: String, #[case] expected: &str) {
    let found = versions_in(&manifests(&text));

    assert_eq!(found.versions.flux, None);
    assert!(doubts(&found)[0].contains(expected), "{:?}", doubts(&found));
}

#[test]
fn controllers_of_others_are_not_those_of_flux() {
    let text = deployment("helm-controller", "rancher/helm-controller:v0.15.0");

    assert_eq!(versions_in(&manifests(&text)), Found::default());
}

#[rstest]
#[case::tag(repository("karpenter", &json!({ "tag": "1.14.1" })), "1.14.1")]
#[case::tag_with_a_v(repository("karpenter", &json!({ "tag": "v0.34.0" })), "0.34.0")]
#[case::exact_semver(repository("karpenter", &json!({ "semver": "1.14.1" })), "1.14.1")]
#[case::semver_before_tag(repository("karpenter", &json!({ "semver": "1.14.1", "tag": "1.13.0" })), "1.14.1")]
#[case::release(release("karpenter", &json!("1.6.2")), "1.6.2")]
#[case::chart(
    json!({ "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmChart", "metadata": { "name": "k" }, "spec": { "chart": "karpenter", "version": "1.9.0" } }).to_string(),
    "1.9.0"
)]
#[case::definitions_alone(repository("karpenter-crd", &json!({ "tag": "1.14.1" })), "1.14.1")]
#[case::both(repository("karpenter-crd", &json!({ "tag": "1.14.1" })) + &repository("karpenter", &json!({ "tag": "1.14.1" })), "1.14.1")]
fn the_version_of_karpenter_is_read(#[case] text: String, #[case] expected: &str) {
    let found = versions_in(&manifests(&text));

    assert_eq!(doubts(&found), [""; 0]);
    assert_eq!(found.versions.karpenter, Some(version(expected)));
}

#[rstest]
#[case::digest(repository("karpenter", &json!({ "digest": "sha256:abc", "tag": "1.14.1" })), "spec.ref.digest `sha256:abc` does not tell the version")]
#[case::range(repository("karpenter", &json!({ "semver": ">=1.0.0 <2.0.0" })), "spec.ref.semver `>=1.0.0 <2.0.0` is a range or no version")]
#[case::latest(repository("karpenter", &json!({ "tag": "latest" })), "spec.ref.tag `latest` is a range or no version")]
#[case::no_reference(repository("karpenter", &json!(null)), "spec.ref is missing, so that the newest one is taken")]
#[case::release_with_a_range(release("karpenter", &json!("1.x")), "spec.chart.spec.version `1.x` is a range or no version")]
#[case::release_without_version(release("karpenter", &json!(null)), "spec.chart.spec.version is missing")]
#[case::a_placeholder(release("karpenter", &json!("${KARPENTER_VERSION}")), "`${KARPENTER_VERSION}` is a range or no version")]
#[case::not_even_text(release("karpenter", &json!(["1.14.1"])), "spec.chart.spec.version is missing")]
#[case::two(
    repository("karpenter", &json!({ "tag": "1.14.1" })) + &release("karpenter", &json!("1.13.0")),
    "there are two versions of Karpenter: 1.14.1 by OCIRepository `kube-system/karpenter`, and 1.13.0 by HelmRelease `kube-system/karpenter`"
)]
fn a_karpenter_that_cannot_be_told_is_told(#[case] text: String, #[case] expected: &str) {
    let found = versions_in(&manifests(&text));

    assert_eq!(found.versions.karpenter, None);
    assert!(doubts(&found)[0].contains(expected), "{:?}", doubts(&found));
}

#[test]
fn definitions_of_another_version_are_told_beside_the_version() {
    let text = repository("karpenter-crd", &json!({ "tag": "1.13.0" }))
        + &repository("karpenter", &json!({ "tag": "1.14.1" }));
    let found = versions_in(&manifests(&text));

    assert_eq!(found.versions.karpenter, Some(version("1.14.1")));
    assert!(doubts(&found)[0].starts_with("there are two versions of Karpenter: 1.14.1 by"), "{found:?}");
}

#[test]
fn of_a_secret_only_the_place_is_told() {
    let text = repository("karpenter", &json!({ "tag": "hunter2" }));
    let found = versions_in(&manifests_of(ResourceKind::Secret, &text));

    let told = doubts(&found).concat();
    assert!(
        told.starts_with("Secret `stack`, key `all.yaml`, document 1: spec.ref.tag is a range"),
        "{told}"
    );
    assert!(!told.contains("hunter2") && !told.contains("kube-system"), "{told}");
}
