//! What the engine tells beside the conditions, and the words for its runs.

use capt_api::engine_status::EngineStatus;

use super::*;

fn engine(scene: &Scene) -> EngineStatus {
    scene.status().unwrap().engine.unwrap()
}

#[rstest]
#[case(RunOperation::Plan, RunPhase::Running, "planning")]
#[case(RunOperation::Apply, RunPhase::Stopping, "applying: asked to stop, finishing what was begun")]
#[case(RunOperation::PlanDestroy, RunPhase::Queued, "planning the destruction: waiting for its turn")]
#[case(
    RunOperation::Destroy,
    RunPhase::WaitingForEarlierRun,
    "destroying: waiting for a process that an earlier manager left behind"
)]
#[case(RunOperation::Outputs, RunPhase::Running, "reading the outputs")]
#[case(RunOperation::Unlock, RunPhase::Running, "releasing the lock")]
#[case(RunOperation::Preview, RunPhase::Running, "planning for somebody who wants to see it")]
fn a_run_is_told_in_words(#[case] operation: RunOperation, #[case] phase: RunPhase, #[case] expected: &str) {
    assert_eq!(words::run(&run(operation, phase)), expected);
}

#[test]
fn progress_names_what_is_worked_on() {
    let activity = |address: &str| ActivityStatus {
        address: address.to_owned(),
        action: "create".to_owned(),
        since: at(30),
    };
    let going = RunStatus {
        done: Some(1),
        total: Some(3),
        current: vec![activity("aws_vpc.main"), activity("aws_subnet.a")],
        ..run(RunOperation::Apply, RunPhase::Running)
    };
    let expected = "applying: 1 of 3 done, working on aws_vpc.main (create since 1970-01-01T00:00:30Z)";
    assert_eq!(words::run(&going), expected);
    assert_eq!(progress_note(&going).map(|note| line(&note)), Some(format!("Normal Applying: {expected}")));
    let idle = RunStatus { current: Vec::new(), ..going };
    assert_eq!(words::run(&idle), "applying: 1 of 3 done");
}

#[rstest]
#[case::nothing_known(None, RunPhase::Running)]
#[case::nothing_to_do(Some(0), RunPhase::Running)]
#[case::not_begun(Some(3), RunPhase::Queued)]
fn progress_that_says_nothing_is_no_event(#[case] total: Option<u64>, #[case] phase: RunPhase) {
    let going = RunStatus { done: Some(0), total, ..run(RunOperation::Apply, phase) };
    assert_eq!(progress_note(&going), None);
}

#[test]
fn a_run_is_shown_while_it_lasts() {
    let going = Scene::ready(Step::Wait).running(RunOperation::Apply, RunPhase::Running);
    assert_eq!(engine(&going).run, Some(run(RunOperation::Apply, RunPhase::Running)));
    assert_eq!(engine(&going.then(Scene::of(settled()))).run, None);
}

#[rstest]
#[case::waits(await_approval(), true)]
#[case::is_reported(report_drift(), true)]
#[case::is_applied(apply(), false)]
#[case::is_confirmed(Step::Confirm, false)]
fn a_plan_is_shown_while_somebody_may_act_on_it(#[case] step: Step, #[case] shown: bool) {
    assert_eq!(engine(&Scene::ready(step).planned()).plan.is_some(), shown);
}

#[rstest]
#[case::a_plan_waits(await_approval())]
#[case::drift_was_told(report_drift())]
#[case::all_is_well(settled())]
#[case::something_failed(hold())]
fn a_plan_that_is_only_shown_changes_nothing_that_is_told(#[case] before: Step) {
    let scene = || Scene::ready(before.clone()).planned();
    let (told, plan) = (scene().told(), engine(&scene()).plan);
    let preview = start(Operation::Preview);
    let going = scene().then(Scene::of(preview).running(RunOperation::Preview, RunPhase::Running));
    assert_eq!((going.told(), engine(&going).plan), (told.clone(), plan.clone()));
    assert!(going.events().is_empty());
    let shown = going.then(Scene::of(Step::ShowPreview));
    assert_eq!((shown.told(), engine(&shown).plan), (told, plan));
}

#[rstest]
#[case::settled(settled())]
#[case::drift(report_drift())]
#[case::approval(await_approval())]
fn the_next_look_is_told_and_stays(#[case] step: Step) {
    let scene = Scene::ready(step);
    assert_eq!(engine(&scene).next_check_time, Some(at(3600)));
    assert_eq!(engine(&scene.then(Scene::of(hold()))).next_check_time, Some(at(3600)));
    let ignored = Scene::ready(Step::Settled { next_check: None });
    assert_eq!(engine(&ignored).next_check_time, None);
}

#[test]
fn where_the_state_is_stays_known_when_nobody_looked() {
    let scene = Scene::ready(settled()).sized(10);
    let before = engine(&scene).state;
    assert!(before.is_some());
    assert_eq!(engine(&scene.then(Scene::of(Step::Wait))).state, before);
}

#[test]
fn outputs_replace_those_of_before() {
    let published = |outputs: &[&str], applied| {
        let outputs = outputs.iter().map(|name| ((*name).to_owned(), json!(1))).collect();
        let remote_source = Some("git::https://example.com/a.git".to_owned());
        Scene {
            outcome: Ok(Effect::Published { outputs, applied, remote_source }),
            ..Scene::of(Step::Publish)
        }
    };
    let scene = published(&["a", "b"], true).then(published(&["b", "c"], false));
    let status = scene.status().unwrap();
    let seen = status.at_provider.unwrap();
    assert_eq!(seen.outputs.keys().collect::<Vec<_>>(), ["b", "c"]);
    assert_eq!(seen.remote_source.as_deref(), Some("git::https://example.com/a.git"));
    assert_eq!(status.engine.unwrap().last_applied_time, Some(at(60)), "nothing was applied the second time");
}

#[test]
fn a_request_that_is_handled_is_noted() {
    let outcome = Ok(Effect::Requested("2026-01-01".to_owned()));
    let scene = Scene { outcome, ..Scene::ready(start(Operation::Plan)) };
    assert_eq!(scene.status().unwrap().last_handled_reconcile_at.as_deref(), Some("2026-01-01"));
    let later = scene.then(Scene::of(settled())).status().unwrap();
    assert_eq!(later.last_handled_reconcile_at.as_deref(), Some("2026-01-01"));
}
