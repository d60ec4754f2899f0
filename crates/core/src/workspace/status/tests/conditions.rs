use super::*;

const APPLYING: (RunOperation, RunPhase) = (RunOperation::Apply, RunPhase::Running);

#[test]
fn the_whole_status_of_what_was_published() {
    insta::assert_yaml_snapshot!(Scene::of(Step::Publish).sized(4096).status(), @r#"
    atProvider:
      outputs:
        name: demo
    conditions:
      - type: Ready
        status: "True"
        reason: Available
        lastTransitionTime: "1970-01-01T00:01:00Z"
        observedGeneration: 3
      - type: Synced
        status: "True"
        reason: ReconcileSuccess
        lastTransitionTime: "1970-01-01T00:01:00Z"
        observedGeneration: 3
    observedGeneration: 3
    engine:
      lastAppliedTime: "1970-01-01T00:01:00Z"
      state:
        backend: kubernetes
        secret: team-a/tfstate-demo-capt
        bytes: 4096
      tool: OpenTofu 1.12.6
    "#);
}

#[rstest]
#[case::just_seen(Scene::of(Step::Claim), "waiting for Terraform")]
#[case::in_the_queue(
    Scene::of(start(Operation::Plan)).running(RunOperation::Plan, RunPhase::Queued),
    "planning: waiting for its turn"
)]
#[case::applied(Scene::of(Step::Wait).running(APPLYING.0, APPLYING.1), "applying")]
#[case::failed(Scene::of(hold()), "apply failed: no quota")]
#[case::not_written(Scene::of(Step::Publish).failed(), "the API server is away")]
fn what_is_not_there_yet_is_being_created(#[case] scene: Scene, #[case] message: &str) {
    let ready = scene.condition("Ready").unwrap();
    assert_eq!((ready.status.as_str(), ready.reason.as_str()), ("False", "Creating"));
    assert_eq!(ready.message.as_deref(), Some(message));
}

#[rstest]
#[case::published(Scene::of(Step::Publish))]
#[case::settled(Scene::of(settled()))]
#[case::settled_when_its_status_was_lost(Scene::of(report_drift()))]
#[case::while_it_is_looked_at(Scene::ready(start(Operation::Plan)).running(RunOperation::Plan, RunPhase::Running))]
#[case::when_a_change_fails(Scene::ready(hold()))]
#[case::when_a_change_waits_for_a_lock(Scene::ready(await_lock()))]
#[case::when_a_change_waits_for_approval(Scene::ready(await_approval()))]
#[case::when_it_cannot_be_written(Scene::ready(Step::Publish).failed())]
#[case::when_it_is_paused(Scene::ready(Step::Pause))]
#[case::when_it_is_frozen(Scene::ready(Step::Freeze(freeze())))]
fn what_is_there_stays_ready(#[case] scene: Scene) {
    assert_eq!(scene.condition("Ready").unwrap().status, "True");
}

#[rstest]
#[case::waiting_for_others(Step::AwaitOthers(vec!["example.com/a".to_owned(), "example.com/b".to_owned()]),
    "waiting until others let go of this Workspace before it is destroyed: example.com/a, example.com/b")]
#[case::planning(start(Operation::PlanDestroy), "waiting for Terraform")]
#[case::destroying(destroy(), "waiting for Terraform")]
#[case::stopping(Step::Interrupt, "waiting for Terraform")]
#[case::failing(hold(), "apply failed: no quota")]
fn what_is_being_deleted_is_not_ready(#[case] step: Step, #[case] message: &str) {
    let scene = Scene::of(Step::Publish).then(Scene::of(step).deleted());
    let ready = scene.condition("Ready").unwrap();
    assert_eq!((ready.status.as_str(), ready.reason.as_str()), ("False", "Deleting"));
    assert_eq!(ready.message.as_deref(), Some(message));
}

#[test]
fn a_change_that_fails_is_told() {
    insta::assert_yaml_snapshot!(Scene::ready(hold()).told(), @r#"
    - "Ready True, Available: "
    - "Synced False, ReconcileError: apply failed: no quota"
    "#);
}

#[test]
fn what_failed_stays_told_until_something_succeeds() {
    let failed = || Scene::ready(hold());
    let again = failed().then(Scene::of(start(Operation::Plan)));
    assert_eq!(again.condition("Synced"), failed().condition("Synced"));
    let healed = failed().then(Scene::of(settled()));
    assert_eq!(healed.condition("Synced").unwrap().status, "True");
}

#[rstest]
#[case::paused(Step::Pause, "the Workspace is paused by its annotation or by empty spec.managementPolicies")]
#[case::frozen(Step::Freeze(freeze()), "WorkspaceTemplateApply `team-a/demo-apply` is paused")]
fn a_pause_is_told_in_crossplanes_words(#[case] step: Step, #[case] message: &str) {
    let synced = Scene::ready(step).condition("Synced").unwrap();
    assert_eq!((synced.status.as_str(), synced.reason.as_str()), ("False", "ReconcilePaused"));
    assert_eq!(synced.message.as_deref(), Some(message));
}

#[test]
fn a_pause_leaves_what_waits_as_it_is() {
    let waiting = Scene::ready(await_approval()).planned();
    let (before, plan) =
        (waiting.condition("ApprovalRequired"), waiting.status().unwrap().engine.unwrap().plan);
    let paused = waiting.then(Scene::of(Step::Pause));
    assert_eq!(paused.condition("ApprovalRequired"), before);
    assert_eq!(paused.status().unwrap().engine.unwrap().plan, plan);
}

#[test]
fn a_plan_that_waits_says_why_and_what_to_do() {
    insta::assert_yaml_snapshot!(Scene::ready(await_approval()).planned().told(), @r#"
    - "Ready True, Available: "
    - "Synced False, ApprovalRequired: the plan 0123456789abcdef (1 to add, 0 to change, 1 to replace, 0 to destroy) waits for approval: somebody else made what it would change; it destroys or replaces aws_vpc.v1, aws_vpc.v2, aws_vpc.v3, aws_vpc.v4, aws_vpc.v5 and 2 more; what goes into the module has changed, and spec.updatePolicy of its apply asks for approval. To read it: kubectl get configmap -n team-a demo-plan -o jsonpath='{.data.plan}'. To apply it: capt approve workspace demo (or kubectl annotate --overwrite workspace demo capt.cluster.x-k8s.io/approve-plan=0123456789abcdef)"
    - "ApprovalRequired True, ApprovalRequired: the plan 0123456789abcdef (1 to add, 0 to change, 1 to replace, 0 to destroy) waits for approval: somebody else made what it would change; it destroys or replaces aws_vpc.v1, aws_vpc.v2, aws_vpc.v3, aws_vpc.v4, aws_vpc.v5 and 2 more; what goes into the module has changed, and spec.updatePolicy of its apply asks for approval. To read it: kubectl get configmap -n team-a demo-plan -o jsonpath='{.data.plan}'. To apply it: capt approve workspace demo (or kubectl annotate --overwrite workspace demo capt.cluster.x-k8s.io/approve-plan=0123456789abcdef)"
    "#);
}

#[test]
fn a_destroy_that_waits_says_how_to_keep_what_is_there() {
    let why = vec![Concern::TakenOver];
    let step = Step::AwaitApproval { hash: HASH.to_owned(), why, next_check: None };
    insta::assert_yaml_snapshot!(Scene::of(step).planned().deleted().told(), @r#"
    - "ApprovalRequired True, ApprovalRequired: the plan 0123456789abcdef (1 to add, 0 to change, 1 to replace, 0 to destroy) waits for approval: somebody else made what it would destroy (to keep that, set spec.deletionPolicy to Orphan). To read it: kubectl get configmap -n team-a demo-plan -o jsonpath='{.data.plan}'. To destroy by it: capt approve workspace demo (or kubectl annotate --overwrite workspace demo capt.cluster.x-k8s.io/approve-plan=0123456789abcdef)"
    - "Synced False, ApprovalRequired: the plan 0123456789abcdef (1 to add, 0 to change, 1 to replace, 0 to destroy) waits for approval: somebody else made what it would destroy (to keep that, set spec.deletionPolicy to Orphan). To read it: kubectl get configmap -n team-a demo-plan -o jsonpath='{.data.plan}'. To destroy by it: capt approve workspace demo (or kubectl annotate --overwrite workspace demo capt.cluster.x-k8s.io/approve-plan=0123456789abcdef)"
    - "Ready False, Deleting: the plan 0123456789abcdef (1 to add, 0 to change, 1 to replace, 0 to destroy) waits for approval: somebody else made what it would destroy (to keep that, set spec.deletionPolicy to Orphan). To read it: kubectl get configmap -n team-a demo-plan -o jsonpath='{.data.plan}'. To destroy by it: capt approve workspace demo (or kubectl annotate --overwrite workspace demo capt.cluster.x-k8s.io/approve-plan=0123456789abcdef)"
    "#);
}

#[test]
fn a_lock_says_who_holds_it_and_how_to_release_it() {
    insta::assert_yaml_snapshot!(Scene::ready(await_lock()).told(), @r#"
    - "Ready True, Available: "
    - "Synced False, ReconcileError: the state is locked by me@there for OperationTypeApply since today; it is tried again. If that run is known to be dead, release the lock with: kubectl annotate --overwrite workspace demo capt.cluster.x-k8s.io/force-unlock=id"
    - "Locked True, Locked: the state is locked by me@there for OperationTypeApply since today; it is tried again. If that run is known to be dead, release the lock with: kubectl annotate --overwrite workspace demo capt.cluster.x-k8s.io/force-unlock=id"
    "#);
}

#[test]
fn drift_says_what_differs_and_where_to_read_it() {
    insta::assert_yaml_snapshot!(Scene::ready(report_drift()).planned().told(), @r#"
    - "Ready True, Available: "
    - "Synced True, ReconcileSuccess: "
    - "Drifted True, DriftDetected: the infrastructure differs from what was applied: 0 to add, 1 to change. To read it: kubectl get configmap -n team-a demo-plan -o jsonpath='{.data.plan}'."
    "#);
}

#[rstest]
#[case::a_lock_is_gone("Locked", await_lock(), settled(), "NotLocked")]
#[case::a_lock_is_gone_and_something_else_fails("Locked", await_lock(), hold(), "NotLocked")]
#[case::approved("ApprovalRequired", await_approval(), apply(), "NothingPending")]
#[case::planned_anew("ApprovalRequired", await_approval(), start(Operation::Plan), "NothingPending")]
#[case::taken_back("ApprovalRequired", await_approval(), settled(), "NothingPending")]
#[case::corrected("Drifted", report_drift(), Step::Publish, "NoDrift")]
#[case::gone_by_itself("Drifted", report_drift(), Step::Confirm, "NoDrift")]
fn what_is_over_is_told(#[case] name: &str, #[case] first: Step, #[case] second: Step, #[case] reason: &str) {
    let before = Scene::ready(first);
    assert_eq!(before.condition(name).unwrap().status, "True");
    let after = before.then(Scene::of(second)).condition(name).unwrap();
    assert_eq!((after.status.as_str(), after.reason.as_str()), ("False", reason));
}

#[rstest]
#[case::a_lock("Locked", await_lock(), start(Operation::Plan))]
#[case::drift("Drifted", report_drift(), settled())]
#[case::drift_while_it_is_looked_at_again("Drifted", report_drift(), start(Operation::Plan))]
fn what_may_go_on_stays_told(#[case] name: &str, #[case] first: Step, #[case] second: Step) {
    let after = Scene::ready(first).then(Scene::of(second)).condition(name);
    assert_eq!(after.unwrap().status, "True");
}

#[rstest]
#[case("Locked")]
#[case("ApprovalRequired")]
#[case("Drifted")]
#[case("StateLarge")]
#[case("InterruptedCalls")]
fn what_never_happened_is_not_told(#[case] name: &str) {
    assert_eq!(Scene::ready(settled()).sized(4096).condition(name), None);
}

#[test]
fn a_large_state_is_told_until_it_shrinks() {
    let large = Scene::ready(settled()).sized(700 * 1024);
    assert_eq!(
        large.told().last().unwrap(),
        "StateLarge True, StateNearLimit: the state has 700 KiB and a Secret holds 1024 KiB: divide the module, or give it a backend of its own"
    );
    let unknown = large.then(Scene::of(settled()));
    assert_eq!(unknown.condition("StateLarge").unwrap().status, "True", "nobody looked");
    let small = unknown.then(Scene::of(settled()).sized(700 * 1024 - 1));
    let told = small.condition("StateLarge").unwrap();
    assert_eq!((told.status.as_str(), told.reason.as_str()), ("False", "StateSizeFine"));
}

#[test]
fn interrupted_calls_are_reported_until_a_person_has_checked_them() {
    let some = Scene::ready(settled()).interrupted(1);
    let told = some.condition("InterruptedCalls").unwrap();
    assert_eq!((told.status.as_str(), told.reason.as_str()), ("True", "InterruptedCalls"));
    assert!(told.message.unwrap().contains("create aws_vpc.v0"));
    assert_eq!(some.condition("Ready").unwrap().status, "True", "they are no reason to wait");
    let unknown = some.then(Scene::of(settled()));
    assert_eq!(unknown.condition("InterruptedCalls").unwrap().status, "True", "nobody looked");
    let none = unknown.then(Scene::of(settled()).interrupted(0));
    let told = none.condition("InterruptedCalls").unwrap();
    assert_eq!((told.status.as_str(), told.reason.as_str()), ("False", "NoInterruptedCalls"));
    assert_eq!(Scene::ready(settled()).interrupted(0).condition("InterruptedCalls"), None);
}

#[test]
fn the_transition_time_moves_only_with_the_status() {
    let time = |scene: &Scene, name| scene.condition(name).unwrap().last_transition_time;
    let failed = Scene::of(hold());
    let other = Step::Hold { blocked: Blocked::new(Reason::PlanFailed, "something else"), until: None };
    let again = failed.then(Scene::of(other));
    assert_eq!(time(&again, "Synced"), "1970-01-01T00:01:00Z");
    assert_eq!(again.condition("Synced").unwrap().message.as_deref(), Some("something else"));
    let healed = again.then(Scene::of(settled()));
    assert_eq!(time(&healed, "Synced"), "1970-01-01T00:02:00Z");
}

#[test]
fn the_same_again_is_the_same_status() {
    for step in [settled(), hold(), await_lock(), report_drift(), await_approval(), Step::Pause] {
        let first = Scene::ready(step.clone()).planned();
        let again = Scene::of(step).planned();
        let (before, after) = (first.status(), first.then(again).status());
        assert_eq!(before, after);
    }
}

#[test]
fn messages_are_cut_to_what_helps() {
    let blocked = Blocked::new(Reason::ApplyFailed, "ü".repeat(20_000));
    let told = Scene::of(Step::Hold { blocked, until: None }).condition("Synced").unwrap().message.unwrap();
    assert!(told.len() <= 8192, "{}", told.len());
}

#[rstest]
#[case::left(Step::Leave)]
#[case::abandoned(Step::Abandon(freeze()))]
#[case::orphaned(Step::Orphan)]
#[case::finished(Step::Finish)]
fn nothing_is_written_to_what_may_be_gone(#[case] step: Step) {
    assert_eq!(Scene::of(step).deleted().status(), None);
}

#[rstest]
#[case::abandoned(Step::Abandon(freeze()))]
#[case::orphaned(Step::Orphan)]
#[case::finished(Step::Finish)]
fn letting_go_that_fails_is_told(#[case] step: Step) {
    let scene = Scene::of(step).deleted().failed();
    assert_eq!(scene.condition("Synced").unwrap().message.as_deref(), Some("the API server is away"));
    assert_eq!(scene.condition("Ready").unwrap().reason, "Deleting");
}

#[test]
fn what_is_not_ours_is_never_written() {
    assert_eq!(Scene::of(Step::Leave).failed().status(), None);
}
