//! A Workspace that somebody else made is taken over without a change.

use super::*;
use crate::digest::digest;

use UpdatePolicy::{Approve, Automatic, Pinned};

/// What becomes of a Workspace that is taken over.
#[derive(Debug, PartialEq)]
enum Taken {
    /// It is noted on the apply that it is as others made it.
    Noted,
    /// It is tied, and stays as it is.
    AsItIs(Reason),
    /// Nothing is written.
    Left(Reason),
    /// It gets what template and variables give.
    Written,
}

/// The digest of the spec that is there.
fn found_digest() -> String {
    digest(&rendered(OLD).spec)
}

/// An apply as the earlier implementation left it, and as CAPT holds it since.
fn left() -> WorkspaceTemplateApply {
    claimed()
}

fn marked() -> WorkspaceTemplateApply {
    annotated(left(), annotation::FOUND_DIGEST, &found_digest())
}

/// The Workspace as it was tied without a change.
fn tied() -> WorkspaceFacts {
    made_by("team-a", &found_digest())
}

fn approved(apply: WorkspaceTemplateApply, digest: &str) -> WorkspaceTemplateApply {
    annotated(apply, annotation::APPROVE, digest)
}

fn told(blocked: &Blocked, pending: &str) -> Reason {
    assert_eq!(pending, NEW);
    if blocked.reason == Reason::ApprovalRequired {
        assert!(blocked.message.contains(&format!("{}={NEW}", annotation::APPROVE)), "{}", blocked.message);
    }
    blocked.reason
}

fn taken(step: &Step) -> Taken {
    match step {
        Step::Claim(record) => {
            assert_eq!(record.found.as_deref(), Some(found_digest().as_str()));
            Taken::Noted
        }
        Step::TakeOver { mode: _, found, pending, blocked } => {
            assert_eq!((&found.spec, found.digest.as_str()), (&rendered(OLD).spec, found_digest().as_str()));
            Taken::AsItIs(told(blocked, pending))
        }
        Step::HoldChange { pending, blocked } => Taken::Left(told(blocked, pending)),
        Step::Write { rendered, .. } => {
            assert_eq!(*rendered, super::rendered(NEW));
            Taken::Written
        }
        other => panic!("{other:?}"),
    }
}

fn untied(mut workspace: WorkspaceFacts) -> WorkspaceFacts {
    workspace.metadata.labels = None;
    workspace
}

fn frozen(mut workspace: WorkspaceFacts) -> WorkspaceFacts {
    workspace
        .metadata
        .annotations
        .get_or_insert_default()
        .insert(annotation::FROZEN.to_owned(), "true".to_owned());
    workspace
}

const ASKED: Reason = Reason::ApprovalRequired;
const PINNED: Reason = Reason::Pinned;

/// The Workspace runs what is OLD, and template and variables give what is NEW.
#[rstest]
#[case::seen_first(left(), Some(stray()), [Taken::Noted, Taken::Noted, Taken::Noted])]
#[case::noted(marked(), Some(stray()), [Taken::AsItIs(ASKED), Taken::AsItIs(ASKED), Taken::AsItIs(PINNED)])]
#[case::noted_and_changed_since(annotated(left(), annotation::FOUND_DIGEST, "sha256:x"), Some(stray()), [Taken::Noted, Taken::Noted, Taken::Noted])]
#[case::tied(marked(), Some(tied()), [Taken::Left(ASKED), Taken::Left(ASKED), Taken::Left(PINNED)])]
#[case::its_labels_lost(marked(), Some(untied(tied())), [Taken::AsItIs(ASKED), Taken::AsItIs(ASKED), Taken::AsItIs(PINNED)])]
#[case::frozen_by_a_move_and_back(marked(), Some(frozen(tied())), [Taken::AsItIs(ASKED), Taken::AsItIs(ASKED), Taken::AsItIs(PINNED)])]
#[case::approved_before(approved(left(), NEW), Some(stray()), [Taken::Written, Taken::Written, Taken::Noted])]
#[case::approved(approved(marked(), NEW), Some(tied()), [Taken::Written, Taken::Written, Taken::Left(PINNED)])]
#[case::another_digest_approved(approved(marked(), OLD), Some(tied()), [Taken::Left(ASKED), Taken::Left(ASKED), Taken::Left(PINNED)])]
#[case::approved_by_a_word(approved(marked(), "true"), Some(tied()), [Taken::Left(ASKED), Taken::Left(ASKED), Taken::Left(PINNED)])]
#[case::gone(marked(), None, [Taken::Left(ASKED), Taken::Left(ASKED), Taken::Left(PINNED)])]
#[case::gone_and_approved(approved(marked(), NEW), None, [Taken::Written, Taken::Written, Taken::Left(PINNED)])]
fn what_would_change_waits_whatever_the_policy_says(
    #[case] apply: WorkspaceTemplateApply,
    #[case] workspace: Option<WorkspaceFacts>,
    #[case] expected: [Taken; 3],
) {
    let steps = [Automatic, Approve, Pinned].map(|policy| {
        let mut apply = apply.clone();
        apply.spec.update_policy = policy;
        taken(&beside(&apply, workspace.clone(), OLD, NEW))
    });
    assert_eq!(steps, expected);
}

#[rstest]
#[case(Automatic)]
#[case(Approve)]
#[case(Pinned)]
fn what_is_the_same_in_meaning_is_tied_and_not_rewritten(#[case] policy: UpdatePolicy) {
    let mut apply = left();
    apply.spec.update_policy = policy;
    let spec = json!({ "forProvider": { "module": NEW, "vars": [] }, "deletionPolicy": "Delete" });
    let found = Some(Found { spec: spec.clone(), resource_version: None });
    let seen = Observed::Active { workspace: Some(stray()), found, rendered: Ok(rendered(NEW)) };
    let expected =
        Step::Write { mode: Mode::Adopt { uid: Some(uid()) }, rendered: Rendered { spec, ..rendered(NEW) } };
    assert_eq!(decide(&apply, &seen), expected);
}

#[test]
fn a_difference_that_is_gone_needs_nobody() {
    let step = beside(&marked(), Some(tied()), OLD, OLD);
    assert_eq!(step, write(Mode::Update { uid: Some(uid()) }, OLD));
}

#[test]
fn after_the_approval_the_policy_has_its_word_again() {
    assert_eq!(active(&marked(), Some(ours(NEW)), NEW), claim(NAME, None));
    assert_eq!(active(&left(), Some(ours(NEW)), NEW), Step::Settled { rendered: rendered(NEW) });
    assert_eq!(active(&left(), Some(ours(NEW)), OLD), write(Mode::Update { uid: Some(uid()) }, OLD));
}

#[test]
fn what_has_gone_meanwhile_is_waited_for() {
    let seen = Observed::Active { workspace: Some(stray()), found: None, rendered: Ok(rendered(NEW)) };
    assert_eq!(hold(decide(&left(), &seen)).reason, Reason::WorkspaceMissing);
}

#[test]
fn many_differences_are_named_and_counted() {
    let vars: Vec<_> =
        (0..20).map(|number| json!({ "key": format!("v{number:02}"), "value": "hunter2" })).collect();
    let spec = json!({ "forProvider": { "module": NEW, "vars": vars } });
    let found = Some(Found {
        spec: json!({ "forProvider": { "module": NEW, "vars": [{ "key": "w", "value": "hunter3" }] } }),
        resource_version: None,
    });
    let apply = annotated(left(), annotation::FOUND_DIGEST, &digest(&found.as_ref().unwrap().spec));
    let rendered = Rendered { spec, ..rendered(NEW) };
    let seen = Observed::Active { workspace: Some(stray()), found, rendered: Ok(rendered) };
    let Step::TakeOver { blocked, .. } = decide(&apply, &seen) else { panic!("not taken over") };
    assert!(blocked.message.contains("forProvider.vars[v00], forProvider.vars[v01]"), "{}", blocked.message);
    assert!(blocked.message.contains("and 13 more"), "{}", blocked.message);
    assert!(!blocked.message.contains("hunter"), "{}", blocked.message);
}
