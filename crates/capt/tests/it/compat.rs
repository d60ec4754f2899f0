//! `capt compat`: the table, judgements and the order of upgrades.

use std::fs;
use std::process::Output;

use capt_api::crd::{Foreign, foreign, own};
use capt_api::{AddonStack, CAPTControlPlane, Cluster, ClusterResourceSet};
use capt_testkit::TestCluster;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{CustomResourceExt, ResourceExt};
use rstest::rstest;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{capt, printed, told};

const STACK: &str = "\
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
";

/// What a check printed, and how it ended.
fn checked(arguments: &[&str]) -> (Option<i32>, Value, String) {
    let mut command = capt();
    command.args(["--output", "json", "compat", "check", "--date", "2026-11-15"]).args(arguments);
    ended(&command.output().unwrap())
}

fn ended(Output { status, stdout, stderr }: &Output) -> (Option<i32>, Value, String) {
    let printed = serde_json::from_slice(stdout).unwrap_or_default();
    (status.code(), printed, String::from_utf8_lossy(stderr).into_owned())
}

fn written(name: &str, text: &str) -> (TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    fs::write(&path, text).unwrap();
    (directory, path.display().to_string())
}

#[rstest]
#[case::nothing_to_check(&["check"], "Usage: capt compat check")]
#[case::no_version(&["check", "--kubernetes", "banana"], "`banana` is no version: write it as for example 1.34")]
#[case::a_huge_version(&["check", "--flux", "2.99999999999999999999"], "is no version")]
#[case::a_range(&["check", "--karpenter", "1.x"], "`1.x` is no version")]
#[case::a_major_version(&["check", "--kubernetes", "1"], "`1` is no version")]
#[case::a_cluster_that_leads_elsewhere(&["check", "--cluster", "../x"], "as names of objects are")]
#[case::a_namespace_that_leads_elsewhere(&["check", "--cluster", "x", "-n", "a/b"], "as names of namespaces are")]
#[case::a_namespace_of_nothing(&["check", "--kubernetes", "1.34", "-n", "a"], "--cluster <NAME>")]
#[case::no_day(&["check", "--kubernetes", "1.34", "--date", "tomorrow"], "write a day as for example 2027-01-31")]
#[case::files_and_a_cluster(&["check", "--cluster", "x", "-f", "y"], "cannot be used with")]
#[case::no_way(&["path"], "Usage: capt compat path")]
#[case::no_end(&["path", "--from", "kubernetes=1.33"], "--to <VERSIONS>")]
#[case::an_unknown_product(&["path", "--from", "k8s=1.33", "--to", "k8s=1.34"], "write it as for example kubernetes=1.34,flux=2.9")]
#[case::a_product_twice(&["path", "--from", "flux=2.7,flux=2.8", "--to", "flux=2.9"], "flux is there twice")]
#[case::helm_by_itself(&["path", "--from", "kubernetes=1.34,helm=3", "--to", "helm=4"], "helm comes with Flux")]
#[case::a_product_without_a_version(&["path", "--from", "kubernetes=", "--to", "kubernetes=1.34"], "`` is no version")]
#[case::an_unknown_command(&["chekc"], "similar subcommand exists: 'check'")]
fn bad_usage_is_told_and_ends_with_2(#[case] arguments: &[&str], #[case] message: &str) {
    let told = told(capt().arg("compat").args(arguments), 2);

    assert!(told.contains(message), "{told}");
}

#[rstest]
#[case(&["compat", "--help"])]
#[case(&["compat", "check", "--help"])]
#[case(&["compat", "path", "--help"])]
fn help_has_examples_and_exit_codes(#[case] arguments: &[&str]) {
    let help = printed(capt().args(arguments));

    assert!(help.contains("Examples:\n  capt compat"), "{help}");
    assert!(help.contains("Exit codes: 0 "), "{help}");
}

#[test]
fn the_table_is_printed_for_people() {
    insta::assert_snapshot!(printed(capt().arg("compat")), @r#"
    Versions that go together, as of 2026-11-15

    KUBERNETES  FLUX        KARPENTER                     ON EKS SINCE  STANDARD SUPPORT ENDS  EXTENDED SUPPORT ENDS  SOURCES
    1.30        2.3 to 2.5  1.0 to 1.14, but not 1.8.4    2024-05-23    2025-07-23             2026-07-23             eks
    1.31        2.4 to 2.6  1.0.5 to 1.14, but not 1.8.4  2024-09-26    2025-11-26             2026-11-26             eks
    1.32        2.5 to 2.7  1.2 to 1.14, but not 1.8.4    2025-01-23    2026-03-23             2027-03-23             eks
    1.33        2.6 to 2.8  1.5 to 1.14, but not 1.8.4    2025-05-29    2026-07-29             2027-07-29             eks
    1.34        2.7 to 2.9  1.6 to 1.14, but not 1.8.4    2025-10-02    2026-12-02             2027-12-02             eks
    1.35        2.8 or 2.9  1.9 to 1.14                   2026-01-28    2027-03-27             2028-03-27             endoflife
    1.36        2.9         1.13 or 1.14                  -             -                      -                      guide, matrix

    FLUX  KUBERNETES    FLUX CHECK ASKS FOR  SUPPORT       SOURCES
    2.3   1.28 to 1.30  1.28 or newer        ended by 2.6  announcement, check, install, helm
    2.4   1.29 to 1.31  1.28 or newer        ended by 2.7  announcement, check, install, helm
    2.5   1.30 to 1.32  1.30 or newer        ended by 2.8  announcement, check, install, helm
    2.6   1.31 to 1.33  1.31 or newer        ended by 2.9  announcement, check, install, helm
    2.7   1.32 to 1.34  1.32 or newer        yes           announcement, check, install, helm
    2.8   1.33 to 1.35  1.33 or newer        yes           announcement, check, install, helm
    2.9   1.34 to 1.36  1.33 or newer        yes           announcement, check, install, helm

    FLUX   SOURCE-CONTROLLER  HELM-CONTROLLER  HELM    HELMRELEASE           OCIREPOSITORY
    2.3.0  1.3.0              1.0.1            3.14.4  v2, v2beta2, v2beta1  v1beta2
    2.4.0  1.4.1              1.1.0            3.16.1  v2, v2beta2, v2beta1  v1beta2
    2.5.1  1.5.0              1.2.0            3.17.1  v2, v2beta2, v2beta1  v1beta2
    2.6.4  1.6.2              1.3.0            3.17.3  v2, v2beta2, v2beta1  v1, v1beta2
    2.7.5  1.7.4              1.4.5            3.19.2  v2, v2beta2           v1, v1beta2
    2.8.8  1.8.5              1.5.5            4.2.0   v2                    v1
    2.9.5  1.9.5              1.6.4            4.2.4   v2                    v1

    HELM  FLUX
    3     2.3 to 2.7
    4     2.8 or 2.9

    FEATURE           FLUX          WHAT IT IS                                                                                                             SOURCES
    watch-label       2.7 or newer  Secrets and ConfigMaps with the label reconcile.fluxcd.io/watch=Enabled are looked at as soon as they change           values
    retry-on-failure  2.7 or newer  install.strategy and upgrade.strategy with the name RetryOnFailure: a HelmRelease that failed is tried again for ever  values
    literal           2.9 or newer  valuesFrom with literal: true: the value is a text and is not read as an argument of helm --set                        values

    KARPENTER FROM  KUBERNETES    RELEASED    SOURCES
    1.0.0           1.25 to 1.30  2024-08-14  matrix
    1.0.5           1.25 to 1.31  -           matrix
    1.1.0           1.25 to 1.31  2024-11-30  matrix
    1.2.0           1.25 to 1.32  2025-01-28  matrix
    1.3.0           1.25 to 1.32  2025-03-04  matrix
    1.4.0           1.25 to 1.32  2025-04-16  matrix
    1.5.0           1.26 to 1.33  2025-05-23  matrix
    1.6.0           1.26 to 1.34  2025-07-14  matrix
    1.7.0           1.26 to 1.34  2025-09-15  matrix
    1.8.0           1.26 to 1.34  2025-10-08  matrix
    1.9.0           1.26 to 1.35  2026-02-06  matrix
    1.10.0          1.26 to 1.35  2026-03-20  matrix
    1.11.0          1.26 to 1.35  2026-04-06  matrix
    1.12.0          1.26 to 1.35  2026-04-24  matrix
    1.13.0          1.26 to 1.36  2026-06-10  matrix
    1.14.0          1.26 to 1.36  2026-07-10  matrix

    KARPENTER  WHY                                SOURCES
    1.8.4      it has a regression in scheduling  regression

    SOURCE        DOCUMENT                                                                          VERSION
    announcement  Flux release announcements, section "Supported versions"                          2.3 to 2.9
    check         fluxcd/flux2, cmd/flux/check.go                                                   the tag of each release
    eks           Amazon EKS user guide, Kubernetes release calendar                                late 2025
    endoflife     endoflife.date, Amazon EKS                                                        February 2026
    guide         Karpenter documentation, getting started                                          1.14.1 (2026-08-20)
    helm          fluxcd/helm-controller, go.mod                                                    the tag of each release; for Flux 2.9 v1.6.3, which takes v4.2.4-flux.1 of fluxcd/helm
    install       fluxcd/flux2, manifests of the release, and the changelogs of its controllers     the tag of each release
    matrix        aws/karpenter-provider-aws, hack/docs/compatibilitymatrix_gen/compatibility.yaml  2026-08-21
    regression    kubernetes-sigs/karpenter, issues                                                 2785
    values        fluxcd/helm-controller, changelog and custom resource definitions                 v1.4.0, v1.6.3
    "#);
}

#[test]
fn programs_get_the_same_table() {
    let json: Value = serde_json::from_str(&printed(capt().args(["compat", "--output", "json"]))).unwrap();
    let yaml: Value = serde_saphyr::from_str(&printed(capt().args(["compat", "--output", "yaml"]))).unwrap();

    assert_eq!(json, yaml);
    assert_eq!(json["flux"][6]["minor"], "2.9");
    assert!(json["karpenter"].as_array().unwrap().iter().all(|row| row["sources"][0].is_string()));
}

#[test]
fn versions_that_go_together_end_with_0() {
    let text =
        printed(capt().args(["compat", "check", "--kubernetes", "v1.36.0-eks-abc", "--flux", "2.9.5"]));

    insta::assert_snapshot!(text, @"
    Kubernetes 1.36.0, Flux 2.9.5:
      Supported     Kubernetes 1.36 is in the table; until when EKS supports it is not known
      Supported     Flux 2.9.5 supports Kubernetes 1.34 to 1.36
    by the table of 2026-11-15
    ");
}

#[test]
fn versions_that_do_not_go_together_end_with_1() {
    let (code, printed, told) = checked(&["--kubernetes", "1.36", "--flux", "2.7", "--karpenter", "1.14.1"]);

    assert_eq!(code, Some(1));
    assert_eq!(told, "error: not everything is known to go together\n");
    assert_eq!(printed["supported"], false);
    let verdicts: Vec<_> =
        printed["judgements"].as_array().unwrap().iter().map(|one| &one["verdict"]).collect();
    assert_eq!(verdicts, ["Supported", "Outside", "Supported"]);
}

#[test]
fn versions_are_read_from_files() {
    let (_directory, path) = written("stack.yaml", STACK);

    let (code, printed, told) = checked(&["--kubernetes", "1.35", "-f", &path]);
    assert_eq!((code, told.as_str()), (Some(0), ""));
    assert_eq!(printed["versions"], json!({ "kubernetes": "1.35", "flux": "2.8.8", "karpenter": "1.9.0" }));

    // What is given counts before what is read.
    let (code, printed, _) = checked(&["--kubernetes", "1.35", "--karpenter", "1.6", "-f", &path]);
    assert_eq!(code, Some(1));
    assert_eq!(printed["versions"]["karpenter"], "1.6");
}

#[test]
fn versions_are_read_from_standard_input() {
    let mut command = capt();
    command
        .args(["compat", "check", "--kubernetes", "1.35", "--date", "2026-11-15", "-f", "-"])
        .write_stdin(STACK);

    insta::assert_snapshot!(printed(&mut command), @"
    Kubernetes 1.35, Flux 2.8.8, Karpenter 1.9.0:
      Supported     EKS supports Kubernetes 1.35 until 2027-03-27, and with extended support until 2028-03-27
      Supported     Flux 2.8.8 supports Kubernetes 1.33 to 1.35
      Supported     Karpenter 1.9.0 supports Kubernetes 1.26 to 1.35
    by the table of 2026-11-15
    ");
}

#[test]
fn what_a_file_does_not_tell_is_told() {
    let (_directory, path) = written("stack.yaml", &STACK.replace("tag: 1.9.0", "semver: 1.x"));

    let (code, printed, _) = checked(&["--kubernetes", "1.35", "-f", &path]);

    assert_eq!(code, Some(1));
    let doubt = printed["doubts"][0].as_str().unwrap();
    assert!(
        doubt.starts_with("OCIRepository `kube-system/karpenter`: spec.ref.semver `1.x` is a range"),
        "{doubt}"
    );
    // Whoever knows it can say so.
    let (code, _, told) = checked(&["--kubernetes", "1.35", "--karpenter", "1.12", "-f", &path]);
    assert_eq!(code, Some(0), "{told}");
}

#[test]
fn a_file_that_cannot_be_used_is_told() {
    let (_directory, path) = written("stack.yaml", "a: [");

    let (code, _, told) = checked(&["-f", &path]);
    assert_eq!(code, Some(1));
    assert!(
        told.starts_with(&format!("error: {path}, document 1, line 1: cannot be read as YAML")),
        "{told}"
    );

    let (code, _, told) = checked(&["-f", "/nowhere/at/all"]);
    assert_eq!(code, Some(1));
    assert!(told.starts_with("error: reading /nowhere/at/all: "), "{told}");
}

#[test]
fn files_without_versions_are_told() {
    let (_directory, path) =
        written("stack.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: { name: x }\n");

    let (code, _, told) = checked(&["-f", &path]);

    assert_eq!(code, Some(1));
    assert!(told.starts_with("error: no version was found: give one"), "{told}");
}

#[test]
fn the_order_of_upgrades_is_printed() {
    let arguments =
        ["compat", "path", "--from", "kubernetes=1.33,flux=2.7,karpenter=1.6", "--to", "kubernetes=1.36"];

    insta::assert_snapshot!(printed(capt().args(arguments)), @"
    Kubernetes 1.33, Flux 2.7, Karpenter 1.6:
    1. Karpenter from 1.6 to 1.14
    2. Kubernetes from 1.33 to 1.34
    3. Flux from 2.7 to 2.9
       Flux 2.9 serves no HelmRelease v2beta2 any more: write v2 before
       Flux 2.9 serves no OCIRepository v1beta2 any more: write v1 before
       charts are installed by Helm 4 from then on, and no longer by Helm 3
    4. Kubernetes from 1.34 to 1.35
    5. Kubernetes from 1.35 to 1.36
    by the table of 2026-11-15
    ");
}

#[test]
fn a_way_that_is_not_supported_ends_with_1() {
    let arguments = ["compat", "path", "--from", "kubernetes=1.33,flux=2.8", "--to", "flux=2.9"];
    let output = capt().args(arguments).assert().code(1).get_output().clone();

    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap(), @"
    Kubernetes 1.33, Flux 2.8:
    1. Flux from 2.8 to 2.9
       not supported: Flux 2.9 supports Kubernetes 1.34 to 1.36 and not 1.33
    by the table of 2026-11-15
    ");
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .starts_with("error: no way there is supported in every state")
    );
}

#[test]
fn a_way_that_the_table_does_not_know_ends_with_1() {
    let told =
        told(capt().args(["compat", "path", "--from", "kubernetes=1.36", "--to", "kubernetes=1.40"]), 1);

    assert_eq!(told, "error: Kubernetes 1.40 is not in the table, which has 1.30 to 1.36\n");
}

/// A namespace with a Cluster of which all is known.
struct Stage {
    namespace: String,
    directory: TempDir,
}

impl Stage {
    async fn set() -> Self {
        let cluster = TestCluster::shared().await;
        let mut definitions = own();
        definitions.extend(foreign(Foreign::ClusterApi));
        let kinds = [
            AddonStack::crd_name(),
            CAPTControlPlane::crd_name(),
            Cluster::crd_name(),
            ClusterResourceSet::crd_name(),
        ];
        definitions.retain(|definition| kinds.contains(&definition.name_any().as_str()));
        cluster.apply_crds(&definitions).await;
        let namespace = cluster.namespace("compat").await;
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("kubeconfig"), cluster.control_plane().kubeconfig()).unwrap();
        let stage = Self { namespace, directory };
        stage
            .make::<ConfigMap>(json!({ "metadata": { "name": "flux" }, "data": { "all.yaml": STACK } }))
            .await;
        let reference = json!({ "apiGroup": "controlplane.cluster.x-k8s.io", "kind": "CAPTControlPlane", "name": "prod" });
        stage
            .make::<Cluster>(json!({
                "metadata": { "name": "prod", "labels": { "addons": "base" } },
                "spec": { "controlPlaneRef": reference },
            }))
            .await;
        stage
            .make::<CAPTControlPlane>(json!({
                "metadata": { "name": "prod" },
                "spec": { "version": "v1.34.1", "workspaceTemplateRef": { "name": "eks" } },
            }))
            .await;
        stage
            .make::<AddonStack>(json!({
                "metadata": { "name": "base" },
                "spec": {
                    "clusterSelector": { "matchLabels": { "addons": "base" } },
                    "addons": [{ "name": "flux", "resources": [{ "kind": "ConfigMap", "name": "flux" }] }],
                },
            }))
            .await;
        stage
    }

    fn api<Kind>(&self, cluster: &TestCluster) -> Api<Kind>
    where
        Kind: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope>,
        Kind::DynamicType: Default,
    {
        Api::namespaced(cluster.client(), &self.namespace)
    }

    async fn make<Kind>(&self, mut object: Value)
    where
        Kind: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope>
            + serde::Serialize
            + DeserializeOwned
            + Clone
            + std::fmt::Debug,
        Kind::DynamicType: Default,
    {
        let kind = Kind::DynamicType::default();
        object["apiVersion"] = Kind::api_version(&kind).into();
        object["kind"] = Kind::kind(&kind).into();
        let object: Kind = serde_json::from_value(object).unwrap();
        let api = self.api::<Kind>(TestCluster::shared().await);
        api.create(&PostParams::default(), &object).await.unwrap();
    }

    async fn check(&self, arguments: &[&str]) -> (Option<i32>, Value, String) {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_capt"));
        command.args(["--output", "json", "compat", "check", "--date", "2026-11-15"]).args(arguments);
        command.args(["--namespace", &self.namespace]);
        command.arg("--kubeconfig").arg(self.directory.path().join("kubeconfig"));
        ended(&tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap())
    }
}

#[tokio::test]
async fn a_cluster_is_judged_by_what_it_runs_and_what_its_stacks_bring() {
    let stage = Stage::set().await;

    let (code, printed, told) = stage.check(&["--cluster", "prod"]).await;
    assert_eq!((code, told.as_str()), (Some(0), ""));
    assert_eq!(printed["versions"], json!({ "kubernetes": "1.34.1", "flux": "2.8.8", "karpenter": "1.9.0" }));

    // What runs counts before what was asked for.
    let clusters: Api<Cluster> = stage.api(TestCluster::shared().await);
    let status = json!({ "status": { "controlPlane": { "versions": [{ "version": "v1.35.1" }, { "version": "v1.36.0" }] } } });
    clusters.patch_status("prod", &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
    let (code, printed, told) = stage.check(&["--cluster", "prod"]).await;
    assert_eq!((code, told.as_str()), (Some(1), "error: not everything is known to go together\n"));
    assert_eq!(printed["versions"]["kubernetes"], "1.36.0");

    // And what is given counts before both.
    let (code, _, told) = stage.check(&["--cluster", "prod", "--kubernetes", "1.35"]).await;
    assert_eq!(code, Some(0), "{told}");
}

#[tokio::test]
async fn what_is_missing_of_a_cluster_is_told() {
    let stage = Stage::set().await;

    let (code, _, told) = stage.check(&["--cluster", "nowhere"]).await;
    assert_eq!(code, Some(1));
    assert_eq!(told, format!("error: there is no Cluster `nowhere` in the namespace {}\n", stage.namespace));

    stage.make::<Cluster>(json!({ "metadata": { "name": "bare" }, "spec": {} })).await;
    let (code, printed, told) = stage.check(&["--cluster", "bare"]).await;
    assert_eq!(code, Some(1));
    assert!(told.contains("warning: no AddonStack selects Cluster `bare`"), "{told}");
    let doubt = printed["doubts"][0].as_str().unwrap();
    assert!(doubt.starts_with("which Kubernetes Cluster `bare` runs is not known"), "{doubt}");

    let maps: Api<ConfigMap> = stage.api(TestCluster::shared().await);
    maps.delete("flux", &kube::api::DeleteParams::default()).await.unwrap();
    let (code, printed, _) = stage.check(&["--cluster", "prod"]).await;
    assert_eq!(code, Some(1));
    assert_eq!(
        printed["doubts"],
        json!(["ConfigMap `flux` is not there, or not of a type that holds manifests"])
    );
}
