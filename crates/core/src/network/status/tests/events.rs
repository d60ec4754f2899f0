use super::*;

#[rstest]
#[case::trouble(Scene::of(hold(Reason::ApplyNotOwned, "not ours")), &["Warning ApplyNotOwned: not ours"])]
#[case::trouble_of_the_apply(
    Scene::of(settled()).apply(held("TemplateNotFound", "no template")),
    &["Warning TemplateNotFound: WorkspaceTemplateApply `demo-vpc`: no template"]
)]
#[case::failure(Scene::of(settled()).failed(Reason::ApiError, "timed out"), &["Warning ApiError: timed out"])]
#[case::an_existing_network(
    Scene::of(Step::Use { vpc: "vpc-9".to_owned() }),
    &["Normal NetworkReady: VPC `vpc-9` was there already and is used as it is"]
)]
#[case::pause(
    Scene::of(Step::Pause(Pause { cluster: true, annotation: false, moving: false })), &["Normal Paused: Cluster spec.paused is set to true"]
)]
#[case::wait_for_the_cluster(Scene::of(hold(Reason::WaitingForCluster, "wait")), &[])]
#[case::on_its_way(Scene::of(settled()).apply(applied()), &[])]
#[case::deletion(
    Scene::of(await_deletion()).apply(applied()), &["Normal Deleting: WorkspaceTemplateApply `demo-vpc` is being deleted"]
)]
fn what_is_new_is_told_once(#[case] scene: Scene, #[case] expected: &[&str]) {
    assert_eq!(scene.events(), expected);
    let Scene { step, outcome, apply, workspace, .. } = &scene;
    let again = Scene {
        outcome: outcome.clone(),
        apply: apply.clone(),
        workspace: workspace.clone(),
        ..Scene::of(step.clone())
    };
    assert_eq!(scene.then(again).events(), [""; 0]);
}

#[rstest]
#[case::created(Mode::Create, "Normal ApplyCreated: created WorkspaceTemplateApply `demo-vpc`")]
#[case::changed(Mode::Update, "Normal ApplyUpdated: updated WorkspaceTemplateApply `demo-vpc`")]
#[case::taken_over(Mode::Adopt, "Normal ApplyUpdated: took over WorkspaceTemplateApply `demo-vpc`")]
fn what_was_done_is_told(#[case] mode: Mode, #[case] expected: &str) {
    assert_eq!(Scene::of(write(mode)).apply(applied()).events(), [expected]);
    let failed = Scene::of(write(mode)).failed(Reason::WorkspaceRefused, "too long");
    assert_eq!(failed.events(), ["Warning WorkspaceRefused: too long"]);
}

#[test]
fn a_network_that_comes_and_goes_is_news() {
    let coming = Scene::of(settled()).apply(applied()).workspace(silent());
    let ready = coming.then(Scene::of(settled()).apply(applied()).workspace(vpc()));
    assert_eq!(ready.events(), ["Normal NetworkReady: VPC `vpc-1` is ready"]);
    let lost = ready.then(Scene::of(settled()).apply(applied()).workspace(failing()));
    assert_eq!(
        lost.events(),
        [
            "Normal NetworkNotReady: WorkspaceTemplateApply `demo-vpc` makes the network; last attempt: apply failed: no quota"
        ]
    );
}

#[test]
fn going_on_after_a_pause_is_told_in_words() {
    let paused = Scene::of(Step::Pause(Pause { cluster: true, annotation: false, moving: false }));
    assert_eq!(
        paused.then(Scene::of(settled()).apply(applied())).events(),
        ["Normal NotPaused: reconciling goes on"]
    );
}

#[test]
fn another_trouble_of_the_same_kind_is_news_and_another_wait_is_not() {
    let after = |reason: Reason| {
        let scene = |message: &str| Scene::of(hold(reason, message));
        scene("a").then(scene("b")).events()
    };
    assert_eq!(after(Reason::ApplyNotOwned), ["Warning ApplyNotOwned: b"]);
    assert_eq!(after(Reason::ApprovalRequired), [""; 0]);
}
