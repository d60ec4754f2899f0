use capt_api::names::{annotation, finalizer, label};
use capt_testkit::eventually;
use k8s_openapi::api::coordination::v1::Lease;
use kube::ResourceExt;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use rstest::rstest;

use super::*;
use crate::workspace::place::stage::{self, Stage};

const NAME: &str = "tfstate-demo-capt";
const SECOND: &str = "tfstate-demo-capt-part-1";

/// A state that Terraform would divide: what is in the parts does not compress.
fn divided() -> [Vec<u8>; 2] {
    let noise: String = (0_u64..)
        .scan(1_u64, |state, _| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            Some(format!("{state:016x}"))
        })
        .take(140_000)
        .collect();
    let text = json!({ "serial": 2, "lineage": "l", "outputs": {}, "resources": [noise] }).to_string();
    let all = stage::gzip(text.as_bytes());
    let (first, second) = all.split_at(FULL);
    [first.to_vec(), second.to_vec()]
}

fn finalizers(secret: &Secret) -> &[String] {
    secret.finalizers()
}

async fn delete(stage: &Stage, name: &str) {
    stage.secrets().delete(name, &DeleteParams::default()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_leads_elsewhere_is_not_followed() {
    let stage = Stage::set(rules()).await;
    stage.put_state(NAME, &stage::state(1, 1)).await;
    for name in ["../../configmaps/x", "x?watch=true", "Größe", ""] {
        let place = Place { terraform_workspace: name.to_owned(), ..stage.bare("demo") };
        assert_eq!(look(&stage.client, &place).await.unwrap().state, State::Absent, "{name}");
        discard(&stage.client, &place).await.unwrap();
    }
    assert!(stage.secrets().get_opt(NAME).await.unwrap().is_some());
}

#[rstest]
#[case::garbage(b"\x00garbage".to_vec(), State::Present { empty: false })]
#[case::empty(stage::state(0, 0), State::Present { empty: true })]
#[case::full(stage::state(7, 2), State::Present { empty: false })]
#[tokio::test(flavor = "multi_thread")]
async fn a_state_is_read(#[case] content: Vec<u8>, #[case] expected: State) {
    let stage = Stage::set(rules()).await;
    let place = stage.bare("demo");
    assert_eq!(look(&stage.client, &place).await.unwrap().state, State::Absent);

    stage.put_state(NAME, &content).await;
    let found = look(&stage.client, &place).await.unwrap();

    assert_eq!((found.state, found.held), (expected, false));
    assert_eq!(found.bytes, content.len() as u64);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_terraform_has_not_filled_yet_is_no_state() {
    let stage = Stage::set(rules()).await;
    stage.put(json!({ "metadata": { "name": NAME, "labels": { "tfstate": "true" } } })).await;
    let place = stage.bare("demo");

    assert_eq!(look(&stage.client, &place).await.unwrap().state, State::Absent);
    discard(&stage.client, &place).await.unwrap();

    assert!(stage.secrets().get_opt(NAME).await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_state_of_another_workspace_is_left_alone() {
    let stage = Stage::set(rules()).await;
    let other = stage.bare("demo");
    stage.put_state(NAME, &stage::state(1, 1)).await;
    hold(&stage.client, &other, &look(&stage.client, &other).await.unwrap()).await.unwrap();
    let before = stage.secrets().get(NAME).await.unwrap();

    let place = Place { terraform_workspace: "demo".to_owned(), ..stage.bare("thief") };
    let found = look(&stage.client, &place).await.unwrap();
    assert_eq!(found.state, State::NotOurs { workspace: "demo".to_owned() });
    hold(&stage.client, &place, &found).await.unwrap();
    let_go(&stage.client, &place).await.unwrap();
    discard(&stage.client, &place).await.unwrap();

    assert_eq!(stage.secrets().get(NAME).await.unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_held_state_survives_its_namespace_and_terraform_still_finds_it() {
    let stage = Stage::set(rules()).await;
    let place = stage.place("demo").await;
    let content = stage::state(1, 1);
    stage.put_state(NAME, &content).await;

    hold(&stage.client, &place, &look(&stage.client, &place).await.unwrap()).await.unwrap();
    assert!(look(&stage.client, &place).await.unwrap().held);
    stage.end().await;

    let secret = stage.secrets().get(NAME).await.unwrap();
    assert_eq!(secret.data.as_ref().unwrap()["tfstate"].0, content);
    assert_eq!(secret.labels()[label::MANAGED_BY], "terraform");
    assert_eq!(secret.labels()["tfstateWorkspace"], "demo");
    assert_eq!(secret.owner_references()[0].uid, place.apply.as_ref().unwrap().uid);
    assert_eq!(secret.annotations()[annotation::WORKSPACE], "demo");
    let found = look(&stage.client, &place).await.unwrap();
    assert!(found.held);
    hold(&stage.client, &place, &found).await.unwrap();
    discard(&stage.client, &place).await.unwrap();
    assert!(stage.secrets().get_opt(NAME).await.unwrap().is_none());
    discard(&stage.client, &place).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restore_the_owner_has_its_new_uid() {
    let stage = Stage::set(rules()).await;
    let mut place = stage.place("demo").await;
    stage.put_state(NAME, &stage::state(1, 1)).await;
    hold(&stage.client, &place, &look(&stage.client, &place).await.unwrap()).await.unwrap();

    let current = place.apply.as_ref().unwrap().uid.clone();
    place.apply.as_mut().unwrap().uid = "of-before-the-restore".to_owned();
    let found = look(&stage.client, &place).await.unwrap();
    assert!(!found.held);
    hold(&stage.client, &place, &found).await.unwrap();
    place.apply.as_mut().unwrap().uid.clone_from(&current);
    // Garbage collection has seen an owner that is not there and may write at the same time.
    eventually("the new uid", async || {
        hold(&stage.client, &place, &look(&stage.client, &place).await?).await
    })
    .await;

    let secret = stage.secrets().get(NAME).await.unwrap();
    let owners: Vec<_> = secret.owner_references().iter().map(|owner| owner.uid.as_str()).collect();
    assert_eq!(owners, [current]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_was_replaced_meanwhile_is_not_written() {
    let stage = Stage::set(rules()).await;
    let place = stage.bare("demo");
    stage.put_state(NAME, &stage::state(1, 1)).await;
    let found = look(&stage.client, &place).await.unwrap();
    delete(&stage, NAME).await;
    assert!(hold(&stage.client, &place, &found).await.is_err());
    assert!(stage.secrets().get_opt(NAME).await.unwrap().is_none());

    stage.put_state(NAME, &stage::state(1, 1)).await;
    assert!(hold(&stage.client, &place, &found).await.is_err());
    assert!(finalizers(&stage.secrets().get(NAME).await.unwrap()).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_is_let_go_stays_when_its_apply_goes() {
    let stage = Stage::set(rules()).await;
    let place = stage.place("demo").await;
    stage.put_state(NAME, &stage::state(1, 1)).await;
    hold(&stage.client, &place, &look(&stage.client, &place).await.unwrap()).await.unwrap();

    let_go(&stage.client, &place).await.unwrap();
    let secret = stage.secrets().get(NAME).await.unwrap();
    let_go(&stage.client, &place).await.unwrap();

    assert!(finalizers(&secret).is_empty() && secret.owner_references().is_empty());
    assert_eq!(secret.annotations()[annotation::WORKSPACE], "demo");
    assert_eq!(stage.secrets().get(NAME).await.unwrap().resource_version(), secret.resource_version());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_part_is_held_and_removed() {
    let stage = Stage::set(rules()).await;
    let place = stage.bare("demo");
    let [first, second] = divided();
    stage.put_state(NAME, &first).await;
    stage.put_state(SECOND, &second).await;

    let found = look(&stage.client, &place).await.unwrap();
    assert_eq!((found.parts.len(), found.serial), (2, Some(2)));
    hold(&stage.client, &place, &found).await.unwrap();
    assert!(look(&stage.client, &place).await.unwrap().held);
    assert_eq!(finalizers(&stage.secrets().get(SECOND).await.unwrap()), [finalizer::STATE]);

    discard(&stage.client, &place).await.unwrap();
    assert!(stage.secrets().get_opt(NAME).await.unwrap().is_none());
    assert!(stage.secrets().get_opt(SECOND).await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_that_terraform_deleted_when_the_state_shrank_is_not_kept_from_going() {
    let stage = Stage::set(rules()).await;
    let place = stage.bare("demo");
    let [first, second] = divided();
    stage.put_state(NAME, &first).await;
    stage.put_state(SECOND, &second).await;
    hold(&stage.client, &place, &look(&stage.client, &place).await.unwrap()).await.unwrap();

    let smaller = json!({ "data": { "tfstate": k8s_openapi::ByteString(stage::state(3, 1)) } });
    stage.secrets().patch(NAME, &PatchParams::default(), &Patch::Merge(smaller)).await.unwrap();
    delete(&stage, SECOND).await;
    let found = look(&stage.client, &place).await.unwrap();
    assert_eq!((found.parts.len(), found.held, found.serial), (1, false, Some(3)));
    hold(&stage.client, &place, &found).await.unwrap();

    assert!(stage.secrets().get_opt(SECOND).await.unwrap().is_none());
    assert!(look(&stage.client, &place).await.unwrap().held);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_goes_with_its_state_unless_somebody_holds_it() {
    let stage = Stage::set(rules()).await;
    let leases: Api<Lease> = Api::namespaced(stage.administrator.clone(), &stage.namespace);
    for (workspace, holder, expected) in [("free", None, false), ("taken", Some("somebody"), true)] {
        let name = format!("lock-tfstate-{workspace}-capt");
        let lease = json!({ "metadata": { "name": name }, "spec": { "holderIdentity": holder } });
        leases.create(&PostParams::default(), &serde_json::from_value(lease).unwrap()).await.unwrap();

        discard(&stage.client, &stage.bare(workspace)).await.unwrap();

        assert_eq!(leases.get_opt(&name).await.unwrap().is_some(), expected, "{workspace}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_state_is_stands_on_the_apply_or_on_the_workspace() {
    let stage = Stage::set(rules()).await;
    let derived = stage.place("demo").await;
    let mut bare = stage.bare("own");
    stage.workspace(&mut bare).await;
    let applies: Api<WorkspaceTemplateApply> = Api::namespaced(stage.administrator.clone(), &stage.namespace);
    let workspaces: Api<Workspace> = Api::all(stage.administrator.clone());
    let on_apply =
        async || applies.get("demo-apply").await.unwrap().annotations().get(annotation::STATE).cloned();
    let on_workspace =
        async || workspaces.get(&bare.workspace).await.unwrap().annotations().get(annotation::STATE).cloned();

    note(&stage.client, &derived, None, true).await.unwrap();
    note(&stage.client, &bare, None, true).await.unwrap();
    let expected = format!("{}/{NAME}", stage.namespace);
    assert_eq!(on_apply().await.as_ref(), Some(&expected));
    assert!(on_workspace().await.is_some());

    note(&stage.client, &derived, Some(&expected), false).await.unwrap();
    note(&stage.client, &bare, on_workspace().await.as_deref(), false).await.unwrap();
    assert_eq!((on_apply().await, on_workspace().await), (None, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_state_elsewhere_goes_by_stands_on_the_apply_and_stays_when_the_workspace_is_called_otherwise()
{
    let stage = Stage::set(rules()).await;
    let place = stage.place("demo").await;
    let applies: Api<WorkspaceTemplateApply> = Api::namespaced(stage.administrator.clone(), &stage.namespace);
    note_name(&stage.client, &place, None).await.unwrap();
    let mut apply = applies.get("demo-apply").await.unwrap();
    assert_eq!(apply.annotations().get(annotation::KEPT_AS), Some(&place.kept_as));
    apply.annotations_mut().insert(annotation::WORKSPACE_NAME.to_owned(), "demo-another".to_owned());
    assert_eq!(capt_core::tie::kept_name(&apply), place.kept_as);

    let mut bare = stage.bare("own");
    stage.workspace(&mut bare).await;
    note_name(&stage.client, &bare, None).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_noted_on_what_is_gone_or_was_made_anew() {
    let stage = Stage::set(rules()).await;
    let mut place = stage.place("demo").await;
    place.apply.as_mut().unwrap().uid = "of-another".to_owned();
    assert!(note(&stage.client, &place, None, true).await.is_err());

    place.apply.as_mut().unwrap().key.name = "gone".to_owned();
    note(&stage.client, &place, None, true).await.unwrap();
}
