use rstest::rstest;
use serde_json::json;

use super::stage::{Stage, cluster, json_of};
use crate::{capt, printed, told};

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_is_not_there_is_told_with_one_that_is_near() {
    let stage = Stage::set().await;
    stage.put(cluster("prod-1", "True", "Available")).await;

    let told = told(&mut stage.capt(&["describe", "cluster", "prod-2"]), 1);

    let expected = format!(
        "error: there is no Cluster `prod-2` in the namespace {}: did you mean `prod-1`?\n",
        stage.namespace
    );
    assert_eq!(told, expected);
}

#[rstest]
#[case(&["describe", "cluster", "x"])]
#[case(&["get", "clusters"])]
#[case(&["kubeconfig", "x"])]
fn a_kubeconfig_that_is_not_there_is_named(#[case] arguments: &[&str]) {
    let told = told(capt().args(arguments).args(["--kubeconfig", "/nowhere/kubeconfig"]), 1);
    assert!(told.starts_with("error: the kubeconfig /nowhere/kubeconfig cannot be read"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_not_be_read_is_named() {
    let stage = Stage::set().await;
    stage.put(cluster("prod", "True", "Available")).await;
    let nobody = stage.visitor("nobody", json!([])).await;

    let refused = |arguments: &[&str]| {
        let place = ["--namespace", &stage.namespace, "--kubeconfig"];
        told(capt().args(arguments).args(place).arg(&nobody), 1)
    };

    for (arguments, verb, resource) in [
        (&["describe", "cluster", "prod"][..], "get", "clusters"),
        (&["get", "clusters", "prod"], "get", "clusters"),
        (&["get", "clusters"], "list", "clusters"),
        (&["kubeconfig", "prod"], "get", "secrets"),
    ] {
        let told = refused(arguments);
        assert!(told.contains(&format!("cannot {verb} resource \"{resource}\"")), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_may_read_only_clusters_sees_what_they_say() {
    let stage = Stage::set().await;
    stage.failing("prod").await;
    let rules = json!([{ "apiGroups": ["cluster.x-k8s.io"], "resources": ["clusters"], "verbs": ["get"] }]);
    let visitor = stage.visitor("visitor", rules).await;

    let mut command = capt();
    command
        .args(["describe", "cluster", "prod", "--namespace", &stage.namespace, "--kubeconfig"])
        .arg(&visitor);
    let output = command.assert().success().get_output().clone();

    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("? CAPTCluster/prod") && text.contains("? Secret/prod-kubeconfig"), "{text}");
    assert!(text.contains("cannot get resource \"secrets\""), "{text}");
    let warned = String::from_utf8(output.stderr).unwrap();
    assert!(warned.contains("warning: AddonStackBindings cannot be listed"), "{warned}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tree_ends_in_what_blocks() {
    let stage = Stage::set().await;
    stage.failing("prod").await;

    let text = printed(&mut stage.capt(&["describe", "cluster", "prod"]));
    let data = json_of(&mut stage.capt(&["describe", "cluster", "prod"]));

    let workspace = stage.workspace_name("prod");
    assert!(text.contains("\n→ ") && text.contains(&format!("✗ Workspace/{workspace}")), "{text}");
    assert!(text.contains(&format!("Blocked by: Workspace/{workspace}, ReconcileError, for ")), "{text}");
    assert!(text.contains("  what to do: "), "{text}");
    assert!(!text.contains('\u{1b}'), "no colours in a pipe");
    assert_eq!(data["ready"], false);
    assert_eq!(data["blocker"]["reason"], "ReconcileError");
    assert_eq!(data["blocker"]["message"], "terraform apply failed: AccessDenied");
    assert!(data["blocker"]["action"].as_str().is_some_and(|action| !action.is_empty()), "{data}");
    assert_eq!(data["tree"]["children"][0]["part"], "infrastructure");
    assert_eq!(data["tree"]["children"][1]["children"][0]["children"][0]["blocks"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_that_are_named_and_missing_or_of_other_providers_are_shown() {
    let stage = Stage::set().await;
    let mut foreign = cluster("prod", "Unknown", "AvailableUnknown");
    foreign["spec"]["infrastructureRef"] =
        json!({ "apiGroup": "infrastructure.example.org", "kind": "MyCluster", "name": "a" });
    stage.put(foreign).await;

    let text = printed(&mut stage.capt(&["describe", "cluster", "prod"]));

    assert!(
        text.contains("the kind MyCluster of the group infrastructure.example.org is not served"),
        "{text}"
    );
    let missing = text.lines().find(|line| line.contains("✗ CAPTControlPlane/prod ")).unwrap();
    assert!(missing.starts_with('→') && missing.contains(" ObjectDoesNotExist "), "{text}");
}
