//! `capt addons init`: what a user sees. What is written is pinned in `capt-core`.

use std::fs;

use kube::api::DynamicObject;
use rstest::rstest;
use serde_json::Value;
use tempfile::TempDir;

use crate::validate::server;
use crate::{capt, printed, told};

/// Manifests in the shape of Flux's own, by hand.
const FLUX: &str = "\
apiVersion: v1
kind: Namespace
metadata: {name: flux-system, labels: {app.kubernetes.io/part-of: flux, app.kubernetes.io/version: v2.9.5}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: helmreleases.helm.toolkit.fluxcd.io}
spec: {versions: [{name: v2, served: true}]}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ocirepositories.source.toolkit.fluxcd.io}
spec: {versions: [{name: v1, served: true}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: source-controller, namespace: flux-system}
spec: {template: {spec: {containers: []}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: helm-controller, namespace: flux-system}
spec: {template: {spec: {containers: []}}}
";

const INIT: [&str; 6] = ["addons", "init", "--flux-manifests", "flux.yaml", "--karpenter-version", "1.14.1"];

fn directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("flux.yaml"), FLUX).unwrap();
    directory
}

#[rstest]
#[case::no_command(&["addons"], "Usage: capt addons")]
#[case::nothing(&["addons", "init"], "Usage: capt addons init")]
#[case::no_version(&["addons", "init", "--flux-manifests", "x"], "--karpenter-version <VERSION>")]
#[case::two_identities(&["addons", "init", "--flux-manifests", "x", "--karpenter-version", "1.14.1", "--irsa", "--pod-identity"], "cannot be used with")]
#[case::a_namespace_that_leads_elsewhere(&["addons", "init", "--flux-manifests", "x", "--karpenter-version", "1.14.1", "-n", "a/b"], "write a name of lower case letters")]
#[case::no_label(&["addons", "init", "--flux-manifests", "x", "--karpenter-version", "1.14.1", "--cluster-selector", "addons"], "write it as KEY=VALUE")]
#[case::a_label_without_a_value(&["addons", "init", "--flux-manifests", "x", "--karpenter-version", "1.14.1", "--cluster-selector", "addons="], "write a value")]
#[case::a_label_that_is_none(&["addons", "init", "--flux-manifests", "x", "--karpenter-version", "1.14.1", "--cluster-selector", "a b=c"], "cannot be the key of a label")]
#[case::no_version_of_flux(&["addons", "init", "--flux-manifests", "x", "--karpenter-version", "1.14.1", "--flux-version", "new"], "`new` is no version")]
fn bad_usage_is_told_and_ends_with_2(#[case] arguments: &[&str], #[case] message: &str) {
    let told = told(capt().args(arguments), 2);

    assert!(told.contains(message), "{told}");
}

#[rstest]
#[case(&["addons", "--help"])]
#[case(&["addons", "init", "--help"])]
fn every_help_has_examples(#[case] arguments: &[&str]) {
    let help = printed(capt().args(arguments));

    assert!(help.contains("Examples:\n"), "{help}");
}

#[test]
fn manifests_that_cannot_be_used_are_told_and_nothing_is_printed() {
    let directory = directory();
    fs::write(directory.path().join("flux.yaml"), FLUX.replace("name: helm-controller", "name: other"))
        .unwrap();

    let told = told(capt().current_dir(&directory).args(INIT), 1);

    assert_eq!(
        told,
        "error: the manifests of Flux have no Deployment `helm-controller`: give what `flux install \
         --components=source-controller,helm-controller --export` prints\n"
    );
}

#[test]
fn manifests_that_are_not_there_are_told() {
    let directory = tempfile::tempdir().unwrap();

    let told = told(capt().current_dir(&directory).args(INIT), 1);

    assert!(
        told.starts_with("error: reading what `flux install --export` printed from flux.yaml: No such file"),
        "{told}"
    );
}

#[test]
fn what_is_printed_can_be_validated() {
    let directory = directory();
    let mut command = capt();
    let output = command.current_dir(&directory).args(INIT).arg("--pod-identity").output().unwrap();

    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @r"
    Flux 2.9.5 and Karpenter 1.14.1 go together with Kubernetes 1.34 to 1.36
    source-controller and helm-controller of Flux run on no node with taints: where all first nodes have one (CriticalAddonsOnly is usual), export with `flux install --components=source-controller,helm-controller --export --toleration-keys=CriticalAddonsOnly`
    ");
    let mut command = capt();
    command.args(["validate", "--strict", "-f", "-"]).write_stdin(output.stdout);
    assert_eq!(printed(&mut command), "no problems in 1 file\n");
}

#[tokio::test]
async fn an_api_server_takes_every_field_of_it() {
    let cluster = server::cluster().await;
    let namespace = cluster.namespace("addons-init").await;
    for identity in ["--irsa", "--pod-identity"] {
        let directory = directory();
        let mut command = capt();
        command.current_dir(&directory).args(INIT).args([identity, "--namespace", &namespace]);
        let objects: Vec<DynamicObject> = serde_saphyr::from_multiple(&printed(&mut command)).unwrap();
        assert_eq!(objects.len(), 5);
        for object in &objects {
            server::dry_run(&cluster.client(), &namespace, object).await.unwrap();
        }
    }
}

#[test]
fn programs_get_a_list() {
    let directory = directory();
    let mut command = capt();
    command.current_dir(&directory).args(["--output", "json"]).args(INIT);

    let list: Value = serde_json::from_str(&printed(&mut command)).unwrap();

    let kinds: Vec<&str> =
        list["items"].as_array().unwrap().iter().filter_map(|item| item["kind"].as_str()).collect();
    assert_eq!(kinds, ["ConfigMap", "ClusterResourceSet", "ConfigMap", "ClusterResourceSet", "AddonStack"]);
}

#[test]
fn files_are_written_once_and_never_over_others() {
    let directory = directory();
    let init = |out: &str, version: &str| {
        let mut command = capt();
        let arguments =
            ["addons", "init", "--flux-manifests", "flux.yaml", "--karpenter-version", version, "--out", out];
        command.current_dir(&directory).args(arguments).output().unwrap()
    };

    assert_eq!(init("addons/", "1.14.1").status.code(), Some(0));
    assert_eq!(init("addons", "1.14.1").status.code(), Some(0), "the same again changes nothing");
    let mut names: Vec<_> = fs::read_dir(directory.path().join("addons"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["flux.yaml", "karpenter.yaml", "stack.yaml"]);

    let output = init("addons", "1.14.0");
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("addons/karpenter.yaml is there already, with something else in it"), "{told}");

    assert_eq!(init("all.yaml", "1.14.1").status.code(), Some(0));
    let mut command = capt();
    command.current_dir(&directory).args(["validate", "--strict", "-f", "addons", "-f", "all.yaml"]);
    assert_eq!(command.output().unwrap().status.code(), Some(1), "everything is there twice");
}
