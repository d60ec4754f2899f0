use kube::ResourceExt;
use serde_json::json;

use super::*;
use crate::workspace::place::stage::{self, Stage};
use crate::workspace::state;

const NAME: &str = "tfstate-demo-capt";

async fn names(stage: &Stage) -> Vec<String> {
    let all = stage.secrets().list(&ListParams::default()).await.unwrap();
    all.items.iter().map(ResourceExt::name_any).filter(|name| name.starts_with("capt-snapshot-")).collect()
}

/// Replaces the state and copies it.
async fn take_next(stage: &Stage, place: &Place, serial: u64) -> Result<(), Error> {
    let _ = stage.secrets().delete(NAME, &kube::api::DeleteParams::default()).await;
    stage.put_state(NAME, &stage::state(serial, 1)).await;
    take(&stage.client, place, &state::look(&stage.client, place).await.unwrap(), None).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_is_empty_or_cannot_be_read_is_not_copied() {
    let stage = Stage::set(state::rules()).await;
    let place = stage.bare("demo");
    for content in [stage::state(0, 0), b"garbage".to_vec()] {
        stage.put_state(NAME, &content).await;
        take(&stage.client, &place, &state::look(&stage.client, &place).await.unwrap(), None).await.unwrap();
        stage.secrets().delete(NAME, &kube::api::DeleteParams::default()).await.unwrap();
    }
    take(&stage.client, &place, &state::look(&stage.client, &place).await.unwrap(), None).await.unwrap();
    assert!(names(&stage).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_three_versions_are_kept_each_once() {
    let stage = Stage::set(state::rules()).await;
    let place = stage.place("demo").await;
    for serial in [1, 2, 2, 9, 10] {
        take_next(&stage, &place, serial).await.unwrap();
    }
    let lineage = short_digest(["l"], 6);
    let expected = ["10", "2", "9"].map(|serial| format!("capt-snapshot-demo-{serial}-{lineage}"));
    assert_eq!(names(&stage).await, expected);

    let newest = stage.secrets().get(&expected[0]).await.unwrap();
    assert_eq!(newest.data.as_ref().unwrap()[KEY].0, stage::state(10, 1));
    assert_eq!(newest.immutable, Some(true));
    assert!(!newest.labels().keys().any(|label| label.starts_with("tfstate")));

    remove(&stage.client, &place).await.unwrap();
    remove(&stage.client, &place).await.unwrap();
    assert!(names(&stage).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_of_somebody_else_is_no_copy() {
    let stage = Stage::set(state::rules()).await;
    let place = stage.bare("demo");
    let name = format!("capt-snapshot-demo-5-{}", short_digest(["l"], 6));
    let foreign = stage.put(json!({ "metadata": { "name": name } })).await;

    let error = take_next(&stage, &place, 5).await.unwrap_err();
    remove(&stage.client, &place).await.unwrap();

    assert!(error.sentence().contains(&name), "{}", error.sentence());
    assert_eq!(stage.secrets().get(&name).await.unwrap(), foreign);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_who_was_stopped_between_two_parts_is_followed_by_one_who_writes_the_rest() {
    let stage = Stage::set(state::rules()).await;
    let place = stage.bare("demo");
    let name = format!("capt-snapshot-demo-5-{}", short_digest(["l"], 6));
    let version = Version { serial: 5, lineage: "l".to_owned() };
    let api = stage.secrets();
    copy(&api, &place, &format!("{name}-part-1"), &version, &Hidden::from("x"), &[]).await.unwrap();

    take_next(&stage, &place, 5).await.unwrap();

    assert_eq!(names(&stage).await, [name.clone(), format!("{name}-part-1")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_that_is_being_deleted_stops_nobody() {
    let stage = Stage::set(state::rules()).await;
    let place = stage.bare("demo");
    stage.put_state(NAME, &stage::state(1, 1)).await;
    let found = state::look(&stage.client, &place).await.unwrap();
    state::hold(&stage.client, &place, &found).await.unwrap();
    stage.end().await;

    take(&stage.client, &place, &found, None).await.unwrap();

    state::discard(&stage.client, &place).await.unwrap();
}
