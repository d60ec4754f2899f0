use rstest::rstest;

use super::super::other_tools::{OtherTool, other_tools};
use super::*;

const OBJECT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

fn tools(files: &[(&'static str, &'static str)]) -> Vec<Option<OtherTool>> {
    let files: Vec<File<'_>> = files.iter().map(|(name, text)| File { name, text }).collect();
    assert!(told(&files).is_empty(), "{:?}", told(&files));
    other_tools(&files)
}

#[rstest]
#[case::without_a_kind("kustomization.yaml", "resources: [a.yaml]\nnamespace: team\n")]
#[case::with_a_kind(
    "dir/kustomization.yml",
    "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n"
)]
#[case::without_an_extension("../Kustomization", "resources:\n- a.yaml\n")]
#[case::empty("kustomization.yaml", "")]
fn a_kustomization_is_no_broken_object(#[case] name: &'static str, #[case] text: &'static str) {
    assert_eq!(tools(&[(name, text)]), [Some(OtherTool::Kustomize)]);
}

#[test]
fn what_a_kustomization_takes_in_is_no_manifest_but_its_resources_are() {
    let kustomization = "\
resources: [a.yaml]
patches:
- path: patches/replicas.yaml
  target: {kind: Deployment}
- patch: |-
    - op: remove
      path: /spec
patchesStrategicMerge: [./merge.yaml]
configMapGenerator:
- name: generated
  files: [flux.yaml=../files/flux.yaml, plain.yaml]
helmCharts:
- {name: x, valuesFile: my.yaml}
";
    let patch = "- op: replace\n  path: /spec/replicas\n  value: 2\n";
    let found = tools(&[
        ("./base/kustomization.yaml", kustomization),
        ("base/a.yaml", OBJECT),
        ("base/patches/replicas.yaml", patch),
        ("base/merge.yaml", "spec: {replicas: 3}\n"),
        ("files/flux.yaml", "anything: here\n"),
        ("base/plain.yaml", "a: b\n"),
        ("base/my.yaml", "image: {tag: x}\n"),
    ]);
    let input = Some(OtherTool::KustomizeInput);
    assert_eq!(found, [Some(OtherTool::Kustomize), None, input, input, input, input, input]);
}

#[test]
fn a_chart_and_values_for_one_are_left_to_helm() {
    let found = tools(&[
        ("chart/Chart.yaml", "apiVersion: v2\nname: x\nversion: 0.1.0\n"),
        ("chart/templates/a.yaml", "{{- if .Values.x }}\nkind: {{ .Values.kind }}\n{{- end }}\n"),
        ("chart/values.yaml", "x: true\n"),
        ("clusters/values-production.yaml", "x: true\n"),
        ("clusters/a.yaml", OBJECT),
    ]);
    let helm = Some(OtherTool::Helm);
    assert_eq!(found, [helm, helm, helm, helm, None]);
}

#[test]
fn an_object_in_a_file_of_that_name_is_validated_all_the_same() {
    let broken =
        "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: CAPTCluster\nmetadata: {name: a}\n";
    let told = told(&[File { name: "values.yaml", text: broken }]);
    assert!(!told.is_empty());
}

#[test]
fn a_kustomization_that_is_no_yaml_is_broken_and_so_is_any_other_file() {
    let told = told(&[
        File { name: "kustomization.yaml", text: "resources: [\n" },
        File { name: "b.yaml", text: "a: [\n" },
        File { name: "c.yaml", text: "resources: [a.yaml]\n" },
    ]);
    let files: Vec<&str> = told.iter().filter_map(|line| line.split(':').next()).collect();
    assert!(["kustomization.yaml", "b.yaml", "c.yaml"].iter().all(|name| files.contains(name)), "{told:#?}");
}
