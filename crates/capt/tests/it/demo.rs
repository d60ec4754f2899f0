//! `capt demo` as a stranger runs it: a cluster that answers, stopped, started again, and destroyed.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::{capt, printed};

fn demo(directory: &Path, arguments: &[&str]) -> String {
    let mut command = capt();
    command.args(["--output", "json", "demo", "--dir"]).arg(directory).args(arguments);
    printed(command.timeout(Duration::from_secs(240)))
}

#[test]
fn a_first_cluster_answers_survives_a_stop_and_is_destroyed() {
    capt_testkit::terraform::binary();
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    let first: Value = serde_json::from_str(&demo(&home, &["--exit"])).unwrap();
    assert_eq!(first["cluster"], "demo");
    assert!(first["namespaces"].as_array().unwrap().contains(&Value::from("kube-system")), "{first}");
    let kubeconfig = std::fs::read_to_string(first["kubeconfig"].as_str().unwrap()).unwrap();

    let second: Value = serde_json::from_str(&demo(&home, &["--exit"])).unwrap();
    assert_eq!(second, first, "the same cluster, which answers again");
    assert_eq!(std::fs::read_to_string(first["kubeconfig"].as_str().unwrap()).unwrap(), kubeconfig);

    let deleted: Value = serde_json::from_str(&demo(&home, &["--delete"])).unwrap();
    assert_eq!(deleted["deleted"], "demo");
    let left = std::fs::read_dir(home.join("workloads")).unwrap().count();
    assert_eq!(left, 0, "nothing is left of the cluster");
}
