//! Disks, providers and neighbours that do not do as they should.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use capt_terraform::{Engine, Error, HiddenValue, Identity, ProcessEngine, Retry, Secret, Settings, Verb};

use crate::bed::{Bed, Seen, inline};
use crate::fake::{script, script_with_init};

#[tokio::test]
async fn two_inits_never_work_in_the_plugin_cache_at_the_same_time() {
    // Two of them in here would be seen: a directory can be made only once.
    let init = r#"here=$(dirname "$0"); mkdir "$TF_PLUGIN_CACHE_DIR/busy" || touch "$here/overlap"
        echo >> "$here/inits"; sleep 0.1; rmdir "$TF_PLUGIN_CACHE_DIR/busy""#;
    let directory = tempfile::tempdir().unwrap();
    let binary = script_with_init(&directory, init, "exit 0");
    let root = tempfile::tempdir().unwrap();
    let mut engines = Vec::new();
    // As two processes would be.
    for runs in ["one", "two"] {
        let mut settings = Settings::new(root.path().join(runs), &binary);
        settings.plugin_cache = Some(root.path().join("cache"));
        engines.push(Arc::new(ProcessEngine::start(settings).await.unwrap()));
    }

    let mut running = tokio::task::JoinSet::new();
    for (index, engine) in engines.iter().cycle().take(6).cloned().enumerate() {
        let mut run = inline("");
        run.identity = Identity::try_from(format!("uid-{index}")).unwrap();
        running.spawn(async move { engine.run(&run, &Seen::default()).await.map(drop) });
    }
    while let Some(ended) = running.join_next().await {
        ended.unwrap().unwrap();
    }

    assert_eq!(fs::read_to_string(directory.path().join("inits")).unwrap().lines().count(), 6);
    assert!(!directory.path().join("overlap").exists());
}

#[tokio::test]
async fn a_provider_that_crashes_is_told_without_the_secrets_in_its_trace() {
    let rest = r#"
case "$1" in plan) printf '%s\n' '{"type":"diagnostic","diagnostic":{"severity":"error","summary":"Plugin did not respond","detail":"The plugin encountered an error, and failed to respond to the plugin6.(*GRPCProvider).PlanResourceChange call.","address":"aws_vpc.this"}}'
printf 'Stack trace from the terraform-provider-aws plugin:\n\npanic: runtime error: hunter22\n\nError: The terraform-provider-aws plugin crashed!\n\nThis is always indicative of a bug within the plugin.\n' >&2; exit 1;; esac"#;
    let directory = tempfile::tempdir().unwrap();
    let bed = Bed::with(script(&directory, rest)).await;
    let mut run = inline("");
    run.hidden = vec![HiddenValue { value: Secret::from("hunter22") }];
    let seen = Seen::default();

    let error = bed.engine.run(&run, &seen).await.unwrap_err();

    let text = error.to_string();
    assert!(
        text.starts_with("plan failed (exit status: 1): Plugin did not respond [aws_vpc.this]"),
        "{text}"
    );
    assert!(text.contains("terraform-provider-aws plugin crashed!"), "{text}");
    assert_eq!((error.retry(), error.reason()), (Retry::Backoff, "PlanFailed"));
    assert!(!format!("{error:?}{:?}", seen.events()).contains("hunter22"));
}

#[tokio::test]
async fn a_plan_that_takes_too_long_is_asked_to_stop() {
    let rest = r#"trap 'echo INT >> "$(dirname "$0")/signals"; exit 1' INT; while :; do sleep 0.05; done"#;
    let directory = tempfile::tempdir().unwrap();
    let bed = Bed::with(script(&directory, rest)).await;
    let mut run = inline("");
    run.limits.plan = Duration::from_millis(300);
    // So long that a kill would not come within the time of a test.
    run.limits.grace = Duration::from_secs(3600);

    let error = bed.plan(&run).await.unwrap_err();

    assert!(matches!(error, Error::TimedOut { verb: Verb::Plan, .. }), "{error:?}");
    assert_eq!(fs::read_to_string(directory.path().join("signals")).unwrap(), "INT\n");
}

/// No small disk can be made here without rights. `/dev/full` answers as one does.
#[tokio::test]
async fn a_full_disk_is_told_with_what_to_do() {
    let source = fs::write("/dev/full", "x").unwrap_err();
    let error = Error::File { path: "/x".into(), source };
    assert_eq!(error.to_string(), "working on `/x`: the disk is full, make room there");
    assert_eq!(error.retry(), Retry::Backoff);

    let directory = tempfile::tempdir().unwrap();
    let bed = Bed::with(script(&directory, "cat \"$0\" > /dev/full")).await;
    let error = bed.plan(&inline("")).await.unwrap_err();
    assert!(error.to_string().contains("No space left on device"), "{error}");
}

/// Permissions do not bind the superuser; these two places bind everybody.
#[tokio::test]
async fn a_directory_that_cannot_be_written_to_is_named() {
    let started = ProcessEngine::start(Settings::new("/sys/capt", "/bin/true")).await;
    let error = started.err().unwrap().to_string();
    assert_eq!(error, "working on `/sys/capt`: it cannot be written to, see its permissions");

    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("file"), "").unwrap();
    let below = root.path().join("file/runs");
    let started = ProcessEngine::start(Settings::new(&below, "/bin/true")).await;
    let error = started.err().unwrap().to_string();
    assert_eq!(error, format!("working on `{}`", below.display()));
}

#[tokio::test]
async fn a_directory_that_is_lost_in_the_middle_is_named() {
    let directory = tempfile::tempdir().unwrap();
    // A file where the directory of the logs was.
    let rest = "cd .. && rm -rf logs && echo > logs; exit 0";
    let bed = Bed::with(script(&directory, rest)).await;

    let error = bed.plan(&inline("")).await.unwrap_err();

    assert!(matches!(error, Error::File { .. }), "{error:?}");
    assert!(error.to_string().contains("uid-1/logs"), "{error}");
}

#[tokio::test]
async fn a_local_state_of_a_newer_version_is_told() {
    let bed = Bed::new().await;
    let state = bed.workdir().join("state/network");
    fs::create_dir_all(&state).unwrap();
    let content = r#"{"version":99,"terraform_version":"9.0.0","serial":1,"lineage":"a"}"#;
    fs::write(state.join("terraform.tfstate"), content).unwrap();

    let error = bed.plan(&inline("resource \"terraform_data\" \"a\" {}\n")).await.unwrap_err();

    assert!(error.to_string().contains("9.0.0"), "{error}");
    assert_eq!(fs::read_to_string(state.join("terraform.tfstate")).unwrap(), content);
}
