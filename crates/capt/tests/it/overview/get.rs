use serde_json::json;

use super::stage::{Stage, cluster, json_of};
use crate::{capt, printed, told};

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_said_to_people_and_an_empty_list_given_to_programs() {
    let stage = Stage::set().await;

    let output = stage.capt(&["get", "clusters"]).assert().success().get_output().clone();

    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    let told = format!("there is no Cluster in the namespace {}\n", stage.namespace);
    assert_eq!(String::from_utf8_lossy(&output.stderr), told);
    assert_eq!(json_of(&mut stage.capt(&["get", "clusters"])), json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_is_not_there_ends_with_1() {
    let stage = Stage::set().await;
    stage.put(cluster("prod", "True", "Available")).await;

    let told = told(&mut stage.capt(&["get", "clusters", "prodd"]), 1);

    assert!(told.contains("did you mean `prod`?"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn clusters_are_told_with_why_they_are_not_ready() {
    let stage = Stage::set().await;
    stage.failing("prod").await;
    stage.put(cluster("test", "True", "Available")).await;

    let text = printed(&mut stage.capt(&["get", "clusters"]));
    let list = json_of(&mut stage.capt(&["get", "clusters"]));
    let one = json_of(&mut stage.capt(&["get", "clusters", "prod"]));

    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with("NAME   READY   VERSION   ENDPOINT   ADD-ONS   AGE"), "{text}");
    assert!(lines[1].starts_with("prod   False   1.34 "), "{text}");
    let why = format!("Workspace/{}: terraform apply failed: AccessDenied", stage.workspace_name("prod"));
    assert!(lines[1].ends_with(&why), "{text}");
    assert_eq!((&list[0]["name"], &list[0]["ready"]), (&json!("prod"), &json!(false)));
    assert_eq!((&list[1]["name"], &list[1]["ready"]), (&json!("test"), &json!(true)));
    assert_eq!(one["blocker"], list[0]["blocker"]);
    assert_eq!(one.get("tree"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn those_of_every_namespace_are_told_with_it() {
    let (one, other) = (Stage::set().await, Stage::set().await);
    one.put(cluster("here", "True", "Available")).await;
    other.put(cluster("there", "True", "Available")).await;

    let mut command = capt();
    let text = printed(command.args(["get", "clusters", "-A", "--kubeconfig"]).arg(one.kubeconfig()));

    assert!(text.starts_with("NAMESPACE "), "{text}");
    for (stage, name) in [(&one, "here"), (&other, "there")] {
        let line = text.lines().find(|line| line.starts_with(&format!("{} ", stage.namespace))).unwrap();
        assert!(line.contains(&format!(" {name} ")), "{text}");
    }
}
