//! Annotations that nobody can understand.

use capt_api::names::annotation;
use serde_json::json;

use super::{assert_kept, good, good_of, put, told, with};
use crate::engine::stage::{EngineStage, output};

const ALL: [(&str, &str, &[&str]); 4] = [
    (
        annotation::EXTERNAL_NAME,
        "../Other_Name",
        &["crossplane.io/external-name: `../Other_Name` cannot be the name of a Terraform workspace"],
    ),
    (
        annotation::DRIFT_POLICY,
        "Reprot",
        &["drift-policy: `Reprot` is not understood", "Correct, Report or Ignore"],
    ),
    (annotation::POLL_INTERVAL, "soon", &["crossplane.io/poll-interval: `soon` is not understood", "10m"]),
    (annotation::POLL_INTERVAL, "-5m", &["crossplane.io/poll-interval: `-5m` is not understood"]),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_annotation_is_told_and_loses_nothing() {
    let stage = EngineStage::set().await;
    let name = put(&stage, "demo", good("one")).await;
    let ready = stage.ready(&name).await;
    let before = good_of(&stage, &ready).await;
    for (key, value, texts) in ALL {
        stage.annotate(&name, key, value).await;
        let message = told(&stage, &name, texts[0]).await;
        for text in texts {
            assert!(message.contains(text), "`{text}` in: {message}");
        }
        assert_kept(&stage, &name, &before).await;

        let mended = ready.metadata.annotations.as_ref().and_then(|annotations| annotations.get(key));
        let patch = json!({ "metadata": { "annotations": { key: mended } } });
        let parameters = kube::api::PatchParams::default();
        stage.stage.workspaces().patch(&name, &parameters, &kube::api::Patch::Merge(patch)).await.unwrap();
        stage.ready(&name).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_state_of_another_is_refused_until_it_has_a_name_of_its_own() {
    let stage = EngineStage::set().await;
    let first = put(&stage, "first", good("one")).await;
    let ready = stage.ready(&first).await;
    let before = good_of(&stage, &ready).await;
    // It waits for something that is not there, so that its name can be changed before it begins.
    let missing = json!([{ "name": "X", "configMapKeyRef": { "namespace": "${NAMESPACE}", "name": "late", "key": "k" } }]);
    let second = put(&stage, "second", with("env", missing)).await;
    told(&stage, &second, "does not exist").await;

    stage.annotate(&second, annotation::EXTERNAL_NAME, &first).await;
    put(&stage, "second", good("two")).await;

    let message = told(&stage, &second, &format!("belongs to Workspace `{first}`")).await;
    assert!(message.contains(annotation::EXTERNAL_NAME), "{message}");
    assert_kept(&stage, &first, &before).await;
    stage.annotate(&second, annotation::EXTERNAL_NAME, &second).await;
    assert_eq!(output(&stage.ready(&second).await, "said"), Some(&json!("two")));
    assert_kept(&stage, &first, &before).await;
}
