use capt_api::names::annotation;
use capt_terraform::Output;
use capt_testkit::{TestCluster, eventually};
use kube::api::{Patch, PatchParams};
use rstest::rstest;

use super::*;
use crate::workspace::place::stage::Stage;
use crate::workspace::state;

fn target(stage: &Stage) -> SecretReference {
    SecretReference { name: "outputs".to_owned(), namespace: stage.namespace.clone() }
}

fn outputs(entries: &[(&str, &str)]) -> Outputs {
    entries.iter().map(|(name, json)| ((*name).to_owned(), Output::new(true, json).unwrap())).collect()
}

async fn set() -> (Stage, Place) {
    let stage = Stage::set(state::rules()).await;
    let mut place = stage.place("demo").await;
    stage.workspace(&mut place).await;
    (stage, place)
}

fn controller(kind: &str, name: &str) -> Value {
    let api_version = if kind == "Workspace" { "tf.upbound.io/v1beta1" } else { "example.org/v1" };
    json!([{ "apiVersion": api_version, "kind": kind, "name": name, "uid": "u", "controller": true }])
}

#[rstest]
#[case::of_another_type(json!({ "metadata": { "name": "outputs" } }), "Opaque")]
#[case::of_another_workspace(json!({
    "type": CONNECTION_SECRET_TYPE, "metadata": { "name": "outputs", "ownerReferences": controller("Workspace", "x") },
}), "Workspace `x`")]
#[case::of_somebody_else(json!({
    "type": CONNECTION_SECRET_TYPE, "metadata": { "name": "outputs", "ownerReferences": controller("Certificate", "y") },
}), "Certificate `y`")]
#[case::of_another_workspace_by_its_note(json!({
    "type": CONNECTION_SECRET_TYPE, "metadata": { "name": "outputs", "annotations": { annotation::WORKSPACE: "z" } },
}), "Workspace `z`")]
fn a_secret_of_somebody_else_is_refused(#[case] secret: Value, #[case] why: &str) {
    let place = Place {
        namespace: "a".to_owned(),
        state: capt_core::workspace::backend::StatePlace::ours("a"),
        terraform_workspace: "demo".to_owned(),
        workspace: "demo".to_owned(),
        kept_as: "demo".to_owned(),
        workspace_uid: "1".to_owned(),
        apply: None,
    };
    let target = SecretReference { name: "outputs".to_owned(), namespace: "a".to_owned() };
    let mut secret: Secret = serde_json::from_value(secret).unwrap();
    secret.type_.get_or_insert_with(|| "Opaque".to_owned());

    let blocked = may_write(&secret, &place, &target).unwrap_err();

    assert_eq!(blocked.reason, Reason::SecretNotOwned);
    assert!(blocked.message.contains("`a/outputs`") && blocked.message.contains(why), "{}", blocked.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_secret_is_neither_written_nor_removed() {
    let (stage, place) = set().await;
    let foreign =
        stage.put(json!({ "metadata": { "name": "outputs" }, "stringData": { "a": "mine" } })).await;
    let target = target(&stage);

    let written = write(&stage.client, &place, &target, &outputs(&[("a", "1")])).await.unwrap();
    assert_eq!(written.unwrap_err().reason, Reason::SecretNotOwned);
    let seen = look(&stage.client, &place, Some(&target), None).await.unwrap();
    assert!(matches!(seen.connection, Connection::Refused(_)));
    remove(&stage.client, &place, &target).await.unwrap();

    assert_eq!(stage.secrets().get("outputs").await.unwrap(), foreign);
}

#[rstest]
#[case::a_path("../configmaps", "default")]
#[case::a_namespace_that_is_none("outputs", "a/b")]
#[case::upper_case("Outputs", "default")]
#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_leads_elsewhere_is_refused(#[case] name: &str, #[case] namespace: &str) {
    let (stage, place) = set().await;
    let target = SecretReference { name: name.to_owned(), namespace: namespace.to_owned() };
    let written = write(&stage.client, &place, &target, &outputs(&[])).await.unwrap();
    assert_eq!(written.unwrap_err().reason, Reason::OutputsRefused);
    remove(&stage.client, &place, &target).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nothing_can_be_written_it_is_said_why() {
    let (stage, place) = set().await;
    let missing = SecretReference { namespace: "nowhere".to_owned(), ..target(&stage) };
    let blocked = write(&stage.client, &place, &missing, &outputs(&[])).await.unwrap().unwrap_err();
    assert!(blocked.message.contains("namespace `nowhere` does not exist"), "{}", blocked.message);

    let large = outputs(&[("a", &format!("\"{}\"", "x".repeat(LARGEST))), ("b", "1")]);
    let blocked = write(&stage.client, &place, &target(&stage), &large).await.unwrap().unwrap_err();
    assert_eq!(blocked.reason, Reason::OutputsRefused);
    assert!(blocked.message.contains("1048577 bytes"), "{}", blocked.message);

    // Something has to hold the namespace, or it is gone.
    stage.put_state(&place.state_secret(), b"").await;
    let found = state::look(&stage.client, &place).await.unwrap();
    state::hold(&stage.client, &place, &found).await.unwrap();
    stage.end().await;
    let blocked = write(&stage.client, &place, &target(&stage), &outputs(&[])).await.unwrap().unwrap_err();
    assert!(blocked.message.contains("is being deleted"), "{}", blocked.message);
    state::discard(&stage.client, &place).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn outputs_are_exact_and_names_that_cannot_be_keys_are_told() {
    let (stage, place) = set().await;
    let target = target(&stage);
    let all = outputs(&[
        ("größe", "1"),
        ("text", r#""a\nb""#),
        ("binary", r#""\u0000\u0001ÿ""#),
        ("number", "12345678901234567890"),
        ("list", r#"["x", 1]"#),
    ]);

    let published = write(&stage.client, &place, &target, &all).await.unwrap().unwrap();

    assert_eq!(published.skipped, ["größe"]);
    let secret = stage.secrets().get("outputs").await.unwrap();
    let data = secret.data.as_ref().unwrap();
    assert_eq!(data.len(), 4);
    assert_eq!(data["text"].0, b"a\nb");
    assert_eq!(data["binary"].0, "\u{0}\u{1}ÿ".as_bytes());
    assert_eq!(data["number"].0, b"12345678901234567890");
    assert_eq!(data["list"].0, br#"["x",1]"#);
    assert_eq!(secret.type_.as_deref(), Some(CONNECTION_SECRET_TYPE));
    let owners: Vec<_> =
        secret.owner_references().iter().map(|owner| (owner.kind.as_str(), owner.controller)).collect();
    assert_eq!(owners, [("WorkspaceTemplateApply", Some(false))]);
    let seen = look(&stage.client, &place, Some(&target), Some(&published.digest)).await.unwrap();
    assert_eq!((seen.connection, seen.lacks), (Connection::Complete, None));

    remove(&stage.client, &place, &target).await.unwrap();
    assert!(stage.secrets().get_opt("outputs").await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_outputs_are_published_too_and_written_once() {
    let (stage, place) = set().await;
    let target = target(&stage);
    assert_eq!(look(&stage.client, &place, None, None).await.unwrap().connection, Connection::NotWanted);
    let seen = look(&stage.client, &place, Some(&target), None).await.unwrap();
    assert_eq!(seen.connection, Connection::Incomplete);

    let published = write(&stage.client, &place, &target, &outputs(&[])).await.unwrap().unwrap();
    let first = stage.secrets().get("outputs").await.unwrap();
    let again = write(&stage.client, &place, &target, &outputs(&[])).await.unwrap().unwrap();

    assert_eq!(again, published);
    assert_eq!(stage.secrets().get("outputs").await.unwrap().resource_version(), first.resource_version());
    let seen = look(&stage.client, &place, Some(&target), Some(&published.digest)).await.unwrap();
    assert_eq!(seen.connection, Connection::Complete);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_output_leaves_whoever_wrote_it() {
    let (stage, place) = set().await;
    let target = target(&stage);
    write(&stage.client, &place, &target, &outputs(&[("old", "1"), ("same", "2")])).await.unwrap().unwrap();
    let foreign = json!({ "stringData": { "by-hand": "x", "same": "changed" } });
    stage.secrets().patch("outputs", &PatchParams::default(), &Patch::Merge(foreign)).await.unwrap();

    let published = write(&stage.client, &place, &target, &outputs(&[("same", "2"), ("new", "3")]))
        .await
        .unwrap()
        .unwrap();

    let data = stage.secrets().get("outputs").await.unwrap().data.unwrap();
    assert_eq!(data.keys().collect::<Vec<_>>(), ["new", "same"]);
    assert_eq!(data["same"].0, b"2");
    let seen = look(&stage.client, &place, Some(&target), Some(&published.digest)).await.unwrap();
    assert_eq!(seen.connection, Connection::Complete);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_changed_is_noticed() {
    let (stage, place) = set().await;
    let target = target(&stage);
    let published = write(&stage.client, &place, &target, &outputs(&[("a", "1")])).await.unwrap().unwrap();
    let patch = json!({ "stringData": { "a": "2" } });
    stage.secrets().patch("outputs", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();

    let seen = look(&stage.client, &place, Some(&target), Some(&published.digest)).await.unwrap();

    assert_eq!(seen.connection, Connection::Incomplete);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restore_and_after_crossplane_the_secret_is_owned_anew() {
    let (stage, place) = set().await;
    let target = target(&stage);
    // Held, so that garbage collection does not take it for an orphan before we look.
    stage
        .put(json!({
            "type": CONNECTION_SECRET_TYPE,
            "metadata": {
                "name": "outputs",
                "finalizers": ["example.org/held"],
                "ownerReferences": controller("Workspace", &place.workspace),
            },
            "stringData": { "of-crossplane": "x" },
        }))
        .await;
    let seen = look(&stage.client, &place, Some(&target), None).await.unwrap();
    assert_eq!(seen.connection, Connection::Incomplete);

    // Garbage collection has seen an owner that is not there and may write at the same time.
    let written = eventually("the new owner", async || {
        write(&stage.client, &place, &target, &outputs(&[("a", "1")])).await
    });
    written.await.unwrap();

    let secret = stage.secrets().get("outputs").await.unwrap();
    let uids: Vec<_> = secret.owner_references().iter().map(|owner| owner.uid.as_str()).collect();
    assert_eq!(uids, [&place.apply.as_ref().unwrap().uid]);
    assert_eq!(secret.data.unwrap().keys().collect::<Vec<_>>(), ["a"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_as_it_was_owned_before_is_owned_anew_without_a_run() {
    let (stage, place) = set().await;
    let target = target(&stage);
    let published = write(&stage.client, &place, &target, &outputs(&[("a", "1")])).await.unwrap().unwrap();
    // As earlier versions had it: `clusterctl move` left it behind.
    let owners = json!([
        { "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace", "name": place.workspace,
            "uid": place.workspace_uid, "controller": true },
        wanted(&place, &target).owner_references.unwrap()[0],
    ]);
    let patch = Patch::Merge(json!({ "metadata": { "ownerReferences": owners } }));
    stage.secrets().patch("outputs", &PatchParams::default(), &patch).await.unwrap();

    let seen = look(&stage.client, &place, Some(&target), Some(&published.digest)).await.unwrap();
    assert_eq!(seen.connection, Connection::Complete);
    own(&stage.client, &target, &seen.lacks.unwrap()).await.unwrap();

    let secret = stage.secrets().get("outputs").await.unwrap();
    let kinds: Vec<_> = secret.owner_references().iter().map(|owner| owner.kind.as_str()).collect();
    assert_eq!(kinds, ["WorkspaceTemplateApply"]);
    let seen = look(&stage.client, &place, Some(&target), Some(&published.digest)).await.unwrap();
    assert_eq!(seen.lacks, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn in_another_namespace_the_apply_owns_nothing() {
    let (stage, place) = set().await;
    let elsewhere = TestCluster::shared().await.namespace("elsewhere").await;
    let target = SecretReference { name: "outputs".to_owned(), namespace: elsewhere.clone() };

    write(&stage.client, &place, &target, &outputs(&[])).await.unwrap().unwrap();

    let secrets: Api<Secret> = Api::namespaced(stage.administrator.clone(), &elsewhere);
    let secret = secrets.get("outputs").await.unwrap();
    let kinds: Vec<_> = secret.owner_references().iter().map(|owner| owner.kind.as_str()).collect();
    assert_eq!(kinds, ["Workspace"]);
}
