use rstest::rstest;
use serde_json::json;

use super::*;

const REQUEST: &str = "2026-01-02T03:04:05.000000006Z";

fn binding(name: &str, handled: Option<&str>) -> AddonStackBinding {
    serde_json::from_value(json!({
        "apiVersion": "addons.cluster.x-k8s.io/v1alpha1", "kind": "AddonStackBinding", "metadata": { "name": name },
        "spec": { "clusterName": "prod", "stackName": "base" },
        "status": { "lastHandledRequest": handled },
    }))
    .unwrap()
}

fn waiting() -> Waiting {
    Waiting::new(vec!["one".to_owned(), "other".to_owned()], REQUEST)
}

#[rstest]
#[case::never(None, false)]
#[case::an_earlier_request(Some("2026-01-02T03:04:05.000000005Z"), false)]
#[case::this_request(Some(REQUEST), true)]
#[case::a_later_request(Some("2026-01-02T03:04:06Z"), true)]
#[case::the_word_of_somebody_else(Some("now"), false)]
fn an_answer_is_one_to_this_request_or_a_later_one(#[case] handled: Option<&str>, #[case] expected: bool) {
    let mut waiting = waiting();

    waiting.note(Event::Apply(binding("one", handled)));

    assert_eq!(!waiting.pending.contains("one"), expected);
    assert_eq!(waiting.answers.contains_key("one"), expected);
}

#[test]
fn what_is_deleted_meanwhile_is_not_waited_for() {
    let mut waiting = waiting();

    waiting.note(Event::Init);
    waiting.note(Event::InitApply(binding("one", None)));
    waiting.note(Event::InitDone);
    assert_eq!(waiting.unanswered(), ["AddonStackBinding `one`"], "the other was gone before we looked");

    waiting.note(Event::Delete(binding("one", None)));
    let answers = waiting.into_answers();
    assert!(answers.values().all(|answer| matches!(answer, Answer::Gone)), "{answers:?}");
    assert_eq!(answers.len(), 2);
}

#[test]
fn what_was_not_asked_for_is_passed_over() {
    let mut waiting = waiting();

    waiting.note(Event::Apply(binding("third", Some(REQUEST))));

    assert!(waiting.into_answers().is_empty());
}
