use super::*;

#[test]
fn a_network_that_waits_for_its_cluster_says_so() {
    let scene = Scene::of(hold(Reason::WaitingForCluster, "no Cluster yet"));
    insta::assert_yaml_snapshot!(scene.status(), @r#"
    initialization:
      provisioned: false
    ready: false
    observedGeneration: 3
    conditions:
      - lastTransitionTime: "1970-01-01T00:01:00Z"
        message: ""
        observedGeneration: 3
        reason: NotPaused
        status: "False"
        type: Paused
      - lastTransitionTime: "1970-01-01T00:01:00Z"
        message: no Cluster yet
        observedGeneration: 3
        reason: WaitingForCluster
        status: "False"
        type: Ready
      - lastTransitionTime: "1970-01-01T00:01:00Z"
        message: no Cluster yet
        observedGeneration: 3
        reason: WaitingForCluster
        status: "False"
        type: VPCReady
    "#);
}

/// The cause is seen at the top.
#[rstest]
#[case::trouble(
    "TemplateNotFound",
    "no template",
    "False, TemplateNotFound: WorkspaceTemplateApply `demo-vpc`: no template"
)]
#[case::wait(
    "ApprovalRequired",
    "annotate",
    "False, ApprovalRequired: WorkspaceTemplateApply `demo-vpc`: annotate"
)]
#[case::a_word_of_others("Strange", "odd", "False, NetworkNotReady: WorkspaceTemplateApply `demo-vpc`: odd")]
#[case::progress(
    "WorkspaceNotReady",
    "3 of 9",
    "False, NetworkNotReady: WorkspaceTemplateApply `demo-vpc` makes the network"
)]
#[case::a_beginning(
    "WorkspaceMissing",
    "about to be made",
    "False, NetworkNotReady: WorkspaceTemplateApply `demo-vpc` makes the network"
)]
fn what_holds_the_apply_up_is_relayed(#[case] reason: &str, #[case] message: &str, #[case] expected: &str) {
    assert_eq!(Scene::of(settled()).apply(held(reason, message)).ready(), expected);
}

#[test]
fn an_apply_that_is_paused_by_itself_is_told() {
    let paused = apply(json!({ "conditions": [
        condition_of("Ready", "False", "WorkspaceNotReady", ""), condition_of("Paused", "True", "Paused", "it has the annotation"),
    ] }));
    assert_eq!(
        Scene::of(settled()).apply(paused).ready(),
        "False, Paused: WorkspaceTemplateApply `demo-vpc`: it has the annotation"
    );
}

#[rstest]
#[case::claimed(Step::Claim { apply: "demo-vpc".to_owned(), state: None }, None, "False, NetworkNotReady: the network is about to be made")]
#[case::made(write(Mode::Create), Some(apply(json!({}))), "False, NetworkNotReady: WorkspaceTemplateApply `demo-vpc` makes the network")]
fn a_network_that_is_on_its_way_is_told(
    #[case] step: Step,
    #[case] apply: Option<WorkspaceTemplateApply>,
    #[case] expected: &str,
) {
    assert_eq!(Scene { apply, ..Scene::of(step) }.ready(), expected);
}

#[rstest]
#[case::silent(silent(), "")]
#[case::failing(failing(), "; last attempt: apply failed: no quota")]
#[case::failing_without_words(
    WorkspaceFacts { synced: Some(verdict(false, "ReconcileError", "")), ..failing() }, "; last attempt: ReconcileError"
)]
fn a_failed_attempt_is_told(#[case] workspace: WorkspaceFacts, #[case] end: &str) {
    assert_eq!(
        Scene::of(settled()).apply(applied()).workspace(workspace).ready(),
        format!("False, NetworkNotReady: WorkspaceTemplateApply `demo-vpc` makes the network{end}")
    );
}

#[rstest]
#[case::complete(json!({ "vpc_id": "vpc-1" }), "VPC `vpc-1` is ready")]
#[case::of_another_cloud(json!({ "network": "n" }), "the network is ready; no output `vpc_id` was found")]
#[case::odd(
    json!({ "vpc_id": "vpc-1", "azs": 1 }), "VPC `vpc-1` is ready; output `azs` is a number and not a list of zones"
)]
fn a_ready_network_tells_what_is_odd_about_its_outputs(#[case] outputs: Value, #[case] expected: &str) {
    let scene = Scene::of(settled()).apply(applied()).workspace(running(outputs));
    assert_eq!(scene.ready(), format!("True, NetworkReady: {expected}"));
    assert!(scene.known().initialization.unwrap().provisioned);
}

#[test]
fn an_existing_network_is_ready_at_once() {
    let scene = Scene::of(Step::Use { vpc: "vpc-9".to_owned() });
    assert_eq!(scene.ready(), "True, NetworkReady: VPC `vpc-9` was there already and is used as it is");
    let status = scene.known();
    assert_eq!((status.ready, status.vpc_id.as_deref()), (true, Some("vpc-9")));
    assert!(status.initialization.unwrap().provisioned);
}

/// What runs is not stopped by what cannot be changed.
#[rstest]
#[case::a_refused_write(Scene::of(write(Mode::Update)).failed(Reason::WorkspaceRefused, "too long"), "; too long")]
#[case::a_blocked_wish(Scene::of(hold(Reason::SpecInvalid, "no name")), "; no name")]
#[case::a_failed_attempt(Scene::of(settled()).workspace(WorkspaceFacts { synced: failing().synced, ..vpc() }), "; last attempt: apply failed: no quota")]
fn trouble_beside_a_running_network_is_told_and_leaves_it_ready(#[case] scene: Scene, #[case] end: &str) {
    let workspace = scene.workspace.clone().unwrap_or_else(vpc);
    let scene = scene.apply(applied()).workspace(workspace);
    assert_eq!(scene.ready(), format!("True, NetworkReady: VPC `vpc-1` is ready{end}"));
}

#[test]
fn a_change_that_the_apply_holds_back_is_told() {
    let behind = apply(json!({ "conditions": [
        condition_of("Ready", "True", "WorkspaceReady", ""), condition_of("Applied", "False", "Pinned", "it is pinned"),
    ] }));
    assert_eq!(
        Scene::of(settled()).apply(behind).workspace(vpc()).ready(),
        "True, NetworkReady: VPC `vpc-1` is ready; WorkspaceTemplateApply `demo-vpc`: it is pinned"
    );
}

#[rstest]
#[case::workspace_going(settled(), applied(), WorkspaceFacts { going: true, ..vpc() })]
#[case::apply_going(
    hold(Reason::NetworkNotReady, "it goes"),
    { let mut apply = applied(); apply.metadata.deletion_timestamp = Some(at(1)); apply },
    vpc()
)]
fn what_is_being_destroyed_is_not_ready(
    #[case] step: Step,
    #[case] apply: WorkspaceTemplateApply,
    #[case] workspace: WorkspaceFacts,
) {
    let scene = Scene::of(step).apply(apply).workspace(workspace);
    assert!(scene.ready().starts_with("False, NetworkNotReady: "), "{}", scene.ready());
    assert!(!scene.known().ready);
}

/// As when kinds cannot be listed, so that nobody knows what is gone.
#[test]
fn a_network_that_is_deleted_is_not_ready_whatever_runs() {
    let mut scene = Scene::of(hold(Reason::ApiError, "not listed")).apply(applied()).workspace(vpc());
    scene.network.metadata.deletion_timestamp = Some(at(50));
    assert_eq!(scene.ready(), "False, ApiError: not listed");
}

#[rstest]
#[case::going(&[("a", true)], "the network is taken down when its control planes are gone: `a`")]
#[case::staying(
    &[("a", false)],
    "the network is taken down when its control planes are gone: `a`; not being deleted yet: `a`: delete the Cluster, or these CAPTControlPlanes"
)]
#[case::both(
    &[("a", false), ("b", true)],
    "the network is taken down when its control planes are gone: `b`, `a`; not being deleted yet: `a`: delete the Cluster, or these CAPTControlPlanes"
)]
fn control_planes_that_are_waited_for_are_named(#[case] given: &[(&str, bool)], #[case] expected: &str) {
    let scene = Scene::of(planes(given)).apply(applied()).workspace(vpc());
    assert_eq!(scene.ready(), format!("False, WaitingForControlPlane: {expected}"));
}

#[rstest]
#[case::asked_for(Step::DeleteApply { name: "demo-vpc".to_owned() }, applied(), "False, Deleting: WorkspaceTemplateApply `demo-vpc` is being deleted")]
#[case::waited_for(
    await_deletion(),
    held("Deleting", "x"),
    "False, Deleting: WorkspaceTemplateApply `demo-vpc` is being deleted"
)]
#[case::held_up(
    await_deletion(),
    held("WaitingForDependents", "others use it"),
    "False, WaitingForDependents: WorkspaceTemplateApply `demo-vpc`: others use it"
)]
fn a_network_that_is_taken_down_is_no_longer_ready(
    #[case] step: Step,
    #[case] apply: WorkspaceTemplateApply,
    #[case] expected: &str,
) {
    let scene = Scene::of(step).apply(apply).workspace(vpc());
    assert_eq!(scene.ready(), expected);
    let failed = scene.failed(Reason::ApiError, "timed out");
    assert_eq!(failed.ready(), "False, ApiError: timed out");
}

#[test]
fn nothing_is_written_where_somebody_else_looks_after_it() {
    assert_eq!(Scene::of(Step::Leave).workspace(vpc()).status(), None);
}

#[test]
fn a_pause_leaves_everything_else_as_it_was() {
    let before = Scene::of(settled()).apply(applied()).workspace(vpc());
    let kept = before.known();
    let pause = Step::Pause(Pause { cluster: true, annotation: true, moving: false });
    let paused = before.then(Scene::of(pause));
    assert_eq!(
        paused.told()[0],
        "Paused True, Paused: Cluster spec.paused is set to true, CAPTCluster has the cluster.x-k8s.io/paused annotation"
    );
    let mut after = paused.known();
    after.conditions[0] = kept.conditions[0].clone();
    assert_eq!(after, kept);
}

#[test]
fn the_moment_of_a_condition_is_that_of_its_change() {
    let coming = Scene::of(settled()).apply(applied()).workspace(silent());
    let ready = coming.then(Scene::of(settled()).apply(applied()).workspace(vpc()));
    let moments: Vec<_> =
        ready.known().conditions.into_iter().map(|entry| (entry.type_, entry.last_transition_time)).collect();
    let expected = [("Paused", 60), ("Ready", 120), ("VPCReady", 120)];
    assert_eq!(moments, expected.map(|(name, second)| (name.to_owned(), at(second))));
}
