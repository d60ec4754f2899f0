//! What was begun is finished and found again, whoever dies.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use capt_terraform::{Action, Engine, Error, Event, Operation, Run, Verb};

use crate::bed::{Bed, Seen, identity, inline, killable, until};
use crate::fake::script;

const COUNT: usize = 8;

/// Resources that take a while and leave a line each in a file.
fn slow(file: &Path) -> Run {
    let mut run = inline(&format!(
        r#"
resource "terraform_data" "slow" {{
  count = {COUNT}
  provisioner "local-exec" {{ command = "sleep 0.4; echo ${{count.index}} >> '{}'" }}
}}
"#,
        file.display()
    ));
    run.arguments.apply = vec!["-parallelism=2".to_owned()];
    run
}

fn made(file: &Path) -> Vec<String> {
    let mut lines: Vec<String> =
        fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[tokio::test]
async fn an_apply_outlives_the_kill_of_its_parent_and_is_found_again() {
    let bed = Bed::new().await;
    let file = bed.root.path().join("made");
    let run = slow(&file);
    let plan = bed.plan(&run).await.unwrap();
    let mut parent = killable(&bed, &run.with(Operation::Apply { plan: plan.hash.clone() }));
    until("a resource is made", || !made(&file).is_empty()).await;
    parent.kill().unwrap();
    parent.wait().unwrap();

    let unfinished = bed.engine.unfinished().await.unwrap();
    assert_eq!(unfinished.len(), 1);
    assert_eq!((unfinished[0].verb, unfinished[0].alive), (Some(Verb::Apply), true));
    assert_eq!(bed.engine.collect(&std::collections::BTreeSet::new()).await.unwrap(), []);

    let seen = Seen::default();
    let refused = bed.apply(&run, &plan, &seen).await.unwrap_err();
    assert!(matches!(refused, Error::StalePlan { .. }), "{refused:?}");
    assert!(seen.any(|event| matches!(event, Event::Waiting(waiting) if waiting.verb == Some(Verb::Apply))));
    assert!(seen.any(|event| matches!(event, Event::Progress(_))));
    assert!(seen.any(|event| matches!(event, Event::Survived(survived) if survived.completed && survived.plan == Some(plan.hash.clone()))));

    assert!(bed.plan(&run).await.unwrap().is_empty());
    assert_eq!(made(&file), (0..COUNT).map(|index| index.to_string()).collect::<Vec<_>>());
    assert!(!fs::exists(bed.workdir().join("state/network/.terraform.tfstate.lock.info")).unwrap());
    assert_eq!(bed.engine.unfinished().await.unwrap(), []);
}

#[tokio::test]
async fn an_interrupted_apply_saves_what_it_made() {
    let bed = Arc::new(Bed::new().await);
    let file = bed.root.path().join("made");
    let run = slow(&file);
    let plan = bed.plan(&run).await.unwrap();
    let applying = tokio::spawn({
        let (bed, run) = (Arc::clone(&bed), run.clone());
        async move { bed.apply(&run, &plan, &Seen::default()).await }
    });
    until("a resource is made", || !made(&file).is_empty()).await;

    assert!(bed.engine.interrupt(&identity()).await.unwrap());
    let error = applying.await.unwrap().unwrap_err();

    assert!(matches!(error, Error::Interrupted { verb: Verb::Apply }), "{error:?}");
    let left = bed.plan(&run).await.unwrap();
    // What was in the middle of being made is replaced, but nothing that was made is forgotten.
    assert!(left.count(Action::Create) < COUNT, "{left}");
    bed.apply(&run, &left, &Seen::default()).await.unwrap();
    assert!(bed.plan(&run).await.unwrap().is_empty());
    assert!(!bed.engine.interrupt(&identity()).await.unwrap());
}

#[tokio::test]
async fn a_dropped_run_goes_on_and_the_next_one_waits_for_it() {
    let bed = Bed::new().await;
    let file = bed.root.path().join("made");
    let run = slow(&file);
    let plan = bed.plan(&run).await.unwrap();
    let seen = Seen::default();
    tokio::select! {
        _ = bed.apply(&run, &plan, &seen) => panic!("it was to be dropped"),
        () = until("a resource is made", || !made(&file).is_empty()) => {}
    }

    let seen = Seen::default();
    let outcome = bed.engine.run(&run, &seen).await.unwrap();

    assert!(matches!(outcome, capt_terraform::Outcome::Planned(plan) if plan.is_empty()));
    assert!(seen.any(|event| matches!(event, Event::Survived(survived) if survived.completed)));
    assert_eq!(made(&file).len(), COUNT);
}

/// An apply that counts its signals and ends only when it is allowed to.
const STUBBORN: &str = r#"
here=$(dirname "$0")
case "$1" in
plan) for a in "$@"; do case $a in -out=*) echo x > "${a#-out=}";; esac; done; exit 2;;
show) echo '{"resource_changes":[{"address":"a.b","change":{"actions":["create"]}}]}'; exit 0;;
apply) trap 'echo INT >> "$here/signals"' INT; touch "$here/started"; while [ ! -e "$here/go" ]; do echo >> "$here/beats"; sleep 0.05; done; exit 1;;
esac
"#;

#[tokio::test]
async fn an_apply_gets_one_signal_and_is_never_killed() {
    let directory = tempfile::tempdir().unwrap();
    let bed = Arc::new(Bed::with(script(&directory, STUBBORN)).await);
    let mut run = inline("");
    run.limits.apply = Some(Duration::from_millis(400));
    run.limits.grace = Duration::from_millis(100);
    let plan = bed.plan(&run).await.unwrap();
    let applying = tokio::spawn({
        let bed = Arc::clone(&bed);
        async move { bed.apply(&run, &plan, &Seen::default()).await }
    });
    let signals = || fs::read_to_string(directory.path().join("signals")).unwrap_or_default();
    until("the time is over", || !signals().is_empty()).await;
    for _ in 0..3 {
        bed.engine.interrupt(&identity()).await.unwrap();
    }
    bed.engine.stop();
    // Well beyond the grace that a plan would have.
    let beats = || fs::read_to_string(directory.path().join("beats")).unwrap_or_default().len();
    let before = beats();
    until("the apply lives on", || beats() > before + 10).await;
    fs::write(directory.path().join("go"), "").unwrap();

    let error = applying.await.unwrap().unwrap_err();

    assert!(matches!(error, Error::TimedOut { verb: Verb::Apply, .. }), "{error:?}");
    assert_eq!(signals(), "INT\n");
    assert!(matches!(bed.plan(&inline("")).await, Err(Error::Stopping)));
}

#[tokio::test]
async fn an_orphan_can_be_interrupted_by_another_engine() {
    let directory = tempfile::tempdir().unwrap();
    let bed = Bed::with(script(&directory, STUBBORN)).await;
    let run = inline("");
    let plan = bed.plan(&run).await.unwrap();
    let seen = Seen::default();
    tokio::select! {
        _ = bed.apply(&run, &plan, &seen) => panic!("it was to be dropped"),
        () = until("the apply began", || directory.path().join("started").exists()) => {}
    }

    assert!(bed.engine.interrupt(&identity()).await.unwrap());
    assert!(bed.engine.interrupt(&identity()).await.unwrap());
    let signals = || fs::read_to_string(directory.path().join("signals")).unwrap_or_default();
    until("the signal came", || !signals().is_empty()).await;
    fs::write(directory.path().join("go"), "").unwrap();
    bed.plan(&run).await.unwrap();

    assert_eq!(signals(), "INT\n");
}

#[tokio::test]
async fn a_directory_is_collected_only_when_nobody_knows_it_and_nothing_would_be_lost() {
    let directory = tempfile::tempdir().unwrap();
    let bed = Bed::with(script(&directory, "exit 0")).await;
    bed.plan(&inline("")).await.unwrap();
    let nobody = std::collections::BTreeSet::new();

    assert_eq!(bed.engine.collect(&[identity()].into()).await.unwrap(), []);
    fs::write(bed.workdir().join("module/errored.tfstate"), "{}").unwrap();
    assert_eq!(bed.engine.collect(&nobody).await.unwrap(), []);
    fs::remove_file(bed.workdir().join("module/errored.tfstate")).unwrap();
    assert_eq!(bed.engine.collect(&nobody).await.unwrap(), [identity()]);
    assert!(!bed.workdir().exists());
}

#[tokio::test]
async fn two_runs_of_the_same_object_are_interrupted_with_one_signal() {
    let directory = tempfile::tempdir().unwrap();
    let bed = Arc::new(Bed::with(script(&directory, STUBBORN)).await);
    let run = inline("");
    let plan = bed.plan(&run).await.unwrap();
    let applying = tokio::spawn({
        let (bed, run) = (Arc::clone(&bed), run.clone());
        async move { bed.apply(&run, &plan, &Seen::default()).await }
    });
    until("the apply began", || directory.path().join("started").exists()).await;
    let seen = Arc::new(Seen::default());
    let waiting = tokio::spawn({
        let (bed, run, seen) = (Arc::clone(&bed), run.clone(), Arc::clone(&seen));
        async move { bed.engine.run(&run, &*seen).await }
    });
    until("the second run waits", || seen.any(|event| matches!(event, Event::Waiting(_)))).await;

    bed.engine.stop();
    let signals = || fs::read_to_string(directory.path().join("signals")).unwrap_or_default();
    until("the signal came", || !signals().is_empty()).await;
    fs::write(directory.path().join("go"), "").unwrap();

    assert!(matches!(applying.await.unwrap(), Err(Error::Interrupted { verb: Verb::Apply })));
    assert!(matches!(waiting.await.unwrap(), Err(Error::Interrupted { .. })));
    assert_eq!(signals(), "INT\n");
}
