use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams};

use super::*;
use crate::workspace::place::kept::Role;
use crate::workspace::place::stage::Stage;
use crate::workspace::state::{begin, discard, look, rules};

const NAME: &str = "tfstate-demo-capt";

/// A version of this many characters that cannot be compressed.
fn version(serial: u64, noise: usize) -> StateVersion {
    let noise: String = (0_u64..)
        .scan(serial + 1, |state, _| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            Some(format!("{state:016x}"))
        })
        .take(noise / 16)
        .collect();
    let state =
        json!({ "version": 4, "serial": serial, "lineage": "l", "outputs": {}, "resources": [noise] });
    StateVersion::read(state.to_string().into_bytes()).unwrap()
}

async fn names(stage: &Stage) -> Vec<String> {
    let found = stage.secrets().list(&ListParams::default()).await.unwrap();
    found.items.iter().map(ResourceExt::name_any).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_is_stored_as_terraform_stores_it_and_held() {
    let stage = Stage::set(rules()).await;
    let place = stage.place("demo").await;
    let (stored, nothing) = load(&stage.client, &place).await.unwrap();
    assert_eq!((nothing, stored.digest.clone()), (None, None));

    assert_eq!(stored.secrets, []);
    begin(&stage.client, &place).await.unwrap();
    let (stored, _) = load(&stage.client, &place).await.unwrap();
    let second = version(2, 64);
    let stored = write(&stage.client, &place, &stored, &second).await.unwrap();

    assert_eq!(stored.digest, Some(second.digest.clone()));
    assert_eq!(load(&stage.client, &place).await.unwrap().1, Some(second));
    let secret = stage.secrets().get(NAME).await.unwrap();
    for (key, value) in [
        ("tfstate", "true"),
        ("tfstateSecretSuffix", "capt"),
        ("tfstateWorkspace", "demo"),
        ("app.kubernetes.io/managed-by", "terraform"),
    ] {
        assert_eq!(secret.labels()[key], value);
    }
    assert_eq!(secret.annotations()["encoding"], "gzip");
    let found = look(&stage.client, &place).await.unwrap();
    assert!(found.held && found.serial == Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_somebody_else_wrote_over_is_a_conflict_and_loses_nothing() {
    let stage = Stage::set(rules()).await;
    let place = stage.bare("demo");
    let (nothing, _) = load(&stage.client, &place).await.unwrap();
    let stored = write(&stage.client, &place, &nothing, &version(1, 64)).await.unwrap();
    let theirs = write(&stage.administrator, &place, &stored, &version(5, 64)).await.unwrap();

    let error = write(&stage.client, &place, &stored, &version(2, 64)).await.unwrap_err();
    assert!(error.is_conflict(), "{error:?}");
    assert_eq!(load(&stage.client, &place).await.unwrap().0.digest, theirs.digest);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_somebody_took_away_is_written_again_and_held_by_nobody() {
    let stage = Stage::set(rules()).await;
    let place = stage.place("demo").await;
    write(&stage.client, &place, &Stored::default(), &version(3, 64)).await.unwrap();
    let secret = stage.secrets().get(NAME).await.unwrap();
    assert!(secret.finalizers().is_empty() && secret.owner_references().is_empty());
    assert_eq!(look(&stage.client, &place).await.unwrap().serial, Some(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_grows_and_shrinks_is_divided_and_joined() {
    let stage = Stage::set(rules()).await;
    let place = stage.bare("demo");
    let (stored, _) = load(&stage.client, &place).await.unwrap();
    let large = version(1, 5 << 20);
    let stored = write(&stage.client, &place, &stored, &large).await.unwrap();
    assert!(stored.secrets.len() > 2, "{}", stored.secrets.len());
    let (again, found) = load(&stage.client, &place).await.unwrap();
    assert!(found.as_ref() == Some(&large));
    assert!(!names(&stage).await.iter().any(|name| name.contains("staged")), "the copy is gone");

    let small = version(2, 64);
    write(&stage.client, &place, &again, &small).await.unwrap();
    assert_eq!(load(&stage.client, &place).await.unwrap().1, Some(small));
    assert_eq!(names(&stage).await, [NAME]);
}

/// Killed after each of the writes of a version that needs several Secrets.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_dies_while_a_large_version_is_written_leaves_the_old_one_or_the_new_one() {
    let stage = Stage::set(rules()).await;
    let place = stage.bare("demo");
    let (old, new) = (version(1, 3 << 20), version(2, 3 << 20));
    let packed = pack(new.text.expose());
    let pieces = packed.chunks(FULL).count();
    assert!(pieces >= 2);
    for done in 0..=pieces {
        let (stored, _) = load(&stage.client, &place).await.unwrap();
        let stored = write(&stage.client, &place, &stored, &old).await.unwrap();
        staged::put(&stage.client, &place, &new, &packed).await.unwrap();
        let order: Vec<(usize, &[u8])> = packed.chunks(FULL).enumerate().collect();
        for (index, piece) in order.iter().rev().take(done) {
            let metadata = labelled(&place, *index, pieces);
            put(&stage.client, &place, stored.secrets.get(*index), metadata, piece).await.unwrap();
        }

        let found = load(&stage.client, &place).await.unwrap().1.unwrap();
        let expected = if done == 0 { &old } else { &new };
        assert!(found == *expected, "after {done} writes: serial {}", found.serial);
        assert!(look(&stage.client, &place).await.unwrap().serial.is_some(), "Terraform can read it, too");
        discard(&stage.client, &place).await.unwrap();
        assert!(names(&stage).await.is_empty(), "after {done}: {:?}", names(&stage).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_is_not_complete_is_not_used() {
    let stage = Stage::set(rules()).await;
    let place = stage.bare("demo");
    stage.put_state(NAME, b"no gzip").await;
    let new = version(2, 3 << 20);
    staged::put(&stage.client, &place, &new, &pack(new.text.expose())).await.unwrap();
    assert_eq!(
        stage
            .secrets()
            .list(&ListParams::default().labels(&place.selector(Role::Staged)))
            .await
            .unwrap()
            .items
            .len(),
        2
    );
    stage.secrets().delete("capt-staged-demo-1", &DeleteParams::default()).await.unwrap();

    let error = load(&stage.client, &place).await.unwrap_err();
    assert!(error.sentence().contains("capt state restore"), "{}", error.sentence());
}
