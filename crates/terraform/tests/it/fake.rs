//! Scripts in place of the binary, for what the real one rarely does.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use capt_terraform::{Engine, Error, ProcessEngine, Settings, Source, Verb};
use tempfile::TempDir;

use crate::bed::{Bed, inline};

/// A script that answers `version`, writes what init leaves behind, and does the rest as told.
pub(crate) fn script(directory: &TempDir, rest: &str) -> PathBuf {
    script_with_init(directory, "", rest)
}

/// The same, with more to do in init.
pub(crate) fn script_with_init(directory: &TempDir, init: &str, rest: &str) -> PathBuf {
    let path = directory.path().join("terraform");
    let text = format!(
        "#!/bin/sh\ncase \"$1\" in\nversion) echo 'Terraform v1.11.4'; exit 0;;\ninit) mkdir -p \"$TF_DATA_DIR\"; {init}\n\
         echo '{{\"backend\":{{\"type\":\"local\"}}}}' > \"$TF_DATA_DIR/terraform.tfstate\"; exit 0;;\nesac\n{rest}\n"
    );
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    path
}

#[tokio::test]
async fn a_plan_that_hangs_and_ignores_the_signal_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let bed = Bed::with(script(&directory, "trap '' INT; while :; do sleep 1; done")).await;
    let mut run = inline("");
    run.limits.plan = Duration::from_millis(300);
    run.limits.grace = Duration::from_millis(200);

    let error = bed.plan(&run).await.unwrap_err();

    assert!(matches!(error, Error::TimedOut { verb: Verb::Plan, .. }), "{error:?}");
}

#[tokio::test]
async fn a_crash_is_told_with_its_last_words() {
    let directory = tempfile::tempdir().unwrap();
    let bed = Bed::with(script(&directory, "echo 'panic: out of luck' >&2; kill -SEGV $$")).await;

    let error = bed.plan(&inline("")).await.unwrap_err();

    let text = error.to_string();
    assert!(text.starts_with("plan failed (signal: 11") && text.contains("out of luck"), "{text}");
}

#[tokio::test]
async fn an_odd_exit_code_is_a_failure() {
    let directory = tempfile::tempdir().unwrap();
    let bed = Bed::with(script(&directory, "exit 3")).await;

    let error = bed.plan(&inline("")).await.unwrap_err();

    assert_eq!(error.to_string(), "plan failed (exit status: 3)");
}

#[tokio::test]
async fn a_plan_that_cannot_be_read_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let rest = "case \"$1\" in plan) for a in \"$@\"; do case $a in -out=*) echo x > \"${a#-out=}\";; esac; done; exit 2;; esac; echo no";
    let bed = Bed::with(script(&directory, rest)).await;

    let error = bed.plan(&inline("")).await.unwrap_err();

    assert_eq!(error.to_string(), "reading what show printed");
}

#[tokio::test]
async fn a_binary_that_is_something_else_is_refused() {
    let directory = tempfile::tempdir().unwrap();

    let started = ProcessEngine::start(Settings::new(directory.path(), "/bin/true")).await;

    let error = started.err().unwrap().to_string();
    assert!(error.starts_with("`/bin/true` is neither OpenTofu nor Terraform"), "{error}");
}

#[tokio::test]
async fn the_lock_file_of_the_providers_outlives_the_module() {
    let directory = tempfile::tempdir().unwrap();
    let bed = Bed::with(script(&directory, "exit 0")).await;
    bed.plan(&inline("# one")).await.unwrap();
    let kept = bed.workdir().join("module/.terraform.lock.hcl");
    // As init would have left it.
    fs::write(&kept, "# pinned").unwrap();
    fs::remove_file(bed.workdir().join("init.json")).unwrap();
    bed.plan(&inline("# one")).await.unwrap();

    bed.plan(&inline("# two")).await.unwrap();

    assert_eq!(fs::read_to_string(kept).unwrap(), "# pinned");
}

#[tokio::test]
async fn a_lock_file_that_was_carried_here_is_placed_where_there_is_none() {
    let directory = tempfile::tempdir().unwrap();
    let bed = Bed::with(script(&directory, "exit 0")).await;
    let mut run = inline("");
    run.provider_lock = Some("# carried".to_owned());
    assert_eq!(bed.engine.provider_lock(&run.identity).unwrap(), None);

    bed.plan(&run).await.unwrap();
    let placed = bed.workdir().join("module/.terraform.lock.hcl");
    assert_eq!(fs::read_to_string(&placed).unwrap(), "# carried");
    assert_eq!(bed.engine.provider_lock(&run.identity).unwrap().as_deref(), Some("# carried"));

    run.provider_lock = Some("# another".to_owned());
    bed.plan(&run).await.unwrap();
    assert_eq!(fs::read_to_string(&placed).unwrap(), "# carried");
}

#[tokio::test]
async fn the_lock_file_of_the_module_itself_comes_before_all_others() {
    let directory = tempfile::tempdir().unwrap();
    let bed = Bed::with(script(&directory, "exit 0")).await;
    let module = tempfile::tempdir().unwrap();
    fs::write(module.path().join(".terraform.lock.hcl"), "# of the module").unwrap();
    let mut run = inline("");
    run.source = Source::Directory { path: module.path().to_owned() };
    run.provider_lock = Some("# carried".to_owned());

    bed.plan(&run).await.unwrap();

    let placed = bed.workdir().join("module/.terraform.lock.hcl");
    assert_eq!(fs::read_to_string(placed).unwrap(), "# of the module");
}

/// As providers say it: neither the address nor the line is named.
const REFUSES_TO_IMPORT: &str = r#"case "$1" in
state) exit 0;;
plan)
  echo plan >> "${0%/*}/plans"
  if grep -q 'to = a.bad' zz_capt_imports.tf 2>/dev/null || test -e "${0%/*}/broken"; then
    echo '{"@level":"error","@message":"Error","type":"diagnostic","diagnostic":{"severity":"error","summary":"resource a does not support import","detail":""}}'
    exit 1
  fi
  exit 0;;
esac"#;

#[tokio::test]
async fn an_import_that_a_provider_refuses_without_its_address_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let bed = Bed::with(script(&directory, REFUSES_TO_IMPORT)).await;
    let import = |address: &str| capt_terraform::Import {
        address: address.to_owned(),
        id: "1".to_owned(),
        replaces: Vec::new(),
    };
    let imports = ["a.one", "a.two", "a.bad", "a.three"].map(import).to_vec();
    let run = capt_terraform::Run { imports, ..inline("") };

    let plan = bed.plan(&run).await.unwrap();
    let failed: Vec<&str> = plan.not_imported.iter().map(|failed| failed.address.as_str()).collect();
    assert_eq!(failed, ["a.bad"]);
    assert!(plan.not_imported[0].why.contains("does not support import"), "{:?}", plan.not_imported);

    // What is wrong with the module itself is told after one more plan.
    fs::write(directory.path().join("broken"), "").unwrap();
    fs::write(directory.path().join("plans"), "").unwrap();
    let error = bed.plan(&run).await.unwrap_err();
    assert!(error.to_string().contains("plan failed"), "{error}");
    assert_eq!(fs::read_to_string(directory.path().join("plans")).unwrap().lines().count(), 2);
}
