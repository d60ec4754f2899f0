use super::*;

#[test]
fn a_workspace_that_was_written_is_told() {
    let scene = Scene::of(write(Mode::Create)).with(silent());
    insta::assert_yaml_snapshot!(scene.status(), @r#"
    workspaceName: demo
    applied: true
    lastAppliedTime: "1970-01-01T00:01:00Z"
    templateGeneration: 5
    appliedDigest: "sha256:new"
    workspaceGeneration: 7
    observedGeneration: 3
    conditions:
      - lastTransitionTime: "1970-01-01T00:01:00Z"
        message: ""
        observedGeneration: 3
        reason: NotPaused
        status: "False"
        type: Paused
      - lastTransitionTime: "1970-01-01T00:01:00Z"
        message: ""
        observedGeneration: 3
        reason: UpToDate
        status: "True"
        type: Applied
      - lastTransitionTime: "1970-01-01T00:01:00Z"
        message: "Workspace `demo` has not reported yet whether it is ready"
        observedGeneration: 3
        reason: WorkspaceNotReady
        status: "False"
        type: Ready
      - lastTransitionTime: "1970-01-01T00:01:00Z"
        message: the Workspace has not reported yet
        observedGeneration: 3
        reason: WorkspaceNotReady
        status: Unknown
        type: Synced
    "#);
}

#[test]
fn a_workspace_that_is_ready_makes_the_apply_ready() {
    insta::assert_yaml_snapshot!(Scene::of(settled()).with(running()).told(), @r#"
    - "Paused False, NotPaused: "
    - "Applied True, UpToDate: "
    - "Ready True, WorkspaceReady: Workspace `demo` is ready"
    - "Synced True, UpToDate: "
    "#);
}

#[test]
fn why_a_workspace_is_not_ready_is_told() {
    insta::assert_yaml_snapshot!(Scene::of(settled()).with(failing()).told(), @r#"
    - "Paused False, NotPaused: "
    - "Applied True, UpToDate: "
    - "Ready False, WorkspaceNotReady: Workspace `demo` is not ready: Creating; last attempt: apply failed: quota exceeded"
    - "Synced False, WorkspaceNotReady: apply failed: quota exceeded"
    "#);
}

#[test]
fn a_running_workspace_whose_last_attempt_failed_is_ready_and_not_synced() {
    let synced = Some(verdict(false, "ReconcileError", "plan failed"));
    let workspace = WorkspaceFacts { synced, ..running() };
    insta::assert_yaml_snapshot!(Scene::of(settled()).with(workspace).told(), @r#"
    - "Paused False, NotPaused: "
    - "Applied True, UpToDate: "
    - "Ready True, WorkspaceReady: Workspace `demo` is ready; last attempt: plan failed"
    - "Synced False, WorkspaceNotReady: plan failed"
    "#);
}

#[test]
fn variables_that_go_nowhere_are_told() {
    let step = Step::Settled { rendered: rendered(&["regoin", "typo"]) };
    assert_eq!(
        Scene::of(step).with(running()).told()[1],
        "Applied True, UpToDate: the module does not declare these variables, and they are left out: regoin, typo"
    );
}

#[test]
fn a_wait_is_told() {
    let step = hold(Reason::WaitingForSecrets, "waiting for Secret `team-a/s` to have data");
    insta::assert_yaml_snapshot!(Scene::of(step).status(), @r#"
    applied: false
    observedGeneration: 3
    conditions:
      - lastTransitionTime: "1970-01-01T00:01:00Z"
        message: ""
        observedGeneration: 3
        reason: NotPaused
        status: "False"
        type: Paused
      - lastTransitionTime: "1970-01-01T00:01:00Z"
        message: "waiting for Secret `team-a/s` to have data"
        observedGeneration: 3
        reason: WaitingForSecrets
        status: "False"
        type: Applied
      - lastTransitionTime: "1970-01-01T00:01:00Z"
        message: "waiting for Secret `team-a/s` to have data"
        observedGeneration: 3
        reason: WaitingForSecrets
        status: "False"
        type: Ready
      - lastTransitionTime: "1970-01-01T00:01:00Z"
        message: the Workspace has not reported yet
        observedGeneration: 3
        reason: WorkspaceNotReady
        status: Unknown
        type: Synced
    "#);
}

#[test]
fn a_template_that_vanishes_does_not_make_a_running_workspace_unready() {
    let step = hold(Reason::TemplateNotFound, "WorkspaceTemplate `team-a/eks` does not exist");
    insta::assert_yaml_snapshot!(Scene::of(step).with(running()).told(), @r#"
    - "Paused False, NotPaused: "
    - "Applied False, TemplateNotFound: WorkspaceTemplate `team-a/eks` does not exist"
    - "Ready True, WorkspaceReady: Workspace `demo` is ready"
    - "Synced True, UpToDate: "
    "#);
}

#[test]
fn a_change_that_is_held_back_is_told_and_the_workspace_stays_ready() {
    let scene = Scene::of(hold_change()).with(running());
    assert_eq!(scene.status().unwrap().pending_digest.as_deref(), Some("sha256:new"));
    insta::assert_yaml_snapshot!(scene.told(), @r#"
    - "Paused False, NotPaused: "
    - "Applied False, ApprovalRequired: annotate this apply"
    - "Ready True, WorkspaceReady: Workspace `demo` is ready; a change is held back"
    - "Synced True, UpToDate: "
    "#);
}

#[test]
fn a_claim_without_a_workspace_is_told() {
    let step = Step::Claim(Record { workspace: "demo".to_owned(), digest: None, found: None, kept_as: None });
    insta::assert_yaml_snapshot!(Scene::of(step).told(), @r#"
    - "Paused False, NotPaused: "
    - "Applied False, WorkspaceMissing: Workspace `demo` is about to be made"
    - "Ready False, WorkspaceMissing: Workspace `demo` is about to be made"
    - "Synced Unknown, WorkspaceNotReady: the Workspace has not reported yet"
    "#);
}

#[test]
fn those_who_use_the_workspace_are_named_on_deletion() {
    insta::assert_yaml_snapshot!(Scene::of(dependents()).with(running()).told(), @r#"
    - "Paused False, NotPaused: "
    - "Applied False, WaitingForDependents: Workspace `demo` is destroyed when these applies, which use it, are gone: `team-a/eks-apply`, `team-a/dns-apply`"
    - "Ready False, WaitingForDependents: Workspace `demo` is destroyed when these applies, which use it, are gone: `team-a/eks-apply`, `team-a/dns-apply`"
    - "Synced True, UpToDate: "
    "#);
}

#[rstest]
#[case::asked_for(delete())]
#[case::waited_for(Step::AwaitDeletion { name: "demo".to_owned() })]
fn a_workspace_that_is_taken_down_is_no_longer_ready(#[case] step: Step) {
    let scene = Scene::of(step).with(running());
    let expected = "False, Deleting: Workspace `demo` is being destroyed";
    assert_eq!(scene.told()[1..3], [format!("Applied {expected}"), format!("Ready {expected}")]);
}

/// Trouble on the way does not make it ready again.
#[rstest]
#[case::deleting(delete())]
#[case::retaining(Step::Retain { workspace: "demo".to_owned() })]
#[case::waiting(dependents())]
fn a_workspace_that_cannot_be_taken_down_is_not_ready_either(#[case] step: Step) {
    let scene = Scene::of(step).with(running()).failed(Reason::ApiError, "deleting: timed out");
    let ready = scene.condition(type_::READY);
    assert_eq!((ready.status.as_str(), ready.reason.as_str()), ("False", "ApiError"));
}

#[test]
fn a_workspace_that_somebody_else_deletes_is_not_ready() {
    let message = "Workspace `demo` is being deleted; it is made again when it is gone";
    let scene = Scene::of(hold(Reason::WorkspaceMissing, message)).with(destroyed());
    assert_eq!(scene.told()[2], format!("Ready False, WorkspaceMissing: {message}"));
}

#[rstest]
#[case::written(write(Mode::Create), None)]
#[case::changed(write(Mode::Update { uid: None }), Some(running()))]
fn a_write_that_is_refused_applies_nothing(#[case] step: Step, #[case] workspace: Option<WorkspaceFacts>) {
    let ready = workspace.is_some();
    let scene = Scene { workspace, ..Scene::of(step) }.failed(Reason::WorkspaceRefused, "vars: too long");
    let status = scene.status().unwrap();
    assert_eq!(
        (status.applied_digest, status.last_applied_time, status.workspace_generation),
        (None, None, None)
    );
    assert_eq!(scene.told()[1], "Applied False, WorkspaceRefused: vars: too long");
    assert_eq!(scene.condition(type_::READY).status == "True", ready);
}

#[test]
fn nothing_is_written_where_somebody_else_looks_after_it() {
    assert_eq!(Scene::of(Step::Leave).with(running()).status(), None);
}

#[test]
fn a_pause_leaves_everything_else_as_it_was() {
    let before = Scene::of(hold_change()).with(running());
    let kept = before.status().unwrap();
    let pause = Step::Pause(Pause { cluster: true, annotation: true, moving: false });
    let mut paused = before.then(Scene::of(pause)).status().unwrap();
    let condition = paused.conditions.remove(0);
    insta::assert_yaml_snapshot!(condition, @r#"
    lastTransitionTime: "1970-01-01T00:02:00Z"
    message: "Cluster spec.paused is set to true, WorkspaceTemplateApply has the cluster.x-k8s.io/paused annotation"
    observedGeneration: 3
    reason: Paused
    status: "True"
    type: Paused
    "#);
    assert_eq!(paused, WorkspaceTemplateApplyStatus { conditions: kept.conditions[1..].to_vec(), ..kept });
}

#[rstest]
#[case::carried_over(write(Mode::Update { uid: None }))]
#[case::taken_back(settled())]
#[case::not_rendered(hold(Reason::TemplateNotFound, ""))]
fn what_is_no_longer_pending_is_cleared(#[case] step: Step) {
    let held = Scene::of(hold_change()).with(running());
    let next = held.then(Scene::of(step).with(running()));
    assert_eq!(next.status().unwrap().pending_digest, None);
}

#[test]
fn what_was_applied_stays_told_while_a_change_is_held_back() {
    let written = Scene::of(write(Mode::Create)).with(running());
    let before = written.status().unwrap();
    let held = Scene { template_generation: Some(6), ..Scene::of(hold_change()).with(running()) };
    let after = written.then(held).status().unwrap();
    assert_eq!(after.applied_digest, before.applied_digest);
    assert_eq!(after.last_applied_time, before.last_applied_time);
    assert_eq!(after.template_generation, Some(5));
}

/// A new description makes a new generation of the template, and leaves the Workspace as it is.
#[test]
fn a_template_that_changes_nothing_counts_as_applied() {
    let described = Scene { template_generation: Some(6), ..Scene::of(settled()).with(running()) };
    let after = Scene::of(write(Mode::Create)).with(running()).then(described).status().unwrap();
    assert_eq!(after.template_generation, Some(6));
    assert_eq!(after.last_applied_time, Some(at(60)));
}

#[test]
fn a_workspace_that_is_gone_is_told() {
    let lost = Scene::of(write(Mode::Create)).with(running()).then(Scene::of(hold_change()));
    let status = lost.status().unwrap();
    assert!(!status.applied);
    assert_eq!(status.workspace_name.as_deref(), Some("demo"));
    assert_eq!(lost.condition(type_::READY).reason, "ApprovalRequired");
}

#[test]
fn the_moment_of_a_condition_is_that_of_its_change() {
    let next = Scene::of(settled()).with(silent()).then(Scene::of(settled()).with(running()));
    let moments = next.status().unwrap().conditions.into_iter();
    let moments: Vec<_> =
        moments.map(|condition| (condition.type_, condition.last_transition_time)).collect();
    let expected = [("Paused", 60), ("Applied", 60), ("Ready", 120), ("Synced", 120)];
    assert_eq!(moments, expected.map(|(name, second)| (name.to_owned(), at(second))));
}

#[test]
fn what_has_not_changed_is_the_same_status() {
    let before = Scene::of(settled()).with(running());
    let status = before.status();
    assert_eq!(before.then(Scene::of(settled()).with(running())).status(), status);
}

#[test]
fn conditions_of_others_and_of_earlier_versions_stay() {
    let mut scene = Scene::of(settled()).with(running());
    let old: Value = json!({ "conditions": [
        { "type": "SecretReady", "status": "True", "reason": "X", "message": "", "lastTransitionTime": "2024-01-01T00:00:00Z" },
        { "type": "Ready", "status": "True", "reason": "WorkspaceReady", "message": "", "lastTransitionTime": "2024-01-01T00:00:00Z" },
    ] });
    scene.apply.status = Some(serde_json::from_value(old).unwrap());
    let names: Vec<_> = scene.status().unwrap().conditions.into_iter().map(|entry| entry.type_).collect();
    assert_eq!(names, ["SecretReady", "Ready", "Paused", "Applied", "Synced"]);
    assert_eq!(
        scene.condition("Ready").last_transition_time,
        "2024-01-01T00:00:00Z".parse::<Timestamp>().map(Time).unwrap()
    );
}

#[test]
fn a_message_without_end_is_cut() {
    let scene = Scene::of(hold(Reason::ApiError, &"ü".repeat(100_000)));
    assert!(scene.condition(type_::APPLIED).message.len() <= 32_768);
    let scene = Scene::of(settled())
        .with(WorkspaceFacts { synced: Some(verdict(false, "", &"x".repeat(100_000))), ..running() });
    assert!(scene.condition(type_::READY).message.len() <= 32_768);
}
