//! `capt demo` as a stranger runs it: a cluster that answers, stopped, started again, and destroyed.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::{capt, told};

/// What was printed, and what was logged.
fn demo(directory: &Path, arguments: &[&str]) -> (Value, String) {
    let mut command = capt();
    command
        .args(["--output", "json", "--log-format", "json", "demo", "--dir"])
        .arg(directory)
        .args(arguments);
    let output = command.timeout(Duration::from_secs(240)).assert().success().get_output().clone();
    (serde_json::from_slice(&output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_first_cluster_answers_survives_a_stop_and_is_destroyed() {
    capt_testkit::terraform::binary();
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    let (first, log) = demo(&home, &["--exit"]);
    assert_eq!(first["cluster"], "demo");
    assert!(first["namespaces"].as_array().unwrap().contains(&Value::from("kube-system")), "{first}");
    assert_eq!(first["nodes"], json!(["demo-simulated-1", "demo-simulated-2"]));
    let server = first["server"].as_str().unwrap();
    assert_eq!(first["notice"], format!("demo was made by Terraform and answers at {server}"));
    let audited: Vec<_> = log.lines().filter(|line| line.contains(r#""target":"audit""#)).collect();
    assert!(audited.iter().any(|line| line.contains("default/demo-kubeconfig")), "{log}");
    let kubeconfig = std::fs::read_to_string(first["kubeconfig"].as_str().unwrap()).unwrap();

    let key =
        kubeconfig.lines().find_map(|line| line.trim().strip_prefix("client-key-data:")).unwrap().trim();
    assert!(!log.contains(key.trim_matches('"')), "the log holds no credentials");

    let (second, _) = demo(&home, &["--exit"]);
    assert_eq!(second, first, "the same cluster, which answers again");
    assert_eq!(std::fs::read_to_string(first["kubeconfig"].as_str().unwrap()).unwrap(), kubeconfig);

    assert_that_nothing_is_lost(&home);
    assert_that_people_read_no_log(&home);
    let left = std::fs::read_dir(home.join("workloads")).unwrap().count();
    assert_eq!(left, 0, "nothing is left of the cluster");
}

/// Destroys the cluster as somebody does who reads what is printed, though not on a terminal.
fn assert_that_people_read_no_log(home: &Path) {
    let mut command = capt();
    command.args(["demo", "--delete", "--dir"]).arg(home).timeout(Duration::from_secs(240));
    let output = command.assert().success().get_output().clone();
    let printed = String::from_utf8(output.stdout).unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    let (_, log) = told.lines().find_map(|line| line.split_once("the log is in ")).unwrap();
    let log = std::fs::read_to_string(log).unwrap();

    assert!(printed.ends_with("\nCluster `demo` is gone.\n"), "{printed}");
    assert!(log.contains("run ended"), "{log}");
    assert!(!told.contains("run ended"), "{told}");
}

/// The data is the only thing that knows of the infrastructure.
fn assert_that_nothing_is_lost(home: &Path) {
    let error = told(capt().args(["down", "--purge", "--yes", "--dir"]).arg(home), 1);
    assert!(error.contains("there is infrastructure that only the data in"), "{error}");
    for line in ["Workspace demo-eks-controlplane", "Workspace demo-vpc", "Cluster default/demo"] {
        assert!(error.contains(&format!("\n  {line}\n")), "{error}");
    }
}
