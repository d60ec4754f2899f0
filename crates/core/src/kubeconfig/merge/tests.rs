//! What is put in, what stays, and what is refused.

use rstest::rstest;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use super::*;
use crate::kubeconfig::parse;

const CLUSTER: &str = "apiVersion: v1\nkind: Config\ncurrent-context: admin@prod\n\
    contexts: [{name: admin@prod, context: {cluster: prod, user: admin}}]\n\
    clusters: [{name: prod, cluster: {server: 'https://prod.example.org:6443'}}, {name: other, cluster: {server: 'https://x'}}]\n\
    users: [{name: admin, user: {token: hunter2}}]\n";

const PERSON: &str = "# mine\napiVersion: v1\nkind: Config\ncurrent-context: work\npreferences: {colors: true}\nsomething: {new: \"on\"}\n\
    contexts:\n- name: work\n  context: {cluster: work, user: me, namespace: team-a, added: \"1e3\"}\n\
    clusters:\n- name: work\n  cluster: {server: 'https://work', insecure-skip-tls-verify: true, proxy-url: 'http://proxy', unknown: [\"a\", {}]}\n\
    users:\n- name: me\n  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: get-token, args: [\"007\", \"null\", \"-\"], env: null, provideClusterInfo: false}}\n";

fn origin() -> Origin {
    Origin {
        management: "https://127.0.0.1:6443".to_owned(),
        namespace: "default".to_owned(),
        cluster: "prod".to_owned(),
    }
}

fn put_in(existing: Option<&str>, context: &str, keep_context: bool) -> Result<Merged, Refused> {
    merge(existing, Wish { content: CLUSTER.as_bytes(), context, origin: &origin(), keep_context })
}

/// The new text, and what a reader makes of it.
fn changed(existing: Option<&str>) -> (String, Value) {
    match put_in(existing, "prod", false).unwrap() {
        Merged::Changed(text) => {
            let tree = serde_saphyr::from_str(text.expose_secret()).unwrap();
            (text.expose_secret().to_owned(), tree)
        }
        Merged::Unchanged => panic!("nothing was changed"),
    }
}

fn entry<'tree>(tree: &'tree Value, list: &str, name: &str) -> &'tree Value {
    tree[list].as_array().unwrap().iter().find(|entry| entry["name"] == name).unwrap()
}

#[rstest]
#[case::no_file(None)]
#[case::an_empty_file(Some(""))]
#[case::nothing_but_comments(Some("# nothing here\n"))]
#[case::empty_lists(Some("apiVersion: v1\nkind: Config\nclusters: null\ncontexts: []\nusers:\n"))]
fn where_there_is_nothing_a_kubeconfig_is_made(#[case] existing: Option<&str>) {
    let (text, tree) = changed(existing);

    assert_eq!(tree["current-context"], "prod");
    let read = parse(text.as_bytes()).unwrap();
    assert_eq!((read.cluster_name.as_str(), read.server.host()), ("prod", "prod.example.org"));
    assert_eq!(tree["clusters"].as_array().unwrap().len(), 1, "only what the current context leads to");
}

#[test]
fn what_was_there_stays_with_fields_that_nobody_knows() {
    let (_, tree) = changed(Some(PERSON));

    let before: Value = serde_saphyr::from_str(PERSON).unwrap();
    for (list, name) in [("contexts", "work"), ("clusters", "work"), ("users", "me")] {
        assert_eq!(entry(&tree, list, name), entry(&before, list, name));
    }
    for field in ["something", "preferences"] {
        assert_eq!(tree[field], before[field]);
    }
    assert_eq!(tree["current-context"], "prod");
    assert_eq!(entry(&tree, "users", "prod")["user"]["token"], "hunter2");
}

#[test]
fn the_second_time_changes_nothing() {
    let (text, _) = changed(Some(PERSON));

    assert!(matches!(put_in(Some(&text), "prod", false), Ok(Merged::Unchanged)));
}

#[test]
fn new_credentials_take_the_place_of_old_ones_and_what_the_person_added_stays() {
    let (text, _) = changed(Some(PERSON));
    let mut tree: Value = serde_saphyr::from_str(&text).unwrap();
    for (list, content) in [("contexts", "context"), ("clusters", "cluster"), ("users", "user")] {
        let entries = tree[list].as_array_mut().unwrap();
        let ours = entries.iter_mut().find(|entry| entry["name"] == "prod").unwrap();
        ours[content]["added"] = json!("by hand");
        ours[content]["extensions"]
            .as_array_mut()
            .unwrap()
            .push(json!({ "name": "theirs", "extension": { "a": 1 } }));
    }
    tree["contexts"][1]["context"]["namespace"] = json!("team-a");
    tree["clusters"][1]["cluster"]["server"] = json!("https://moved:1");
    tree["clusters"][1]["cluster"]["tls-server-name"] = json!("old");
    tree["users"][1]["user"] =
        json!({ "client-key-data": "old", "extensions": tree["users"][1]["user"]["extensions"] });

    let (_, tree) = changed(Some(&write::document(&tree)));

    let cluster = &entry(&tree, "clusters", "prod")["cluster"];
    assert_eq!(
        (&cluster["server"], &cluster["added"]),
        (&json!("https://prod.example.org:6443"), &json!("by hand"))
    );
    assert_eq!(cluster.get("tls-server-name"), None, "it belonged to the old server");
    assert_eq!(cluster["extensions"][1]["name"], "theirs");
    let context = &entry(&tree, "contexts", "prod")["context"];
    assert_eq!((&context["namespace"], &context["added"]), (&json!("team-a"), &json!("by hand")));
    let user = &entry(&tree, "users", "prod")["user"];
    assert_eq!(
        (&user["token"], user.get("client-key-data"), user.get("added")),
        (&json!("hunter2"), None, None)
    );
}

#[test]
fn the_current_context_can_stay() {
    let merged = put_in(Some(PERSON), "prod", true).unwrap();
    let Merged::Changed(text) = merged else { panic!("it is new") };
    assert!(text.expose_secret().contains("\ncurrent-context: \"work\"\n"), "{}", text.expose_secret());
}

#[rstest]
#[case::a_context(
    "contexts: [{name: prod, context: {cluster: kind, user: kind}}]\nclusters: [{name: kind, cluster: {server: 'https://127.0.0.1:1'}}]\nusers: [{name: kind, user: {}}]\n",
    "a context `prod` already, which leads to https://127.0.0.1:1,"
)]
#[case::a_cluster(
    "contexts: []\nclusters: [{name: prod, cluster: {server: 'https://elsewhere'}}]\n",
    "a cluster `prod` already, which leads to https://elsewhere,"
)]
#[case::a_user(
    "users: [{name: prod, user: {token: hunter3}}]\n",
    "a user `prod` already, and that is not this Cluster's"
)]
#[case::the_context_of_the_same_name_elsewhere(
    "contexts: [{name: prod, context: {cluster: prod, user: prod, extensions: [{name: capt.cluster.x-k8s.io, extension: {managementCluster: 'https://other', namespace: default, cluster: prod}}]}}]\n",
    "a context `prod` already"
)]
fn what_is_somebody_elses_is_not_replaced(#[case] existing: &str, #[case] expected: &str) {
    let refused = put_in(Some(existing), "prod", false).unwrap_err().to_string();

    assert!(refused.contains(expected), "{refused}");
    assert!(refused.contains("--context-name") && !refused.contains("hunter3"), "{refused}");
    assert!(put_in(Some(existing), "prod-2", false).is_ok(), "another name does it");
}

#[test]
fn the_same_cluster_that_was_put_in_by_hand_is_taken_over() {
    let by_hand = "contexts: [{name: prod, context: {cluster: prod, user: prod}}]\n\
        clusters: [{name: prod, cluster: {server: 'https://prod.example.org:6443'}}]\nusers: [{name: prod, user: {token: old}}]\n";
    let (_, tree) = changed(Some(by_hand));
    assert_eq!(entry(&tree, "users", "prod")["user"]["token"], "hunter2");
}

#[rstest]
#[case::not_yaml("users:\n- name: me\n  user: { token: hunter3\n", "line 3")]
#[case::a_key_twice("users: []\nusers: []\n", "line 2")]
#[case::plain_text("hunter3", "is plain text without any field")]
#[case::a_list("- hunter3", "is a list")]
#[case::another_kind("kind: Pod\nusers: []\n", "is of kind `Pod`")]
#[case::something_else("a: b\n", "has neither `clusters` nor `contexts` nor `users`")]
#[case::several_documents("users: []\n---\nusers: []\n", "several YAML documents")]
#[case::aliases("users: &x []\ncontexts: *x\n", "aliases")]
#[case::no_list("users: {}\n", "`users` is not a list")]
#[case::a_password_that_is_a_number(
    "users: [{name: me, user: {username: me, password: 0123}}]\n",
    "`users[0].user.password` is not a text; put it in quotes"
)]
#[case::a_truth_that_is_a_text(
    "clusters: [{name: a, cluster: {server: a, insecure-skip-tls-verify: \"yes\"}}]\n",
    "`clusters[0].cluster.insecure-skip-tls-verify` is neither true nor false"
)]
#[case::nested_without_end(&"[".repeat(100_000), "the kubeconfig")]
fn what_cannot_be_changed_safely_is_left_as_it_is(#[case] existing: &str, #[case] expected: &str) {
    let refused = put_in(Some(existing), "prod", false).unwrap_err().to_string();

    assert!(refused.starts_with("it is left as it is, because it cannot be changed safely: "), "{refused}");
    assert!(refused.contains(expected) && !refused.contains("hunter3"), "{refused}");
}

#[test]
fn a_huge_file_is_left_as_it_is() {
    let huge = format!("# {}\nusers: []\n", "x".repeat(LARGEST));
    assert!(matches!(put_in(Some(&huge), "prod", false), Err(Refused::Existing(_))));
}

#[rstest]
#[case::starts_programs("exec: {command: /tmp/evil}")]
#[case::reads_files("tokenFile: /etc/passwd")]
#[case::no_credentials("{}")]
fn what_a_cluster_must_not_make_a_person_do_is_not_put_in(#[case] user: &str) {
    let user = if user == "{}" { user.to_owned() } else { format!("{{{user}}}") };
    let content = CLUSTER.replace("{token: hunter2}", &user);
    let wish = Wish { content: content.as_bytes(), context: "prod", origin: &origin(), keep_context: false };
    assert!(matches!(merge(None, wish), Err(Refused::Content(_))));
}
