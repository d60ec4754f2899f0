//! `capt validate`: what a user sees.

pub(crate) mod server;

use std::fs;
use std::path::Path;

use rstest::rstest;
use serde_json::Value;
use tempfile::TempDir;

use crate::{capt, printed, told};

const BROKEN: &str = "\
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: CAPTControlPlane
metadata:
  name: demo
spec:
  version: 1.34
  workspaceTemplateRef:
    name: netwrok
---
apiVersion: v1
kind: Secret
metadata:
  name: hidden
data:
  password: hunter2!
";

const TEMPLATE: &str = "\
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: WorkspaceTemplate
metadata:
  name: network
spec:
  template:
    spec:
      forProvider:
        source: Remote
        module: git::https://git.example.com/network.git
";

/// A directory with these files.
fn directory(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(directory.path().join(name), text).unwrap();
    }
    directory
}

#[rstest]
#[case::no_files(&["validate"], "Usage: capt validate")]
#[case::no_object(&["validate", "-f", "x", "--elsewhere", "a/b/c/d"], "write KIND, KIND/NAME or KIND/NAMESPACE/NAME")]
#[case::an_empty_object(&["validate", "-f", "x", "--elsewhere", "ConfigMap/"], "write KIND, KIND/NAME or KIND/NAMESPACE/NAME")]
#[case::an_unknown_flag(&["validate", "-f", "x", "--server"], "unexpected argument '--server'")]
fn bad_usage_is_told_and_ends_with_2(#[case] arguments: &[&str], #[case] message: &str) {
    let told = told(capt().args(arguments), 2);

    assert!(told.contains(message), "{told}");
}

#[test]
fn help_has_examples_and_exit_codes() {
    let help = printed(capt().args(["validate", "--help"]));

    assert!(help.contains("Examples:\n  capt validate -f"), "{help}");
    assert!(help.contains("Exit codes: 0 no errors, 1 errors"), "{help}");
}

#[test]
fn every_problem_is_shown_with_its_line_and_ends_with_1() {
    let directory = directory(&[("a.yaml", BROKEN), ("b.yaml", TEMPLATE)]);

    let output =
        capt().current_dir(&directory).args(["validate", "-f", "a.yaml", "-f", "b.yaml"]).output().unwrap();

    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "error: 2 errors and 1 warning in 2 files\n");
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap(), @r"
    a.yaml:6:12: error: `spec.version` is a number, not a text; put it in quotes
      6 |   version: 1.34
        |            ^
    a.yaml:8:11: warning: WorkspaceTemplate `netwrok` is not in these files (namespace `default`); perhaps `network` is meant
      8 |     name: netwrok
        |           ^
    a.yaml:15:13: error: `data` has something for `password` that is not base64; write it below `stringData` as it is
    ");
}

#[test]
fn programs_get_the_same_in_their_form() {
    let directory = directory(&[("a.yaml", BROKEN)]);
    let found = |form: &str| {
        let arguments = ["--output", form, "validate", "-f", "a.yaml"];
        capt().current_dir(&directory).args(arguments).output().unwrap().stdout
    };

    let json: Value = serde_json::from_slice(&found("json")).unwrap();
    let yaml: Value = serde_saphyr::from_slice(&found("yaml")).unwrap();

    assert_eq!(json, yaml);
    insta::assert_yaml_snapshot!(json, @r#"
    errors: 2
    files: 1
    findings:
      - column: 12
        excerpt: "  version: 1.34"
        file: a.yaml
        line: 6
        message: "`spec.version` is a number, not a text; put it in quotes"
        severity: error
      - column: 11
        excerpt: "    name: netwrok"
        file: a.yaml
        line: 8
        message: "WorkspaceTemplate `netwrok` is not in these files (namespace `default`); add it, or say `--elsewhere WorkspaceTemplate/netwrok` if it is in the cluster already"
        severity: warning
      - column: 13
        file: a.yaml
        line: 15
        message: "`data` has something for `password` that is not base64; write it below `stringData` as it is"
        severity: error
    warnings: 1
    "#);
}

#[test]
fn standard_input_is_read() {
    let mut command = capt();
    command.args(["validate", "-f", "-"]).write_stdin(TEMPLATE);

    assert_eq!(printed(&mut command), "no problems in 1 file\n");
}

#[test]
fn warnings_are_no_errors_unless_they_are_asked_for() {
    let text = "\
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: WorkspaceTemplateApply
metadata: {name: a}
spec: {templateRef: {name: network}}
";
    let directory = directory(&[("a.yaml", text)]);
    let validate = |more: &[&str]| {
        let mut command = capt();
        command.current_dir(&directory).args(["validate", "-f", "."]).args(more);
        command.output().unwrap().status.code()
    };

    assert_eq!(validate(&[]), Some(0));
    assert_eq!(validate(&["--strict"]), Some(1));
    assert_eq!(validate(&["--strict", "--elsewhere", "WorkspaceTemplate/network"]), Some(0));
    assert_eq!(
        validate(&["--strict", "--elsewhere", "WorkspaceTemplate/default/network,ConfigMap"]),
        Some(0)
    );
    assert_eq!(validate(&["--strict", "--elsewhere", "WorkspaceTemplate/other/network"]), Some(1));
}

#[rstest]
#[case::a_file("nothing.yaml", "reading nothing.yaml: No such file or directory")]
#[case::an_empty_directory(".", ". has no *.yaml, *.yml or *.json in it")]
fn what_is_not_there_is_told(#[case] path: &str, #[case] expected: &str) {
    let directory = directory(&[]);

    let told = told(capt().current_dir(&directory).args(["validate", "-f", path]), 1);

    assert!(told.contains(expected), "{told}");
}

#[test]
fn what_other_tools_read_is_skipped_and_said_so() {
    let patch = "- op: remove\n  path: /spec\n";
    let kustomization = "resources: [template.yaml]\npatches: [{path: patch.yaml}]\n";
    let files = [("kustomization.yaml", kustomization), ("template.yaml", TEMPLATE), ("patch.yaml", patch)];
    let directory = directory(&files);
    let validate = |arguments: &[&str]| {
        let mut command = capt();
        printed(command.current_dir(&directory).args(arguments).args(["validate", "--strict", "-f", "."]))
    };

    insta::assert_snapshot!(validate(&[]), @r"
    ./kustomization.yaml: skipped: kustomize reads this file; to validate what it builds, run `kustomize build DIR | capt validate -f -`
    ./patch.yaml: skipped: a kustomization patches or generates with this file; to validate the result, run `kustomize build DIR | capt validate -f -`
    no problems in 1 file, 2 skipped
    ");
    let report: Value = serde_json::from_str(&validate(&["--output", "json"])).unwrap();
    assert_eq!(report["files"], 1);
    assert_eq!(report["skipped"].as_array().map(Vec::len), Some(2));
}

#[test]
fn all_examples_beside_each_other_pass_and_so_does_what_we_generate() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for path in ["examples", "config"] {
        let arguments = ["validate", "--strict", "--elsewhere", "ConfigMap/eks-flux-install", "-f"];
        let output = capt().args(arguments).arg(root.join(path)).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    }
}
