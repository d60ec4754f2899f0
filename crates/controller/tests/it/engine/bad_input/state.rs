//! States that this version of Terraform cannot read.

use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use k8s_openapi::api::core::v1::Secret;
use serde_json::{Value, json};

use super::{assert_kept, good, good_of, put, request, told};
use crate::engine::stage::EngineStage;

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn changed(content: &[u8], field: &str, value: Value) -> Vec<u8> {
    let mut text = String::new();
    GzDecoder::new(content).read_to_string(&mut text).unwrap();
    let mut state: Value = serde_json::from_str(&text).unwrap();
    state[field] = value;
    packed(&state.to_string())
}

async fn state(stage: &EngineStage, workspace: &str) -> Vec<u8> {
    let secret = stage.stage.api::<Secret>().get(&secret_name(workspace)).await.unwrap();
    secret.data.unwrap()["tfstate"].0.clone()
}

async fn replace(stage: &EngineStage, workspace: &str, content: &[u8]) {
    let patch = json!({ "data": { "tfstate": STANDARD.encode(content) } });
    stage.stage.change::<Secret>(&secret_name(workspace), patch).await;
}

fn secret_name(workspace: &str) -> String {
    format!("tfstate-{workspace}-capt")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_cannot_be_read_is_told_and_left_alone() {
    let stage = EngineStage::set().await;
    let name = put(&stage, "demo", good("one")).await;
    let ready = stage.ready(&name).await;
    let before = good_of(&stage, &ready).await;
    let right = state(&stage, &name).await;
    let all = [
        (changed(&right, "version", json!(99)), "version 99"),
        (b"\x00\xffgarbage".to_vec(), "no whole state of Terraform"),
        (packed("garbage"), "capt state restore"),
        (Vec::new(), "state"),
    ];

    for (number, (wrong, text)) in (1..).zip(all) {
        replace(&stage, &name, &wrong).await;
        request(&stage, &name, number).await;

        told(&stage, &name, text).await;
        assert_kept(&stage, &name, &before).await;
        assert_eq!(state(&stage, &name).await, wrong);
    }

    replace(&stage, &name, &right).await;
    put(&stage, "demo", good("two")).await;
    stage.output(&name, "said", json!("two")).await;
    stage.ready(&name).await;
}

/// Since 1.x a newer version writes what an older one can read, as long as the format is the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_a_newer_version_wrote_in_the_same_format_is_used() {
    let stage = EngineStage::set().await;
    let name = put(&stage, "demo", good("one")).await;
    stage.ready(&name).await;
    let newer = changed(&state(&stage, &name).await, "terraform_version", json!("99.0.0"));

    replace(&stage, &name, &newer).await;
    put(&stage, "demo", good("two")).await;

    stage.output(&name, "said", json!("two")).await;
}
