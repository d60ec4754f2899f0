//! A binary, a disk and a directory that do not do as they should.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use capt_terraform::scripted::{ScriptedEngine, Turn};
use capt_terraform::{Engine, Error, ProcessEngine, Settings, Verb};
use rstest::rstest;
use serde_json::json;

use super::{assert_kept, good, good_of, put, request, told};
use crate::engine::stage::{EngineStage, binary, find};

/// The real binary, but a `plan` does this first as long as the file `trouble` is there.
fn troubled(stage: &EngineStage, trouble: &str) -> PathBuf {
    let path = stage.file("terraform");
    let text = format!(
        "#!/bin/sh\nhere=$(dirname \"$0\")\nif [ \"$1\" = plan ] && [ -e \"$here/trouble\" ]; then\n{trouble}\nfi\nexec '{}' \"$@\"\n",
        binary().display()
    );
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    path
}

async fn stage_with(trouble: &str) -> EngineStage {
    let mut stage = EngineStage::without_manager().await;
    let settings = Settings::new(stage.directory.path().join("workspaces"), troubled(&stage, trouble));
    let engine: Arc<dyn Engine> = Arc::new(ProcessEngine::start(settings).await.unwrap());
    stage.start_manager_with(engine, |_| {}).await;
    stage
}

#[rstest]
#[case::a_crash("echo 'panic: out of luck' >&2; kill -SEGV $$", "out of luck")]
#[case::a_full_disk("cat \"$0\" > /dev/full; exit 1", "No space left on device")]
#[case::an_odd_end("exit 42", "plan failed (exit status: 42)")]
#[case::a_kill("kill -KILL $$", "plan failed (signal: 9")]
#[tokio::test(flavor = "multi_thread")]
async fn a_binary_that_fails_is_told_and_tried_again(#[case] trouble: &str, #[case] text: &str) {
    let stage = stage_with(trouble).await;
    fs::write(stage.file("trouble"), "").unwrap();
    let name = put(&stage, "demo", good("one")).await;
    told(&stage, &name, text).await;

    fs::remove_file(stage.file("trouble")).unwrap();
    request(&stage, &name, 1).await;
    let ready = stage.ready(&name).await;
    let before = good_of(&stage, &ready).await;

    fs::write(stage.file("trouble"), "").unwrap();
    put(&stage, "demo", good("two")).await;
    told(&stage, &name, text).await;
    assert_kept(&stage, &name, &before).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_hangs_holds_up_nobody_else_and_ends_with_its_apply() {
    let stage = stage_with(
        "touch \"$here/hangs\"; rm \"$here/trouble\"; trap 'exit 1' INT; while :; do sleep 0.05; done",
    )
    .await;
    fs::write(stage.file("trouble"), "").unwrap();
    let hanging = put(&stage, "hanging", good("one")).await;
    capt_testkit::eventually("a plan to hang", async || stage.file("hangs").exists()).await;

    let name = put(&stage, "demo", good("two")).await;

    stage.output(&name, "said", json!("two")).await;
    let workspace = stage.stage.workspaces().get(&hanging).await.unwrap();
    assert_eq!(find(&workspace, "Ready").unwrap().message.as_deref(), Some("planning"));
    stage.delete_apply("hanging").await;
    stage.gone(&hanging).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_took_too_long_is_told() {
    let mut stage = EngineStage::without_manager().await;
    let error =
        || Error::TimedOut { verb: Verb::Plan, limit: Duration::from_secs(1800), diagnostics: Vec::new() };
    let engine = ScriptedEngine::new(move |_| Turn::fails(error()));
    stage.start_manager_with(Arc::new(engine), |_| {}).await;

    let name = put(&stage, "demo", good("one")).await;

    told(&stage, &name, "plan took longer than 1800 seconds and was ended").await;
}

/// Permissions do not bind the superuser; a file in the way binds everybody.
#[tokio::test(flavor = "multi_thread")]
async fn a_directory_that_cannot_be_written_to_is_named() {
    let stage = EngineStage::set().await;
    let directory = stage.directory.path().join("workspaces");
    let aside = stage.directory.path().join("aside");
    fs::rename(&directory, &aside).unwrap();
    fs::write(&directory, "").unwrap();
    let name = put(&stage, "demo", good("one")).await;

    let message = told(&stage, &name, "working on `").await;
    assert!(message.contains(&*directory.to_string_lossy()), "{message}");

    fs::remove_file(&directory).unwrap();
    fs::rename(&aside, &directory).unwrap();
    request(&stage, &name, 1).await;
    stage.ready(&name).await;
}
