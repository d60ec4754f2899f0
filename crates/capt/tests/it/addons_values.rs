//! `capt addons values`: what a user sees. The values themselves are pinned in `capt-core`.

use std::fs;

use rstest::rstest;
use serde_json::{Value, json};

use crate::{capt, printed, told};

/// The stack of the proposals, which has Flux and Karpenter.
const PROPOSALS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/proposals");

#[rstest]
#[case::nothing(&["addons", "values"], "Usage: capt addons values")]
#[case::a_cluster_that_is_none(&["addons", "values", "-f", "x", "--cluster", "a/b"], "write a name of lower case letters")]
fn bad_usage_is_told_and_ends_with_2(#[case] arguments: &[&str], #[case] message: &str) {
    let told = told(capt().args(arguments), 2);
    assert!(told.contains(message), "{told}");
}

#[rstest]
#[case::no_file(&["-f", "nothing.yaml"], "nothing.yaml")]
#[case::no_outputs(&["-f", PROPOSALS, "--outputs", "nothing.json"], "reading what `terraform output -json` printed from nothing.json")]
#[case::no_release(&["-f", PROPOSALS, "--release", "carpenter"], "no HelmRelease `carpenter` is brought by these files; there are: karpenter")]
#[case::broken(&["-f", "broken.yaml"], "broken.yaml:1:4: this cannot be read as YAML")]
#[case::none(&["-f", "none.yaml"], "no AddonStack or ClusterResourceSet of these files brings a HelmRelease")]
fn what_cannot_be_shown_is_told_and_ends_with_1(#[case] arguments: &[&str], #[case] message: &str) {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("broken.yaml"), "a: [").unwrap();
    fs::write(directory.path().join("none.yaml"), "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}")
        .unwrap();
    let told = told(capt().current_dir(&directory).args(["addons", "values"]).args(arguments), 1);
    assert!(told.contains(message), "{told}");
}

#[test]
fn the_values_of_karpenter_have_what_the_module_gave() {
    let directory = tempfile::tempdir().unwrap();
    let outputs = json!({
        "cluster_name": "prod",
        "cluster_endpoint": "https://prod.example.com",
        "karpenter_queue_name": "12345",
        "karpenter_iam_role_arn": "arn:aws:iam::111122223333:role/karpenter",
    });
    fs::write(directory.path().join("outputs.json"), outputs.to_string()).unwrap();
    let arguments = ["addons", "values", "-f", PROPOSALS, "--outputs", "outputs.json", "--cluster", "prod"];
    let text = printed(capt().current_dir(&directory).args(arguments).args(["--output", "json"]));
    let shown: Value = serde_json::from_str(&text).unwrap();
    let values = &shown[0]["values"];
    assert_eq!(shown[0]["name"], "karpenter");
    assert_eq!(values["settings"]["interruptionQueue"], "12345", "{text}");
    let annotations = &values["serviceAccount"]["annotations"];
    assert_eq!(annotations["eks.amazonaws.com/role-arn"], outputs["karpenter_iam_role_arn"], "{text}");

    let text = printed(capt().current_dir(&directory).args(arguments));
    assert!(text.starts_with("# HelmRelease karpenter/karpenter, brought by AddonStack `default/"), "{text}");
}
