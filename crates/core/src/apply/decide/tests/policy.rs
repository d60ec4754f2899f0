use super::*;

use UpdatePolicy::{Approve, Automatic, Pinned};

/// What becomes of a change.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    Written,
    Asked,
    Refused,
}

fn with_policy(mut apply: WorkspaceTemplateApply, policy: UpdatePolicy) -> WorkspaceTemplateApply {
    apply.spec.update_policy = policy;
    apply
}

fn recorded() -> WorkspaceTemplateApply {
    annotated(claimed(), annotation::APPLIED_DIGEST, OLD)
}

fn approved(digest: &str) -> WorkspaceTemplateApply {
    annotated(recorded(), annotation::APPROVE, digest)
}

fn change(step: &Step, mode: &Mode) -> Change {
    match step {
        Step::Write { mode: written, rendered } => {
            assert_eq!((written, rendered.digest.as_str()), (mode, NEW));
            Change::Written
        }
        Step::HoldChange { pending, blocked } => {
            assert_eq!(pending, NEW);
            match blocked.reason {
                Reason::ApprovalRequired => {
                    let annotation = format!("{}={NEW}", annotation::APPROVE);
                    assert!(blocked.message.contains(&annotation), "{}", blocked.message);
                    Change::Asked
                }
                Reason::Pinned => Change::Refused,
                other => panic!("{other}"),
            }
        }
        other => panic!("neither written nor held: {other:?}"),
    }
}

use Change::{Asked, Refused, Written};

#[rstest]
#[case::first_creation(claimed(), None, [Written, Written, Written])]
#[case::change(recorded(), Some(ours(OLD)), [Written, Asked, Refused])]
#[case::change_before_anything_was_recorded(claimed(), Some(ours(OLD)), [Written, Asked, Refused])]
#[case::approved(approved(NEW), Some(ours(OLD)), [Written, Written, Refused])]
#[case::another_digest_approved(approved(OLD), Some(ours(OLD)), [Written, Asked, Refused])]
#[case::approved_by_a_word(approved("true"), Some(ours(OLD)), [Written, Asked, Refused])]
#[case::lost_and_unchanged(annotated(claimed(), annotation::APPLIED_DIGEST, NEW), None, [Written, Written, Written])]
#[case::lost_and_changed(recorded(), None, [Written, Asked, Refused])]
#[case::lost_changed_and_approved(approved(NEW), None, [Written, Written, Refused])]
#[case::stray_that_was_never_ours(claimed(), Some(stray()), [Written, Written, Written])]
#[case::stray_that_has_the_change_already(recorded(), Some(stray()), [Written, Written, Written])]
#[case::stray_and_unchanged(annotated(claimed(), annotation::APPLIED_DIGEST, NEW), Some(stray()), [Written, Written, Written])]
fn the_policy_decides_about_changes_and_nothing_else(
    #[case] apply: WorkspaceTemplateApply,
    #[case] workspace: Option<WorkspaceFacts>,
    #[case] expected: [Change; 3],
) {
    let mode = match &workspace {
        None => Mode::Create,
        Some(workspace) if *workspace == stray() => Mode::Adopt { uid: Some(uid()) },
        Some(_) => Mode::Update { uid: Some(uid()) },
    };
    let changes = [Automatic, Approve, Pinned]
        .map(|policy| change(&active(&with_policy(apply.clone(), policy), workspace.clone(), NEW), &mode));
    assert_eq!(changes, expected);
}

#[rstest]
#[case(Approve)]
#[case(Pinned)]
fn a_guarded_apply_notes_what_it_carries_before_it_settles(#[case] policy: UpdatePolicy) {
    let apply = with_policy(recorded(), policy);
    assert_eq!(active(&apply, Some(ours(NEW)), NEW), claim(NAME, Some(NEW)));
    let apply = annotated(apply, annotation::APPLIED_DIGEST, NEW);
    assert_eq!(active(&apply, Some(ours(NEW)), NEW), Step::Settled { rendered: rendered(NEW) });
}

#[test]
fn an_automatic_apply_needs_no_note() {
    assert_eq!(active(&recorded(), Some(ours(NEW)), NEW), Step::Settled { rendered: rendered(NEW) });
}

#[test]
fn loosening_the_policy_lets_the_change_through() {
    let held = active(&with_policy(recorded(), Pinned), Some(ours(OLD)), NEW);
    assert_eq!(change(&held, &Mode::Create), Refused);
    let through = active(&with_policy(recorded(), Automatic), Some(ours(OLD)), NEW);
    assert_eq!(change(&through, &Mode::Update { uid: Some(uid()) }), Written);
}

#[test]
fn tightening_the_policy_holds_the_next_change() {
    let apply = with_policy(claimed(), Approve);
    assert_eq!(active(&apply, Some(ours(OLD)), OLD), claim(NAME, Some(OLD)));
    let apply = annotated(apply, annotation::APPLIED_DIGEST, OLD);
    assert_eq!(change(&active(&apply, Some(ours(OLD)), NEW), &Mode::Create), Asked);
}

/// Somebody else's edit is no change of the template: it is taken back under every policy.
#[rstest]
#[case(Automatic)]
#[case(Approve)]
#[case(Pinned)]
fn what_was_approved_is_written_again_where_somebody_changed_it(#[case] policy: UpdatePolicy) {
    let mut workspace = ours(OLD);
    workspace.metadata.generation = Some(8);
    let step = active(&with_policy(recorded(), policy), Some(workspace), OLD);
    assert_eq!(step, write(Mode::Update { uid: Some(uid()) }, OLD));
}

#[test]
fn taking_a_change_back_leaves_nothing_to_approve() {
    let apply = with_policy(recorded(), Approve);
    assert_eq!(active(&apply, Some(ours(OLD)), OLD), Step::Settled { rendered: rendered(OLD) });
}
