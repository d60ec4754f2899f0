use super::*;

#[rstest]
#[case::wait(Scene::of(hold(Reason::WaitingForSecrets, "waiting for key `a`")), &["Normal WaitingForSecrets: waiting for key `a`"])]
#[case::trouble(Scene::of(hold(Reason::TemplateNotFound, "no template")), &["Warning TemplateNotFound: no template"])]
#[case::trouble_beside_a_running_workspace(
    Scene::of(hold(Reason::TemplateNotFound, "no template")).with(running()), &["Warning TemplateNotFound: no template"]
)]
#[case::held_back(Scene::of(hold_change()).with(running()), &["Normal ApprovalRequired: annotate this apply"])]
#[case::failure(Scene::of(settled()).failed(Reason::ApiError, "timed out"), &["Warning ApiError: timed out"])]
#[case::pause(
    Scene::of(Step::Pause(Pause { cluster: true, annotation: false, moving: false })), &["Normal Paused: Cluster spec.paused is set to true"]
)]
#[case::deletion(Scene::of(delete()).with(running()), &["Normal Deleting: Workspace `demo` is being destroyed"])]
#[case::not_ready_yet(Scene::of(settled()).with(silent()), &[])]
#[case::nothing_new_about_what_runs(Scene::of(settled()).with(running()), &[])]
fn what_is_new_is_told_once(#[case] scene: Scene, #[case] expected: &[&str]) {
    assert_eq!(scene.events(), expected);
    let Scene { step, outcome, workspace, .. } = &scene;
    let again = Scene { outcome: outcome.clone(), workspace: workspace.clone(), ..Scene::of(step.clone()) };
    assert_eq!(scene.then(again).events(), [""; 0]);
}

#[test]
fn a_workspace_that_is_no_longer_ready_is_news() {
    let before = Scene::of(settled()).with(running());
    let after = before.then(Scene::of(settled()).with(silent()));
    assert_eq!(
        after.events(),
        ["Normal WorkspaceNotReady: Workspace `demo` has not reported yet whether it is ready"]
    );
}

#[rstest]
#[case::created(Mode::Create, "Normal WorkspaceCreated: created Workspace `demo`")]
#[case::taken_over(Mode::Adopt { uid: None }, "Normal WorkspaceAdopted: took over Workspace `demo`")]
#[case::changed(Mode::Update { uid: None }, "Normal WorkspaceUpdated: updated Workspace `demo`")]
fn what_was_done_is_told(#[case] mode: Mode, #[case] expected: &str) {
    let scene = Scene::of(write(mode)).with(running());
    assert_eq!(scene.events(), [expected]);
}

#[test]
fn writing_the_same_again_is_no_news() {
    let update = || Scene::of(write(Mode::Update { uid: None })).with(running());
    assert_eq!(update().then(update()).events(), [""; 0]);
}

#[test]
fn what_failed_is_not_told_as_done() {
    let scene = Scene::of(write(Mode::Create)).failed(Reason::WorkspaceRefused, "vars: too long");
    assert_eq!(scene.events(), ["Warning WorkspaceRefused: vars: too long"]);
}

#[rstest]
#[case::retained(
    Step::Retain { workspace: "demo".to_owned() },
    Some("Workspace `demo` stays, as spec.retainWorkspaceOnDelete says")
)]
#[case::moved(
    Step::LetGo { workspace: Some("demo".to_owned()) },
    Some("this apply lives on in another cluster; Workspace `demo` is frozen here")
)]
#[case::moved_without_a_workspace(Step::LetGo { workspace: None }, None)]
#[case::gone(Step::Finish, None)]
#[case::left(Step::Leave, None)]
fn letting_go_is_told_where_something_stays(#[case] step: Step, #[case] expected: Option<&str>) {
    let scene = Scene::of(step);
    assert_eq!(done(scene.report()).map(|note| note.message).as_deref(), expected);
    assert_eq!(done(scene.failed(Reason::ApiError, "").report()), None);
}

#[test]
fn progress_is_no_flood() {
    let mut scene = Scene::of(settled()).with(silent());
    for percent in 0..100 {
        let ready = Some(verdict(false, "Creating", &format!("{percent} of 100 resources are made")));
        let next = Scene::of(settled()).with(WorkspaceFacts { ready, ..silent() });
        scene = scene.then(next);
        assert_eq!(scene.events(), [""; 0]);
        assert!(scene.told()[2].contains("of 100 resources"), "{:?}", scene.told());
    }
    let ready = scene.then(Scene::of(settled()).with(running()));
    assert_eq!(ready.events(), ["Normal WorkspaceReady: Workspace `demo` is ready"]);
}

#[test]
fn a_workspace_that_turns_unready_is_told() {
    let before = Scene::of(settled()).with(running());
    let next = before.then(Scene::of(settled()).with(failing()));
    assert_eq!(
        next.events(),
        [
            "Normal WorkspaceNotReady: Workspace `demo` is not ready: Creating; last attempt: apply failed: quota exceeded"
        ]
    );
}

#[test]
fn another_trouble_of_the_same_kind_is_news_and_another_wait_is_not() {
    let after = |first: Step, second: Step| Scene::of(first).then(Scene::of(second)).events();
    let trouble = |message: &str| hold(Reason::VariableMissing, message);
    assert_eq!(after(trouble("a"), trouble("b")), ["Warning VariableMissing: b"]);
    let wait = |message: &str| hold(Reason::WaitingForWorkspaces, message);
    assert_eq!(after(wait("a"), wait("b")), [""; 0]);
    assert_eq!(after(wait("a"), trouble("a")), ["Warning VariableMissing: a"]);
}

#[test]
fn going_on_after_a_pause_is_told_in_words() {
    let paused = Scene::of(Step::Pause(Pause { cluster: true, annotation: false, moving: false }));
    let next = paused.then(Scene::of(settled()).with(running()));
    assert_eq!(next.events(), ["Normal NotPaused: reconciling goes on"]);
}

#[test]
fn a_trouble_that_ends_is_told_by_what_follows() {
    let trouble = Scene::of(hold(Reason::TemplateNotFound, "no template")).with(running());
    assert_eq!(trouble.then(Scene::of(settled()).with(running())).events(), [""; 0]);
}

#[test]
fn every_event_has_words() {
    let steps = [settled(), delete(), dependents(), hold_change(), write(Mode::Create)];
    for step in steps {
        for workspace in [silent(), running(), failing(), destroyed()] {
            for line in Scene::of(step.clone()).with(workspace).events() {
                assert!(!line.ends_with(": "), "{line}");
            }
        }
    }
}
