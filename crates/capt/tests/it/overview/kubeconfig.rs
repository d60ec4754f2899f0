use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use capt_api::names::annotation;
use rstest::rstest;
use serde_json::{Value, json};

use super::stage::{Stage, cluster, json_of};
use crate::{printed, told};

const KUBECONFIG: &str = "apiVersion: v1\nkind: Config\ncurrent-context: admin@prod\n\
    contexts: [{name: admin@prod, context: {cluster: prod, user: admin}}]\n\
    clusters: [{name: prod, cluster: {server: 'https://prod.example.org:6443'}}]\n\
    users: [{name: admin, user: {token: hunter2}}]\n";

async fn stage() -> Stage {
    let stage = Stage::set().await;
    stage.put(cluster("prod", "True", "Available")).await;
    stage
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_said_why_there_is_none() {
    let stage = stage().await;

    let without_cluster = told(&mut stage.capt(&["kubeconfig", "prode"]), 1);
    assert!(without_cluster.contains("did you mean `prod`?"), "{without_cluster}");
    let not_yet = told(&mut stage.capt(&["kubeconfig", "prod"]), 1);
    assert!(
        not_yet.contains(
            "Cluster `prod` has no kubeconfig yet (Secret `prod-kubeconfig`): `capt describe cluster prod`"
        ),
        "{not_yet}"
    );
    let for_people = told(&mut stage.capt(&["kubeconfig", "prod", "--user"]), 1);
    assert!(for_people.contains("leave out --user"), "{for_people}");
}

#[rstest]
#[case::another_key("values", KUBECONFIG, "has no key `value`")]
#[case::not_yaml("value", "{{ hunter2", "is not YAML: line 1")]
#[case::starts_programs("value", &KUBECONFIG.replace("{token: hunter2}", "{exec: {command: /tmp/evil}}"), "runs `evil`, and CAPT runs no programs")]
#[tokio::test(flavor = "multi_thread")]
async fn what_could_do_harm_is_not_handed_out(
    #[case] key: &str,
    #[case] content: &str,
    #[case] expected: &str,
) {
    let stage = stage().await;
    stage.secret("prod-kubeconfig", key, content).await;
    let file = stage.file("config");

    for more in [&[][..], &["--merge", "--file", file.to_str().unwrap()]] {
        let arguments = [&["kubeconfig", "prod"], more].concat();
        let told = told(&mut stage.capt(&arguments), 1);
        assert!(
            told.contains(expected) && told.contains("`prod-kubeconfig`") && !told.contains("hunter2"),
            "{told}"
        );
    }
    assert!(!file.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_printed_as_it_is_or_as_data() {
    let stage = stage().await;
    stage.secret("prod-kubeconfig", "value", KUBECONFIG).await;

    assert_eq!(printed(&mut stage.capt(&["kubeconfig", "prod"])), KUBECONFIG);
    assert_eq!(json_of(&mut stage.capt(&["kubeconfig", "prod"]))["users"][0]["user"]["token"], "hunter2");
}

fn read(file: &Path) -> Value {
    serde_saphyr::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

fn mode(file: &Path) -> u32 {
    fs::metadata(file).unwrap().permissions().mode() & 0o777
}

#[tokio::test(flavor = "multi_thread")]
async fn the_file_of_a_new_user_is_made_for_him_alone_and_changed_only_once() {
    let stage = stage().await;
    stage.secret("prod-kubeconfig", "value", KUBECONFIG).await;
    let file = stage.file(".kube/config");

    let first = printed(&mut stage.capt(&["kubeconfig", "prod", "--merge"]));
    let written = fs::read(&file).unwrap();
    let second = json_of(&mut stage.capt(&["kubeconfig", "prod", "--merge"]));

    assert!(first.contains(&format!("context `prod` is now in {}", file.display())), "{first}");
    assert_eq!(second, json!({ "file": file, "context": "prod", "changed": false }));
    assert_eq!(fs::read(&file).unwrap(), written);
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    assert_eq!(read(&file)["current-context"], "prod");
    assert_eq!(
        fs::read_dir(file.parent().unwrap()).unwrap().count(),
        1,
        "neither lock nor half a file is left"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_stays_a_link_and_its_target_is_changed() {
    let stage = stage().await;
    stage.secret("prod-kubeconfig", "value", KUBECONFIG).await;
    let (target, link) = (stage.file("target"), stage.file("link"));
    fs::write(
        &target,
        "apiVersion: v1\nkind: Config\ncurrent-context: mine\nusers: [{name: me, user: {token: t}}]\n",
    )
    .unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o644)).unwrap();
    symlink("target", &link).unwrap();

    let mut command =
        stage.capt(&["kubeconfig", "prod", "--merge", "--keep-context", "--context-name", "work"]);
    // What others listed there is only read from.
    command.env("KUBECONFIG", format!(":{}:{}", link.display(), stage.file("other").display()));
    printed(&mut command);

    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(!stage.file("other").exists());
    let tree = read(&target);
    assert_eq!((&tree["current-context"], &tree["contexts"][0]["name"]), (&json!("mine"), &json!("work")));
    assert_eq!(tree["users"][0], json!({ "name": "me", "user": { "token": "t" } }));
    assert_eq!(mode(&target), 0o600);
}

#[rstest]
#[case::broken("users:\n- name: me\n  user: { token: hunter3\n", "is not YAML: line 3")]
#[case::of_another_cluster(
    "contexts: [{name: prod, context: {cluster: kind, user: kind}}]\n",
    "it has a context `prod` already"
)]
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_changed_safely_stays_as_it_is(#[case] content: &str, #[case] expected: &str) {
    let stage = stage().await;
    stage.secret("prod-kubeconfig", "value", KUBECONFIG).await;
    let file = stage.file("config");
    fs::write(&file, content).unwrap();

    let arguments = ["kubeconfig", "prod", "--merge", "--file", file.to_str().unwrap()];
    let told = told(&mut stage.capt(&arguments), 1);

    let beginning = format!("error: merging into the kubeconfig {}: ", file.display());
    assert!(told.starts_with(&beginning) && told.contains(expected) && !told.contains("hunter"), "{told}");
    assert_eq!(fs::read_to_string(&file).unwrap(), content);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_another_program_works_on_is_left_to_it() {
    let stage = stage().await;
    stage.secret("prod-kubeconfig", "value", KUBECONFIG).await;
    let (file, lock) = (stage.file("config"), stage.file("config.lock"));
    fs::write(&lock, "").unwrap();

    let arguments = ["kubeconfig", "prod", "--merge", "--file", file.to_str().unwrap()];
    let told = told(&mut stage.capt(&arguments), 1);

    assert!(told.contains(&format!("{} is there; if none does, remove that file", lock.display())), "{told}");
    assert!(lock.exists() && !file.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_has_ended_is_told_beside_the_kubeconfig() {
    let stage = stage().await;
    stage
        .put(json!({
            "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret",
            "metadata": { "name": "prod-kubeconfig", "annotations": {
                annotation::EXPIRES_AT: "2020-01-02T03:04:05Z", annotation::RENEW_AT: "2020-01-02T03:00:05Z",
            } },
            "stringData": { "value": KUBECONFIG },
        }))
        .await;

    let output = stage.capt(&["kubeconfig", "prod"]).assert().success().get_output().clone();

    assert_eq!(String::from_utf8_lossy(&output.stdout), KUBECONFIG);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.starts_with("warning: the credentials in it ended at 2020-01-02T03:04:05Z"), "{told}");
}
