use super::*;

#[rstest]
#[case::trouble(Scene::ready(hold()), &["Warning ApplyFailed: apply failed: no quota"])]
#[case::failure(Scene::ready(Step::Publish).failed(), &["Warning ApiError: the API server is away"])]
#[case::pause(
    Scene::ready(Step::Freeze(freeze())),
    &["Normal ReconcilePaused: WorkspaceTemplateApply `team-a/demo-apply` is paused"]
)]
#[case::a_large_state(
    Scene::ready(settled()).sized(800 * 1024),
    &["Warning StateNearLimit: the state has 800 KiB and a Secret holds 1024 KiB: divide the module, or give it a backend of its own"]
)]
#[case::drift(
    Scene::ready(report_drift()),
    &["Warning DriftDetected: the infrastructure differs from what was applied: 0 to add, 1 to change."]
)]
#[case::nothing_new(Scene::ready(settled()), &[])]
#[case::a_run(Scene::ready(start(Operation::Plan)), &[])]
#[case::others(Scene::ready(Step::AwaitOthers(vec!["example.com/hold".to_owned()])), &[])]
fn what_is_new_is_told_once(#[case] scene: Scene, #[case] expected: &[&str]) {
    assert_eq!(scene.events(), expected);
    let Scene { step, outcome, state, .. } = &scene;
    let again = Scene { outcome: outcome.clone(), state: state.clone(), ..Scene::of(step.clone()) };
    assert_eq!(scene.then(again).events(), [""; 0]);
}

#[rstest]
#[case::a_lock(await_lock(), "Warning Locked: the state is locked by me@there")]
#[case::an_approval(
    await_approval(),
    "Normal ApprovalRequired: the plan 0123456789abcdef waits for approval"
)]
fn what_two_conditions_tell_is_one_event(#[case] step: Step, #[case] begin: &str) {
    let events = Scene::ready(step).events();
    assert_eq!(events.len(), 1, "{events:?}");
    assert!(events[0].starts_with(begin), "{events:?}");
}

#[test]
fn a_failure_that_repeats_after_another_try_is_no_news() {
    let tried = Scene::ready(hold()).then(Scene::of(start(Operation::Plan)));
    assert_eq!(tried.events(), [""; 0]);
    assert_eq!(tried.then(Scene::of(hold())).events(), [""; 0]);
}

#[test]
fn another_failure_is_news() {
    let other = Step::Hold { blocked: Blocked::new(Reason::PlanFailed, "no credentials"), until: None };
    let scene = Scene::ready(hold()).then(Scene::of(other));
    assert_eq!(scene.events(), ["Warning PlanFailed: no credentials"]);
}

#[test]
fn a_failure_that_comes_back_is_news() {
    let healed = Scene::ready(hold()).then(Scene::of(settled()));
    assert_eq!(healed.events(), [""; 0]);
    assert_eq!(healed.then(Scene::of(hold())).events(), ["Warning ApplyFailed: apply failed: no quota"]);
}

#[rstest]
#[case::applying(
    apply(),
    "Normal Applying: applying plan 0123456789abcdef: 1 to add, 0 to change, 1 to replace, 0 to destroy"
)]
#[case::destroying(
    destroy(),
    "Normal Destroying: destroying by plan 0123456789abcdef: 1 to add, 0 to change, 1 to replace, 0 to destroy"
)]
#[case::orphaned_lock(
    unlock(Release::Orphaned),
    "Normal OrphanedLockReleased: releasing lock id on the state: its holder is dead"
)]
#[case::forced_lock(
    unlock(Release::Forced),
    "Warning LockForced: releasing lock id on the state, as the annotation says"
)]
#[case::applied(Step::Publish, "Normal Applied: applied; 1 outputs that are not sensitive")]
fn what_is_done_is_told(#[case] step: Step, #[case] expected: &str) {
    assert_eq!(Scene::ready(step).planned().events(), [expected]);
}

#[test]
fn outputs_that_were_only_read_are_no_event() {
    let outcome = Ok(Effect::Published { outputs: BTreeMap::new(), applied: false, remote_source: None });
    assert_eq!(Scene { outcome, ..Scene::ready(Step::Publish) }.events(), [""; 0]);
}

#[rstest]
#[case::abandoned(
    Step::Abandon(freeze()),
    Some("let go without a destroy: WorkspaceTemplateApply `team-a/demo-apply` is paused")
)]
#[case::orphaned(Step::Orphan, Some("let go; the infrastructure and its state stay, as the policies say"))]
#[case::finished(Step::Finish, Some("nothing of the infrastructure is left"))]
#[case::left(Step::Leave, None)]
fn letting_go_is_told(#[case] step: Step, #[case] expected: Option<&str>) {
    let scene = Scene::of(step).deleted();
    assert_eq!(done(scene.report()).map(|note| note.message).as_deref(), expected);
    assert_eq!(done(scene.failed().report()), None, "what failed is not told as done");
}

#[test]
fn progress_is_no_flood() {
    let mut scene = Scene::of(apply());
    scene = scene.then(Scene::of(Step::Wait));
    for done in 0..50 {
        let going =
            RunStatus { done: Some(done), total: Some(50), ..run(RunOperation::Apply, RunPhase::Running) };
        scene = scene.then(Scene { run: Some(going), ..Scene::of(Step::Wait) });
        assert_eq!(scene.events(), [""; 0]);
        let ready = scene.condition("Ready").unwrap().message.unwrap();
        assert_eq!(ready, format!("applying: {done} of 50 done"));
    }
}

#[test]
fn every_event_has_words() {
    let steps = [settled(), hold(), await_lock(), await_approval(), report_drift(), apply(), destroy()];
    for step in steps.into_iter().chain([Step::Publish, Step::Pause, Step::Freeze(freeze())]) {
        for line in Scene::ready(step.clone()).events().into_iter().chain(Scene::of(step).failed().events()) {
            assert!(!line.ends_with(": "), "{line}");
        }
    }
}
