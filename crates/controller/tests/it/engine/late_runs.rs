//! Runs that `clusterctl move` did not wait for: it looks who holds it up and then pauses, and an apply of Terraform can begin in
//! between.

use std::fs;
use std::io::Write as _;

use capt_api::names::annotation;
use capt_testkit::eventually;
use flate2::Compression;
use flate2::write::GzEncoder;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use kube::api::{DeleteParams, PostParams};
use serde_json::json;

use super::modules::{lingering, touching};
use super::moves::{Luggage, fresh, leave, pause};
use super::stage::EngineStage;

#[tokio::test(flavor = "multi_thread")]
async fn what_such_a_run_made_is_told_with_its_state_and_not_made_again() {
    let stage = EngineStage::set().await;
    let (begun, made) = (stage.file("begun"), stage.file("made"));
    let name = stage.put("late", &lingering(&begun, &made), json!({})).await;
    eventually("something to be begun", async || begun.exists()).await;
    let luggage = Luggage::of(&stage, &name).await;
    luggage.leave(&stage).await;

    let (namespace, kept) = (&stage.stage.namespace, format!("tfstate-{name}-capt"));
    stage.condition(&name, "Synced", "False", &format!("in Secret `{namespace}/{kept}`")).await;
    assert!(made.exists());
    let secrets = stage.stage.api::<Secret>();
    let after = secrets.get(&kept).await.unwrap().data;
    let moved = luggage.secrets.iter().find(|secret| secret.name_any() == kept).unwrap();
    assert_ne!(after, moved.data, "what was made since is in it");
    secrets.delete(&kept, &DeleteParams::default()).await.unwrap();
    stage.gone(&name).await;

    // In the other cluster, as the guide says.
    fs::remove_file(&begun).unwrap();
    luggage.arrive(&stage).await;
    stage.condition(&name, "ApprovalRequired", "True", "").await;
    stage.stage.change::<Secret>(&kept, json!({ "data": after })).await;
    stage.annotate(&name, annotation::RECONCILE_REQUESTED_AT, "now").await;
    stage.ready(&name).await;
    assert!(!begun.exists(), "it was made a second time");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_with_nothing_in_it_that_such_a_run_left_goes_with_its_workspace() {
    let stage = EngineStage::set().await;
    let name = stage.put("real", &touching(&stage.file("real")), json!({})).await;
    stage.ready(&name).await;
    let luggage = Luggage::of(&stage, &name).await;
    pause(&stage, &name).await;
    let secrets = stage.stage.api::<Secret>();
    for secret in &luggage.secrets {
        leave(&secrets, &secret.name_any()).await;
    }
    let kept = format!("tfstate-{name}-capt");
    let moved = luggage.secrets.iter().find(|secret| secret.name_any() == kept).unwrap();
    let mut empty = fresh(moved.clone());
    // As Terraform makes one: nobody holds or owns it.
    (empty.metadata.finalizers, empty.metadata.owner_references) = (None, None);
    empty.metadata.annotations = Some([("encoding".to_owned(), "gzip".to_owned())].into());
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    write!(
        packed,
        "{}",
        json!({ "version": 4, "serial": 1, "lineage": "other", "outputs": {}, "resources": [] })
    )
    .unwrap();
    empty.data = Some([("tfstate".to_owned(), ByteString(packed.finish().unwrap()))].into());
    secrets.create(&PostParams::default(), &empty).await.unwrap();
    leave(&stage.stage.applies(), &luggage.apply.name_any()).await;

    stage.gone(&name).await;
    assert!(stage.file("real").exists());
    eventually("nothing to be left", async || stage.secrets().await.is_empty()).await;
}
