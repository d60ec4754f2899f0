use super::*;

fn ready() -> Scene {
    Scene::of(settled()).apply(applied()).workspace(vpc())
}

#[test]
fn a_ready_network_tells_everything() {
    let status = CAPTClusterStatus { conditions: Vec::new(), ..ready().known() };
    insta::assert_yaml_snapshot!(status, @r#"
    initialization:
      provisioned: true
    ready: true
    vpcWorkspaceName: demo-vpc
    vpcId: vpc-1
    failureDomains:
      - name: a
        controlPlane: true
      - name: b
        controlPlane: true
    workspaceTemplateStatus:
      ready: true
      workspaceName: demo-vpc
      lastAppliedRevision: "4"
      lastAppliedTime: "2026-01-01T00:00:00Z"
    observedGeneration: 3
    "#);
}

/// Every step of Terraform would otherwise cost a write for every cluster.
#[test]
fn progress_changes_nothing_until_the_network_is_ready() {
    let first = Scene::of(write(Mode::Create)).apply(apply(json!({})));
    let expected = first.known();
    for next in [
        Scene::of(settled()).apply(held("WorkspaceMissing", "about to be made")),
        Scene::of(settled()).apply(applied()),
        Scene::of(settled()).apply(applied()).workspace(silent()),
        Scene::of(settled())
            .apply(applied())
            .workspace(WorkspaceFacts { ready: Some(verdict(false, "Creating", "3 of 9")), ..silent() }),
    ] {
        assert_eq!(first.then(next).known(), expected);
    }
}

#[test]
fn what_has_not_changed_is_the_same_status() {
    assert_eq!(ready().then(ready()).known(), ready().known());
}

#[rstest]
#[case::workspace_fails(Scene::of(settled()).apply(applied()).workspace(failing()))]
#[case::workspace_is_gone(Scene::of(settled()).apply(applied()))]
#[case::apply_is_gone(Scene::of(write(Mode::Create)).failed(Reason::ApiError, "timed out"))]
#[case::deletion(Scene::of(await_deletion()).apply(applied()).workspace(vpc()))]
fn what_was_provisioned_stays_so_and_readiness_does_not(#[case] next: Scene) {
    let status = ready().then(next).known();
    assert!(!status.ready);
    assert!(status.initialization.unwrap().provisioned);
    assert!(!status.workspace_template_status.unwrap().ready);
    assert_eq!(status.vpc_id.as_deref(), Some("vpc-1"));
    assert_eq!(status.failure_domains.len(), 2);
}

#[rstest]
#[case::no_outputs(running(json!({})))]
#[case::no_workspace_yet(silent())]
fn what_is_missing_for_a_moment_is_kept(#[case] workspace: WorkspaceFacts) {
    let status = ready().then(Scene::of(settled()).apply(applied()).workspace(workspace)).known();
    assert_eq!(status.vpc_id.as_deref(), Some("vpc-1"));
    assert_eq!(status.failure_domains.len(), 2);
}

#[test]
fn outputs_are_followed() {
    let changed = running(json!({ "vpc_id": "vpc-2" }));
    let status = ready().then(Scene::of(settled()).apply(applied()).workspace(changed)).known();
    assert_eq!(status.vpc_id.as_deref(), Some("vpc-2"));
    assert!(status.failure_domains.is_empty());
}

#[test]
fn a_failure_is_kept_until_it_is_over() {
    let failed = Scene::of(settled()).apply(applied()).workspace(failing());
    let known = failed.known().workspace_template_status.unwrap();
    assert_eq!(known.last_failed_revision.as_deref(), Some("4"));
    let message = known.last_failure_message.unwrap();
    assert!(message.contains("no quota"), "{message}");
    let waiting = failed.then(Scene::of(settled()).apply(applied()).workspace(silent()));
    assert_eq!(waiting.known().workspace_template_status.unwrap().last_failure_message, Some(message));
    let over = waiting.then(ready()).known().workspace_template_status.unwrap();
    assert_eq!((over.last_failed_revision, over.last_failure_message), (None, None));
}

#[test]
fn what_earlier_versions_called_final_is_cleared() {
    let old = json!({ "ready": true, "failureReason": "VPCFailed", "failureMessage": "conflict" });
    let status = ready().before(old).known();
    assert_eq!((status.failure_reason, status.failure_message), (None, None));
}

#[test]
fn conditions_of_others_stay() {
    let old = json!({ "conditions": [condition_of("Theirs", "True", "X", "")] });
    let names: Vec<_> = ready().before(old).known().conditions.into_iter().map(|entry| entry.type_).collect();
    assert_eq!(names, ["Theirs", "Paused", "Ready", "VPCReady"]);
}

#[test]
fn conditions_that_only_earlier_versions_kept_up_go() {
    let old = json!({ "conditions": [condition_of("VPCFailed", "True", "X", "")] });
    let names: Vec<_> = ready().before(old).known().conditions.into_iter().map(|entry| entry.type_).collect();
    assert_eq!(names, ["Paused", "Ready", "VPCReady"]);
}

#[test]
fn a_message_without_end_is_cut() {
    let long = Scene::of(settled()).apply(held("TemplateInvalid", &"ü".repeat(100_000)));
    assert!(long.known().conditions.iter().all(|condition| condition.message.len() <= 32_768));
}
