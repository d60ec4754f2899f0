use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

mod adoption;
mod deleting;
mod policy;

const NAME: &str = "demo";
const ALTERNATIVE: &str = "demo-d603b2b5";
const OLD: &str = "sha256:old";
const NEW: &str = "sha256:new";

/// An apply as a user writes it.
fn fresh() -> WorkspaceTemplateApply {
    serde_json::from_value(json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
        "metadata": { "name": "demo-apply", "namespace": "team-a", "uid": "uid-1" },
        "spec": { "templateRef": { "name": "eks" } },
    }))
    .unwrap()
}

/// An apply that is held and has written its Workspace before.
fn claimed() -> WorkspaceTemplateApply {
    let mut apply = annotated(fresh(), annotation::WORKSPACE_NAME, NAME);
    apply.metadata.finalizers = Some(vec![finalizer::WORKSPACE.to_owned()]);
    with_status(apply, json!({ "workspaceName": NAME, "applied": true, "workspaceGeneration": 7 }))
}

fn annotated(mut apply: WorkspaceTemplateApply, key: &str, value: &str) -> WorkspaceTemplateApply {
    apply.metadata.annotations.get_or_insert_default().insert(key.to_owned(), value.to_owned());
    apply
}

fn with_status(mut apply: WorkspaceTemplateApply, status: Value) -> WorkspaceTemplateApply {
    apply.status = Some(serde_json::from_value(status).unwrap());
    apply
}

fn rendered(digest: &str) -> Rendered {
    Rendered {
        spec: json!({ "forProvider": { "module": digest } }),
        digest: digest.to_owned(),
        references: Vec::new(),
        ignored: Vec::new(),
    }
}

/// A Workspace that nobody has laid claim to.
fn stray() -> WorkspaceFacts {
    let metadata = ObjectMeta {
        name: Some(NAME.to_owned()),
        uid: Some(uid()),
        generation: Some(7),
        ..ObjectMeta::default()
    };
    WorkspaceFacts { metadata, ..WorkspaceFacts::default() }
}

/// A Workspace as this apply of `namespace` has written it.
fn made_by(namespace: &str, digest: &str) -> WorkspaceFacts {
    let key = ApplyKey { namespace: namespace.to_owned(), name: "demo-apply".to_owned() };
    let mut workspace = stray();
    workspace.metadata.labels = Some(tie::labels(&key, "uid-1", None));
    workspace.metadata.annotations = Some(
        [
            (annotation::APPLY.to_owned(), key.to_string()),
            (annotation::APPLIED_DIGEST.to_owned(), digest.to_owned()),
        ]
        .into(),
    );
    workspace
}

fn ours(digest: &str) -> WorkspaceFacts {
    made_by("team-a", digest)
}

fn going(mut workspace: WorkspaceFacts) -> WorkspaceFacts {
    workspace.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    workspace
}

fn active(apply: &WorkspaceTemplateApply, workspace: Option<WorkspaceFacts>, digest: &str) -> Step {
    beside(apply, workspace, digest, digest)
}

/// A Workspace whose spec is that of `found`, where template and variables give that of `digest`.
fn beside(
    apply: &WorkspaceTemplateApply,
    workspace: Option<WorkspaceFacts>,
    found: &str,
    digest: &str,
) -> Step {
    let needed = workspace.as_ref().is_some_and(|workspace| needs_spec(apply, workspace));
    let found = Found { spec: rendered(found).spec, resource_version: Some("5".to_owned()) };
    let found = needed.then_some(found);
    decide(apply, &Observed::Active { workspace, found, rendered: Ok(rendered(digest)) })
}

fn uid() -> String {
    "workspace-uid".to_owned()
}

fn claim(workspace: &str, digest: Option<&str>) -> Step {
    Step::Claim(Record {
        workspace: workspace.to_owned(),
        digest: digest.map(ToOwned::to_owned),
        kept_as: None,
        found: None,
    })
}

fn write(mode: Mode, digest: &str) -> Step {
    Step::Write { mode, rendered: rendered(digest) }
}

fn hold(step: Step) -> Blocked {
    match step {
        Step::Hold(blocked) => blocked,
        other => panic!("expected to hold, got {other:?}"),
    }
}

#[rstest]
#[case::managed_by_others(Observed::ExternallyManaged, Step::Leave)]
#[case::paused(
    Observed::Paused(Pause { cluster: true, annotation: false, moving: false }),
    Step::Pause(Pause { cluster: true, annotation: false, moving: false }),
)]
#[case::moved(
    Observed::Moved { workspace: Some(ours(OLD)) },
    Step::LetGo { workspace: Some(NAME.to_owned()) },
)]
#[case::moved_before_there_was_a_workspace(
    Observed::Moved { workspace: None },
    Step::LetGo { workspace: None },
)]
fn standing_comes_before_everything_else(#[case] seen: Observed, #[case] expected: Step) {
    assert_eq!(decide(&claimed(), &seen), expected);
}

#[rstest]
#[case::untouched(fresh())]
#[case::finalizer_only({
    let mut apply = fresh();
    apply.metadata.finalizers = Some(vec![finalizer::WORKSPACE.to_owned()]);
    apply
})]
#[case::name_only(annotated(fresh(), annotation::WORKSPACE_NAME, NAME))]
#[case::finalizer_of_the_earlier_implementation({
    let mut apply = annotated(fresh(), annotation::WORKSPACE_NAME, NAME);
    apply.metadata.finalizers = Some(vec![finalizer::LEGACY.to_owned()]);
    apply
})]
fn the_apply_is_claimed_before_anything_is_made(#[case] apply: WorkspaceTemplateApply) {
    assert_eq!(active(&apply, None, NEW), claim(NAME, None));
}

#[test]
fn a_claimed_apply_makes_its_workspace() {
    assert_eq!(active(&claimed(), None, NEW), write(Mode::Create, NEW));
}

#[test]
fn claiming_again_keeps_what_was_applied() {
    let mut apply = annotated(claimed(), annotation::APPLIED_DIGEST, OLD);
    apply.metadata.finalizers = None;
    assert_eq!(active(&apply, None, NEW), claim(NAME, Some(OLD)));
}

#[test]
fn a_name_taken_by_another_namespace_gets_a_stable_suffix() {
    let first = active(&fresh(), Some(made_by("team-b", OLD)), NEW);
    assert_eq!(first, claim(ALTERNATIVE, None));
    assert_eq!(active(&fresh(), Some(made_by("team-b", NEW)), OLD), first);
}

#[test]
fn a_name_taken_by_another_namespace_is_left_even_while_rendering_is_blocked() {
    let blocked = Blocked::new(Reason::TemplateNotFound, "no template");
    let seen =
        Observed::Active { workspace: Some(made_by("team-b", OLD)), found: None, rendered: Err(blocked) };
    assert_eq!(decide(&fresh(), &seen), claim(ALTERNATIVE, None));
}

#[test]
fn what_was_applied_is_still_known_under_another_name() {
    let apply = annotated(claimed(), annotation::APPLIED_DIGEST, OLD);
    assert_eq!(active(&apply, Some(made_by("team-b", OLD)), NEW), claim(ALTERNATIVE, Some(OLD)));
}

#[test]
fn what_is_kept_goes_by_the_name_that_the_workspace_had_when_it_was_made() {
    let moved = annotated(claimed(), annotation::STATE, "team-a/tfstate-demo-capt");
    let Step::Claim(record) = active(&moved, Some(made_by("team-b", OLD)), NEW) else { panic!("no claim") };
    assert_eq!((record.workspace.as_str(), record.kept_as.as_deref()), (ALTERNATIVE, Some(NAME)));

    // What is noted once stays so, also when everything else is written again.
    let renamed =
        annotated(annotated(moved, annotation::WORKSPACE_NAME, ALTERNATIVE), annotation::KEPT_AS, NAME);
    assert_eq!(tie::kept_name(&renamed), NAME);
    let mut loose = renamed;
    loose.metadata.finalizers = None;
    let Step::Claim(record) = active(&loose, None, NEW) else { panic!("no claim") };
    assert_eq!((record.workspace.as_str(), record.kept_as.as_deref()), (ALTERNATIVE, Some(NAME)));
}

#[test]
fn a_state_that_is_kept_elsewhere_goes_by_the_name_that_is_noted_for_it() {
    // No state of ours is noted then.
    let moved = annotated(claimed(), annotation::KEPT_AS, NAME);
    let Step::Claim(record) = active(&moved, Some(made_by("team-b", OLD)), NEW) else { panic!("no claim") };
    assert_eq!((record.workspace.as_str(), record.kept_as.as_deref()), (ALTERNATIVE, Some(NAME)));
    assert_eq!(active(&moved, Some(ours(NEW)), NEW), Step::Settled { rendered: rendered(NEW) });
}

#[test]
fn an_alternative_that_is_taken_too_waits_for_the_user() {
    let apply = annotated(claimed(), annotation::WORKSPACE_NAME, ALTERNATIVE);
    let blocked = hold(active(&apply, Some(made_by("team-b", OLD)), NEW));
    assert_eq!(blocked.reason, Reason::WorkspaceNotOwned);
    assert!(blocked.message.contains(ALTERNATIVE), "{}", blocked.message);
    assert!(blocked.message.contains("`team-b/demo-apply`"), "{}", blocked.message);
}

#[rstest]
#[case::alive(stray())]
#[case::being_deleted(going(stray()))]
#[case::of_another_tool({
    let mut workspace = ours(NEW);
    workspace.metadata.labels = Some([("app.kubernetes.io/managed-by".to_owned(), "helm".to_owned())].into());
    workspace
})]
fn a_workspace_that_nothing_on_record_names_is_left_alone(#[case] workspace: WorkspaceFacts) {
    let mut apply = fresh();
    apply.metadata.finalizers = Some(vec![finalizer::WORKSPACE.to_owned()]);
    let blocked = hold(active(&apply, Some(workspace), NEW));
    assert_eq!(blocked.reason, Reason::WorkspaceNotOwned);
    assert!(blocked.message.contains("Workspace `demo` exists"), "{}", blocked.message);
    assert!(blocked.message.contains("capt.cluster.x-k8s.io/adopt-workspace=demo"), "{}", blocked.message);
}

#[rstest]
#[case::by_a_wish(annotated(fresh(), annotation::ADOPT_WORKSPACE, NAME))]
#[case::by_the_old_status(with_status(fresh(), json!({ "workspaceName": NAME, "applied": true })))]
fn a_stray_workspace_on_record_is_claimed_then_taken_over(#[case] apply: WorkspaceTemplateApply) {
    assert_eq!(active(&apply, Some(stray()), NEW), claim(NAME, None));
    let mut apply = annotated(apply, annotation::WORKSPACE_NAME, NAME);
    apply.metadata.finalizers = Some(vec![finalizer::LEGACY.to_owned(), finalizer::WORKSPACE.to_owned()]);
    assert_eq!(active(&apply, Some(stray()), NEW), write(Mode::Adopt { uid: Some(uid()) }, NEW));
}

#[test]
fn a_name_that_was_only_noted_gives_no_right_to_a_stray_workspace() {
    let mut apply = annotated(fresh(), annotation::WORKSPACE_NAME, NAME);
    apply.metadata.finalizers = Some(vec![finalizer::WORKSPACE.to_owned()]);
    assert_eq!(hold(active(&apply, Some(stray()), NEW)).reason, Reason::WorkspaceNotOwned);
}

#[test]
fn a_wish_for_the_workspace_of_another_apply_waits_for_the_user() {
    let apply = annotated(fresh(), annotation::ADOPT_WORKSPACE, NAME);
    let blocked = hold(active(&apply, Some(made_by("team-b", OLD)), NEW));
    assert!(blocked.message.contains("`team-b/demo-apply`"), "{}", blocked.message);
}

#[test]
fn an_empty_name_on_record_names_nothing() {
    let apply = annotated(fresh(), annotation::WORKSPACE_NAME, "");
    assert_eq!(hold(active(&apply, Some(stray()), NEW)).reason, Reason::WorkspaceNotOwned);
    assert_eq!(active(&apply, None, NEW), claim(NAME, None));
}

#[test]
fn a_workspace_that_is_as_written_is_settled() {
    assert_eq!(active(&claimed(), Some(ours(NEW)), NEW), Step::Settled { rendered: rendered(NEW) });
}

#[rstest]
#[case::status_was_never_written({ let mut apply = claimed(); apply.status = None; apply }, ours(NEW))]
#[case::status_of_the_earlier_implementation(
    with_status(claimed(), json!({ "workspaceName": NAME, "applied": true })),
    ours(NEW)
)]
#[case::somebody_changed_it(claimed(), { let mut workspace = ours(NEW); workspace.metadata.generation = Some(8); workspace })]
#[case::generation_unknown(claimed(), { let mut workspace = ours(NEW); workspace.metadata.generation = None; workspace })]
#[case::apply_restored_with_another_uid({ let mut apply = claimed(); apply.metadata.uid = Some("uid-2".to_owned()); apply }, ours(NEW))]
#[case::apply_joined_a_cluster(
    { let mut apply = claimed(); apply.metadata.labels = Some([("cluster.x-k8s.io/cluster-name".to_owned(), "c".to_owned())].into()); apply },
    ours(NEW)
)]
#[case::digest_removed(claimed(), {
    let mut workspace = ours(NEW);
    workspace.metadata.annotations.as_mut().unwrap().remove(annotation::APPLIED_DIGEST);
    workspace
})]
#[case::changed(claimed(), ours(OLD))]
fn a_workspace_that_differs_is_written(
    #[case] apply: WorkspaceTemplateApply,
    #[case] workspace: WorkspaceFacts,
) {
    assert_eq!(active(&apply, Some(workspace), NEW), write(Mode::Update { uid: Some(uid()) }, NEW));
}

#[rstest]
#[case::ours(ours(NEW))]
#[case::ours_and_changed(ours(OLD))]
#[case::stray(stray())]
fn a_workspace_that_is_being_deleted_is_waited_for(#[case] workspace: WorkspaceFacts) {
    let blocked = hold(active(&claimed(), Some(going(workspace)), NEW));
    assert_eq!(blocked.reason, Reason::WorkspaceMissing);
    assert!(blocked.message.contains("`demo` is being deleted"), "{}", blocked.message);
}

#[rstest]
#[case::nothing_is_there(fresh(), None)]
#[case::claimed(claimed(), None)]
#[case::ours(claimed(), Some(ours(OLD)))]
#[case::touched_by_others(claimed(), Some(WorkspaceFacts { metadata: ObjectMeta { generation: Some(9), ..ours(OLD).metadata }, ..ours(OLD) }))]
#[case::to_be_taken_over(claimed(), Some(stray()))]
fn what_cannot_be_rendered_overwrites_nothing(
    #[case] apply: WorkspaceTemplateApply,
    #[case] workspace: Option<WorkspaceFacts>,
) {
    let blocked = Blocked::new(Reason::ModuleInvalid, "line 3 is broken");
    let seen = Observed::Active { workspace, found: None, rendered: Err(blocked.clone()) };
    assert_eq!(decide(&apply, &seen), Step::Hold(blocked));
}

fn by_crossplane(mut workspace: WorkspaceFacts, work: Work) -> WorkspaceFacts {
    workspace.crossplane = work;
    workspace
}

#[test]
fn what_crossplane_makes_and_destroys_is_noted_where_it_survives_a_move() {
    let made = by_crossplane(ours(OLD), Work::Made);
    assert_eq!(active(&claimed(), Some(made.clone()), OLD), Step::Note(Note::Made));
    let knows = annotated(claimed(), annotation::MADE_BY, "crossplane");
    assert!(matches!(active(&knows, Some(made), OLD), Step::Settled { .. }));

    let destroyed = by_crossplane(going(ours(OLD)), Work::Destroys);
    assert_eq!(active(&knows, Some(destroyed.clone()), OLD), Step::Note(Note::Destroys));
    let knows = annotated(claimed(), annotation::MADE_BY, "crossplane-destroys");
    assert!(matches!(active(&knows, Some(destroyed), OLD), Step::Hold(_)));
    assert_eq!(active(&knows, None, OLD), Step::Note(Note::Nothing), "it is made anew by whoever runs it");
    let mut arrived = knows;
    arrived.status = None;
    assert!(matches!(active(&arrived, None, OLD), Step::Write { mode: Mode::Create, .. }), "it may be there");
}

#[test]
fn nothing_is_noted_of_a_workspace_of_others() {
    let theirs = by_crossplane(made_by("team-b", OLD), Work::Made);
    assert!(matches!(active(&claimed(), Some(theirs), OLD), Step::Claim(_)));
}
