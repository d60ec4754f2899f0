//! A binary, a disk and a directory that do not do as they should.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use capt_terraform::scripted::{ScriptedEngine, Turn};
use capt_terraform::{Engine, Error, ProcessEngine, Settings, Verb};
use serde_json::json;

use super::{assert_kept, good, good_of, put, request, told};
use capt_testkit::terraform::binary;

use crate::engine::stage::{EngineStage, find};

/// A stage with the real binary, but a `plan` first does what the file `trouble` says, if it is there.
async fn troubled() -> EngineStage {
    let mut stage = EngineStage::without_manager().await;
    let script = stage.file("terraform");
    let text = format!(
        "#!/bin/sh\nhere=$(dirname \"$0\")\nif [ \"$1\" = plan ] && [ -e \"$here/trouble\" ]; then . \"$here/trouble\"; fi\nexec '{}' \"$@\"\n",
        binary().display()
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    let settings = Settings::new(stage.directory.path().join("workspaces"), script);
    let engine: Arc<dyn Engine> = Arc::new(ProcessEngine::start(settings).await.unwrap());
    stage.start_manager_with(engine, |_| {}).await;
    stage
}

#[tokio::test(flavor = "multi_thread")]
async fn a_binary_that_fails_is_told_and_tried_again() {
    const ALL: [(&str, &str); 4] = [
        ("echo 'panic: out of luck' >&2; kill -SEGV $$", "out of luck"),
        ("cat \"$0\" > /dev/full; exit 1", "No space left on device"),
        ("exit 42", "plan failed (exit status: 42)"),
        ("kill -KILL $$", "plan failed (signal: 9"),
    ];
    let stage = troubled().await;
    fs::write(stage.file("trouble"), ALL[0].0).unwrap();
    let name = put(&stage, "demo", good("one")).await;
    told(&stage, &name, ALL[0].1).await;

    fs::remove_file(stage.file("trouble")).unwrap();
    request(&stage, &name, 0).await;
    let ready = stage.ready(&name).await;
    let before = good_of(&stage, &ready).await;

    for (number, (trouble, text)) in (1..).zip(ALL) {
        fs::write(stage.file("trouble"), trouble).unwrap();
        request(&stage, &name, number).await;
        told(&stage, &name, text).await;
        assert_kept(&stage, &name, &before).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_hangs_holds_up_nobody_else_and_ends_with_its_apply() {
    let stage = troubled().await;
    let trouble =
        "rm \"$here/trouble\"; touch \"$here/hangs\"; trap 'exit 1' INT; while :; do sleep 0.05; done";
    fs::write(stage.file("trouble"), trouble).unwrap();
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
