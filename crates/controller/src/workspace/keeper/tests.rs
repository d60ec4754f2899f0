use capt_terraform::scripted::{ScriptedEngine, Turn};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::json;

use super::*;
use crate::metrics::Metrics;
use crate::options::{Server, TerraformOptions};
use crate::workspace::place::stage::Stage;
use crate::workspace::state::{begin, rules};

const NAME: &str = "tfstate-demo-capt";

async fn keeper() -> (Stage, SecretKeeper) {
    let stage = Stage::set(rules()).await;
    let place = stage.place("demo").await;
    begin(&stage.client, &place).await.unwrap();
    let engine = Arc::new(ScriptedEngine::new(|_| Turn::hangs()));
    let (home, host) = (stage.namespace.clone(), "here".to_owned());
    let options = TerraformOptions::new(engine, "artifacts".into(), Server::default(), home, host);
    let terraform = Arc::new(Terraform::new(options, Metrics::new()));
    let keeper = SecretKeeper::new(&stage.client, &place, &terraform);
    (stage, keeper)
}

/// A version with so many characters that cannot be compressed well.
fn version(serial: u64, length: usize) -> StateVersion {
    let mut random = serial.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let noise = (0..length / 16).map(|_| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        format!("{random:016x}")
    });
    let noise: String = noise.collect();
    let state =
        json!({ "version": 4, "serial": serial, "lineage": "l", "outputs": {}, "resources": [noise] });
    StateVersion::read(state.to_string().into_bytes()).unwrap()
}

/// Loads, and stores one version after the other.
async fn store(keeper: &SecretKeeper, versions: &[&StateVersion]) {
    let loaded = keeper.load().await.unwrap();
    let mut earlier: Vec<String> = loaded.into_iter().map(|version| version.digest).collect();
    for version in versions {
        keeper.store(version, &earlier).await.unwrap();
        earlier.push(version.digest.clone());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_somebody_else_writes_during_a_run_is_not_written_over() {
    let (stage, keeper) = keeper().await;
    let (first, second, theirs) = (version(1, 64), version(2, 64), version(2, 80));
    store(&keeper, &[&first]).await;
    let (_, other) = (&stage, SecretKeeper::new(&stage.client, &keeper.place, &keeper.terraform));
    other.load().await.unwrap();
    other.store(&theirs, std::slice::from_ref(&first.digest)).await.unwrap();

    let error = keeper.store(&second, std::slice::from_ref(&first.digest)).await.unwrap_err();

    assert!(matches!(error, EngineError::StateForked { .. }), "{error:?}");
    assert_eq!(keeper.load().await.unwrap(), Some(theirs));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_is_deleted_during_a_run_is_written_again() {
    let (stage, keeper) = keeper().await;
    let (first, second) = (version(1, 64), version(2, 64));
    store(&keeper, &[&first]).await;
    let secrets: Api<Secret> = Api::namespaced(stage.administrator.clone(), &stage.namespace);
    let free = json!({ "metadata": { "finalizers": null } });
    secrets.patch(NAME, &PatchParams::default(), &Patch::Merge(free)).await.unwrap();
    secrets.delete(NAME, &DeleteParams::default()).await.unwrap();

    keeper.store(&second, std::slice::from_ref(&first.digest)).await.unwrap();

    assert_eq!(keeper.load().await.unwrap(), Some(second));
}

#[tokio::test(flavor = "multi_thread")]
async fn labels_and_owners_that_change_during_a_run_are_kept() {
    let (stage, keeper) = keeper().await;
    let (first, second) = (version(1, 64), version(2, 64));
    store(&keeper, &[&first]).await;
    let secrets: Api<Secret> = Api::namespaced(stage.administrator.clone(), &stage.namespace);
    let theirs = json!({ "metadata": { "labels": { "theirs": "yes" } } });
    secrets.patch(NAME, &PatchParams::default(), &Patch::Merge(theirs)).await.unwrap();

    keeper.store(&second, std::slice::from_ref(&first.digest)).await.unwrap();

    assert_eq!(keeper.load().await.unwrap(), Some(second));
    assert_eq!(secrets.get(NAME).await.unwrap().labels()["theirs"], "yes");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_of_ten_megabytes_is_stored_and_found_again() {
    let (_stage, keeper) = keeper().await;
    let (small, large) = (version(1, 64), version(2, 10 << 20));
    store(&keeper, &[&small, &large]).await;
    assert_eq!(keeper.load().await.unwrap().map(|found| found.digest), Some(large.digest));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_is_taken_with_the_identity_of_its_holder_and_released() {
    let (_stage, keeper) = keeper().await;
    keeper.lock(Verb::Apply).await.unwrap();
    let state = StateOf::at(&keeper.client, &keeper.place);
    let held = state.holder().await.unwrap().unwrap();
    assert_eq!(held.runner.as_ref(), Some(&keeper.terraform.options.runner));

    keeper.unlock().await.unwrap();
    assert_eq!(state.holder().await.unwrap(), None);
    keeper.lock(Verb::Apply).await.unwrap();
    let other = SecretKeeper::new(&keeper.client, &keeper.place, &keeper.terraform);
    other.release_left_lock().await.unwrap();
    assert_eq!(state.holder().await.unwrap(), None, "what this process left is released");
}
