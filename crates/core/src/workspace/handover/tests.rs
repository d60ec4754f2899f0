use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use rstest::rstest;

use super::*;

const PAUSED: (&str, &str) = (annotation::CROSSPLANE_PAUSED, "true");
const FOR_CAPT: (&str, &str) = (annotation::RUN_BY, CAPT);
const FOR_CROSSPLANE: (&str, &str) = (annotation::RUN_BY, CROSSPLANE);
const UNCLEAR: (&str, &str) = (annotation::RUN_BY, "Capt?");
const ASKED: (&str, &str) = (annotation::HANDOVER, PAUSING);
const HELD: (&str, &str) = (annotation::HANDOVER, TAKEN);
const GARBLED: (&str, &str) = (annotation::HANDOVER, "taken?");

fn workspace(annotations: &[(&str, &str)]) -> Workspace {
    let annotations: Map<String, Value> =
        annotations.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
    serde_json::from_value(json!({
        "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace",
        "metadata": { "name": "x", "annotations": annotations },
        "spec": { "forProvider": { "source": "Inline", "module": "" } },
    }))
    .unwrap()
}

fn told(mut workspace: Workspace, reason: &str, message: Option<&str>) -> Workspace {
    let condition: WorkspaceCondition = serde_json::from_value(json!({
        "type": "Synced", "status": "False", "reason": reason, "message": message,
        "lastTransitionTime": "2026-01-01T10:00:00Z",
    }))
    .unwrap();
    workspace.status.get_or_insert_default().conditions = vec![condition];
    workspace
}

const ASK: Turn = Turn::Pass(Move::Pause);
const TAKE: Turn = Turn::Pass(Move::Take);

#[rstest]
#[case::says_nothing(&[], Turn::Theirs)]
#[case::paused_by_its_user(&[PAUSED], Turn::Theirs)]
#[case::wished_for(&[FOR_CAPT], ASK)]
#[case::wished_for_while_its_user_pauses_it(&[FOR_CAPT, PAUSED], Turn::Theirs)]
#[case::not_put_down_yet(&[FOR_CAPT, ASKED, PAUSED], Turn::Theirs)]
#[case::the_pause_was_taken_away(&[FOR_CAPT, ASKED], ASK)]
#[case::taken(&[FOR_CAPT, HELD, PAUSED], Turn::Ours)]
#[case::taken_and_the_pause_taken_away(&[FOR_CAPT, HELD], ASK)]
#[case::taken_and_paused_with_another_word(&[FOR_CAPT, HELD, (annotation::CROSSPLANE_PAUSED, "false")], ASK)]
#[case::garbled(&[FOR_CAPT, GARBLED, PAUSED], Turn::Theirs)]
#[case::handed_back(&[FOR_CROSSPLANE, HELD, PAUSED], Turn::HandBack)]
#[case::the_wish_was_taken_away(&[HELD, PAUSED], Turn::HandBack)]
#[case::an_unclear_wish_changes_nothing(&[UNCLEAR, HELD, PAUSED], Turn::Ours)]
#[case::an_unclear_wish_begins_nothing(&[UNCLEAR], Turn::Theirs)]
#[case::handed_back_and_the_pause_taken_away(&[FOR_CROSSPLANE, HELD], ASK)]
#[case::never_begun(&[FOR_CROSSPLANE], Turn::Theirs)]
#[case::changed_his_mind(&[FOR_CROSSPLANE, ASKED, PAUSED], Turn::Theirs)]
fn where_crossplane_runs_workspaces_capt_has_those_that_it_was_given(
    #[case] annotations: &[(&str, &str)],
    #[case] expected: Turn,
) {
    assert_eq!(turn(&workspace(annotations), Serves::Crossplane, false), expected);
}

#[rstest]
#[case::in_its_words("ReconcilePaused", None, TAKE)]
#[case::in_its_words_with_nothing_to_add("ReconcilePaused", Some(""), TAKE)]
#[case::in_ours("ReconcilePaused", Some("the Workspace is paused"), Turn::Theirs)]
#[case::still_at_work("ReconcileSuccess", None, Turn::Theirs)]
#[case::failing("ReconcileError", Some("x"), Turn::Theirs)]
fn crossplane_has_put_it_down_when_it_says_so(
    #[case] reason: &str,
    #[case] message: Option<&str>,
    #[case] expected: Turn,
) {
    let asked = told(workspace(&[FOR_CAPT, ASKED, PAUSED]), reason, message);
    assert_eq!(turn(&asked, Serves::Crossplane, false), expected);
    let unasked = told(workspace(&[]), reason, message);
    assert_eq!(turn(&unasked, Serves::Crossplane, false), Turn::Theirs);
}

#[rstest]
#[case::not_while_it_is_deleted(&[FOR_CAPT], Turn::Theirs)]
#[case::who_has_it_ends_it(&[FOR_CROSSPLANE, HELD, PAUSED], Turn::Ours)]
fn who_takes_it_down_is_not_changed_on_the_way(#[case] annotations: &[(&str, &str)], #[case] expected: Turn) {
    let mut deleted = workspace(annotations);
    deleted.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    assert_eq!(turn(&deleted, Serves::Crossplane, false), expected);
}

#[rstest]
#[case::says_nothing(&[], ASK)]
#[case::wished_away(&[FOR_CROSSPLANE], ASK)]
#[case::paused_by_its_user(&[PAUSED], Turn::Theirs)]
#[case::asked(&[FOR_CAPT, ASKED, PAUSED], Turn::Theirs)]
fn crossplane_is_kept_from_what_it_would_make_twice(
    #[case] annotations: &[(&str, &str)],
    #[case] expected: Turn,
) {
    assert_eq!(turn(&workspace(annotations), Serves::Crossplane, true), expected);
}

#[rstest]
#[case::says_nothing(&[], Turn::Ours, TAKE)]
#[case::paused_by_its_user(&[PAUSED], Turn::Ours, Turn::Ours)]
#[case::wished_for_before_crossplane_comes(&[FOR_CAPT], TAKE, TAKE)]
#[case::crossplane_is_gone(&[FOR_CAPT, ASKED, PAUSED], TAKE, TAKE)]
#[case::taken(&[FOR_CAPT, HELD, PAUSED], Turn::Ours, Turn::Ours)]
#[case::left_to_crossplane(&[FOR_CROSSPLANE], Turn::Ours, Turn::Theirs)]
#[case::handed_back(&[FOR_CROSSPLANE, HELD, PAUSED], Turn::Ours, Turn::HandBack)]
fn where_capt_runs_workspaces_nobody_has_to_put_them_down(
    #[case] annotations: &[(&str, &str)],
    #[case] alone: Turn,
    #[case] instead: Turn,
) {
    assert_eq!(turn(&workspace(annotations), Serves::Capt, false), alone);
    assert_eq!(turn(&workspace(annotations), Serves::CaptInstead, false), instead);
}

/// What CAPT writes, as the API server would merge it.
fn merged(workspace: &Workspace, annotations: &Value) -> Workspace {
    let mut next = workspace.clone();
    let all = next.metadata.annotations.get_or_insert_default();
    for (key, value) in annotations.as_object().unwrap() {
        match value {
            Value::Null => drop(all.remove(key)),
            text => drop(all.insert(key.clone(), text.as_str().unwrap().to_owned())),
        }
    }
    next
}

#[test]
fn the_way_there_and_back_goes_through_every_step_once() {
    let start = workspace(&[FOR_CAPT]);
    let asked = merged(&start, &Move::Pause.annotations(&start.metadata));
    assert_eq!(turn(&asked, Serves::Crossplane, false), Turn::Theirs);
    assert!(is_paused_for_crossplane(&asked.metadata) && !is_paused(&asked.metadata));

    let down = told(asked, "ReconcilePaused", None);
    assert_eq!(turn(&down, Serves::Crossplane, false), TAKE);
    let taken = merged(&down, &Move::Take.annotations(&down.metadata));
    assert_eq!(turn(&taken, Serves::Crossplane, false), Turn::Ours);

    let wished = merged(&taken, &json!({ annotation::RUN_BY: CROSSPLANE }));
    assert_eq!(turn(&wished, Serves::Crossplane, false), Turn::HandBack);
    let given = merged(&wished, &back(&wished, "x", true, NOW));
    assert_eq!(noted(&given.metadata, annotation::RUN_BY), Some(CROSSPLANE));
    assert_eq!((handover(&given.metadata), is_paused_for_crossplane(&given.metadata)), (None, false));
    assert_eq!(turn(&given, Serves::Crossplane, false), Turn::Theirs);
    assert_eq!(turn(&given, Serves::CaptInstead, false), Turn::Theirs, "it would be taken back at once");
}

const NOW: &str = "2026-01-01T12:00:00Z";
const PENDING: (&str, &str) = (annotation::EXTERNAL_CREATE_PENDING, "2026-01-01T10:00:00Z");

#[rstest]
#[case::looked_at_and_ended(&[PENDING], true, Some(NOW))]
#[case::never_looked_at(&[PENDING], false, None)]
#[case::nothing_was_begun(&[], true, None)]
fn the_stop_of_crossplane_is_lifted_only_by_who_has_looked(
    #[case] annotations: &[(&str, &str)],
    #[case] applied: bool,
    #[case] expected: Option<&str>,
) {
    let given = back(&workspace(annotations), "x", applied, NOW);
    assert_eq!(given.get(annotation::EXTERNAL_CREATE_SUCCEEDED).and_then(Value::as_str), expected);
    assert_eq!(given[annotation::EXTERNAL_NAME], "x");
}

const FROZEN: (&str, &str) = (annotation::FROZEN, "true");
const FREEZE: Turn = Turn::Pass(Move::Freeze);

#[rstest]
#[case::running(&[], Turn::Theirs, FREEZE)]
#[case::about_to_be_asked(&[], ASK, FREEZE)]
#[case::paused_by_its_user(&[PAUSED], Turn::Theirs, FREEZE)]
#[case::asked_for_capt(&[FOR_CAPT, ASKED, PAUSED], Turn::Theirs, FREEZE)]
#[case::frozen_and_unpaused(&[FROZEN], Turn::Theirs, FREEZE)]
#[case::not_put_down_yet(&[FROZEN, PAUSED], Turn::Theirs, Turn::Theirs)]
#[case::of_capt(&[FOR_CAPT, HELD, PAUSED], Turn::Ours, Turn::Ours)]
fn nobody_runs_what_was_moved(
    #[case] annotations: &[(&str, &str)],
    #[case] turn: Turn,
    #[case] expected: Turn,
) {
    let left = workspace(annotations);
    assert_eq!(after_move(&left, turn), expected);
    let put_down = told(left, "ReconcilePaused", None);
    let expected = if expected == Turn::Theirs { Turn::Ours } else { expected };
    assert_eq!(after_move(&put_down, turn), expected);
}

#[rstest]
#[case::says_nothing(&[], false)]
#[case::asked(&[FOR_CAPT, ASKED, PAUSED], true)]
#[case::the_pause_was_taken_away(&[FOR_CAPT, ASKED], false)]
#[case::taken(&[FOR_CAPT, HELD, PAUSED], false)]
#[case::frozen(&[FROZEN, PAUSED], true)]
#[case::paused_by_its_user(&[PAUSED], false)]
fn an_answer_is_waited_for_only_where_somebody_asked(
    #[case] annotations: &[(&str, &str)],
    #[case] expected: bool,
) {
    let asked = workspace(annotations);
    assert_eq!(is_asked(&asked), expected);
    assert!(!is_asked(&told(asked, "ReconcilePaused", None)), "it has answered");
}

#[test]
fn a_wish_is_never_written_over() {
    for wish in [FOR_CROSSPLANE, UNCLEAR] {
        let start = workspace(&[wish]);
        let asked = merged(&start, &Move::Pause.annotations(&start.metadata));
        assert_eq!(noted(&asked.metadata, annotation::RUN_BY), Some(wish.1));
    }
    let silent = workspace(&[]);
    let asked = merged(&silent, &Move::Pause.annotations(&silent.metadata));
    assert_eq!(noted(&asked.metadata, annotation::RUN_BY), Some(CAPT));
    let withdrawn = workspace(&[ASKED, PAUSED]);
    assert_eq!(Move::Take.annotations(&withdrawn.metadata).get(annotation::RUN_BY), None);
}
