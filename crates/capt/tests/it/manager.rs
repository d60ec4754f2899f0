mod namespace;
mod process;
mod words;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use capt_testkit::home::{signal, wait};
use rstest::rstest;
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::{capt, told};

const NO_CONTEXT: &str = "apiVersion: v1\nkind: Config\n";
const UNKNOWN_CONTEXT: &str = "apiVersion: v1\nkind: Config\ncurrent-context: there\n";
const UNKNOWN_CLUSTER: &str = "
apiVersion: v1
kind: Config
current-context: here
contexts:
- name: here
  context: { cluster: nowhere, user: me }
users:
- name: me
  user: { token: hunter2 }
";
const BROKEN_YAML: &str = "users:\n- name: me\n  user: { token: hunter2\n";
const NOT_A_KUBECONFIG: &str = "users: hunter2\n";

pub(crate) fn file(content: &str) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kubeconfig");
    fs::write(&path, content).unwrap();
    (directory, path)
}

#[rstest]
#[case::no_context(NO_CONTEXT, "has no current-context: set one with `kubectl config use-context NAME`")]
#[case::unknown_context(UNKNOWN_CONTEXT, "has `there` as its current-context, but no context of that name")]
#[case::unknown_cluster(UNKNOWN_CLUSTER, "refers to the cluster `nowhere`, which is not in it")]
#[case::broken_yaml(
    BROKEN_YAML,
    "is not valid: it is not the YAML of a kubeconfig; look at line 3, column 9"
)]
#[case::not_a_kubeconfig(
    NOT_A_KUBECONFIG,
    "is not valid: it is not the YAML of a kubeconfig; look at line 1, column 8"
)]
fn a_kubeconfig_that_cannot_be_used_is_told_in_a_sentence_without_its_content(
    #[case] content: &str,
    #[case] sentence: &str,
) {
    let (_directory, path) = file(content);

    let told = told(capt().args(["manager", "--kubeconfig"]).arg(&path), 1);

    assert_eq!(told, format!("error: the kubeconfig {} {sentence}\n", path.display()));
}

#[test]
fn a_kubeconfig_that_is_missing_is_named() {
    let (_directory, path) = file("");
    let missing = path.with_file_name("missing");

    let by_flag = told(capt().args(["manager", "--kubeconfig"]).arg(&missing), 1);
    let by_variable = told(capt().arg("manager").env("KUBECONFIG", &missing), 1);

    let sentence = "cannot be read: No such file or directory (os error 2)";
    assert_eq!(by_flag, format!("error: the kubeconfig {} {sentence}\n", missing.display()));
    assert_eq!(by_variable, by_flag);
}

#[test]
fn a_key_that_is_empty_is_told_before_anything_is_connected() {
    let (_directory, path) = file("\n");

    let mut command = capt();
    command.args(["manager", "--addon-webhook", "https://example.org/", "--addon-webhook-key-file"]);
    let told = told(command.arg(&path), 1);

    let expected = format!("error: --addon-webhook-key-file: {} is empty: ", path.display());
    assert!(told.starts_with(&expected), "{told}");
}

#[test]
fn of_several_kubeconfigs_the_one_that_is_missing_is_named() {
    let (_directory, path) = file(NO_CONTEXT);
    let missing = path.with_file_name("missing");
    let both = std::env::join_paths([&path, &missing]).unwrap();

    let told = told(capt().arg("manager").env("KUBECONFIG", both), 1);

    assert!(
        told.starts_with(&format!("error: the kubeconfig {} cannot be read", missing.display())),
        "{told}"
    );
}

#[test]
fn without_any_cluster_the_default_kubeconfig_is_named() {
    let directory = tempfile::tempdir().unwrap();

    let told = told(capt().arg("manager").env("HOME", directory.path()), 1);

    let expected = directory.path().join(".kube/config");
    assert!(
        told.starts_with(&format!("error: the kubeconfig {} cannot be read", expected.display())),
        "{told}"
    );
}

/// A port that nobody listens on: the API server has not come up yet.
pub(crate) const NOBODY_THERE: &str = "
apiVersion: v1
kind: Config
current-context: here
contexts:
- name: here
  context: { cluster: there, user: me }
clusters:
- name: there
  cluster: { server: https://127.0.0.1:1 }
users:
- name: me
  user: { token: hunter2 }
";

#[test]
fn an_api_server_that_does_not_answer_is_waited_for_until_a_signal_comes() {
    let (_directory, path) = file(NOBODY_THERE);
    let mut manager = Command::new(env!("CARGO_BIN_EXE_capt"))
        .args(["--log-format", "json", "manager", "--engine", "crossplane", "--kubeconfig"])
        .arg(&path)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();

    let mut lines = BufReader::new(manager.stderr.take().unwrap()).lines();
    let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    signal(&manager, Signal::TERM).unwrap();
    let status = wait(&mut manager, Duration::from_secs(5)).unwrap();

    assert_eq!(line["level"], "WARN");
    assert_eq!(line["message"], "the API server does not answer; trying again");
    assert_eq!(line["server"], "https://127.0.0.1:1");
    assert_eq!(status.code(), Some(0));
}
