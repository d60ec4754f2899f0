use rstest::rstest;
use serde_json::{Value, json};

use super::super::{Move, is_paused};
use super::*;

const STATE: (&str, &str) = (annotation::STATE, "team-a/tfstate-x-capt");
const BY_CROSSPLANE: (&str, &str) = (annotation::MADE_BY, CROSSPLANE);
const GOING: (&str, &str) = (annotation::MADE_BY, DESTROYS);
const SUCCEEDED: (&str, &str) = (annotation::EXTERNAL_CREATE_SUCCEEDED, "2026-01-01T10:00:00Z");
const TAKEN: [(&str, &str); 3] =
    [(annotation::RUN_BY, CAPT), (annotation::HANDOVER, "taken"), (annotation::CROSSPLANE_PAUSED, "true")];

fn metadata(annotations: &[(&str, &str)]) -> ObjectMeta {
    let annotations = annotations.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    ObjectMeta { annotations: Some(annotations.collect()), ..ObjectMeta::default() }
}

fn workspace(annotations: &[(&str, &str)], deleted: bool, policy: &str) -> Workspace {
    let mut object = json!({
        "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace", "metadata": { "name": "x" },
        "spec": { "deletionPolicy": policy, "forProvider": { "source": "Inline", "module": "" } },
    });
    object["metadata"]["annotations"] = json!(metadata(annotations).annotations);
    object["metadata"]["deletionTimestamp"] =
        if deleted { json!("2026-01-01T12:00:00Z") } else { Value::Null };
    serde_json::from_value(object).unwrap()
}

#[rstest]
#[case::nothing_was_made(&[], Some(Serves::Crossplane), false)]
#[case::capt_has_made_it(&[STATE], Some(Serves::Crossplane), true)]
#[case::crossplane_has_made_it(&[BY_CROSSPLANE], Some(Serves::Crossplane), true)]
#[case::crossplane_took_it_down_elsewhere(&[GOING], Some(Serves::Crossplane), true)]
#[case::where_capt_runs_all_of_them(&[STATE], Some(Serves::CaptInstead), true)]
#[case::where_nobody_knows_yet(&[STATE], None, true)]
#[case::where_capt_is_alone(&[STATE, BY_CROSSPLANE], Some(Serves::Capt), false)]
fn crossplane_is_kept_from_a_workspace_that_is_made_again(
    #[case] apply: &[(&str, &str)],
    #[case] serves: Option<Serves>,
    #[case] expected: bool,
) {
    let born = at_birth(&metadata(apply), serves);
    assert_eq!(!born.is_empty(), expected);
    if expected {
        let annotations: Vec<_> = born.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let workspace = workspace(&annotations, false, "Delete");
        assert_eq!(
            turn(&workspace, Serves::Crossplane, false),
            Turn::Theirs,
            "Crossplane has to say so first"
        );
        assert_eq!(turn(&workspace, Serves::Capt, false), Turn::Pass(Move::Take));
        assert_eq!(turn(&workspace, Serves::CaptInstead, false), Turn::Pass(Move::Take));
        assert!(!is_paused(&workspace.metadata), "it is no pause of a user");
    }
}

#[test]
fn what_says_whose_a_workspace_is_is_repeated_as_it_is() {
    let taken = metadata(&TAKEN);
    assert_eq!(repeated(&taken).into_iter().collect::<Vec<_>>().len(), 3);
    assert_eq!(repeated(&taken)[annotation::HANDOVER], "taken");
    let lifted = metadata(&TAKEN[..2]);
    assert!(!repeated(&lifted).contains_key(annotation::CROSSPLANE_PAUSED), "nothing is made up");
    let paused = metadata(&[(annotation::CROSSPLANE_PAUSED, "true"), (annotation::RUN_BY, CROSSPLANE)]);
    assert!(repeated(&paused).is_empty(), "a user's pause and wish are his");
}

#[rstest]
#[case::made(&[SUCCEEDED], false, "Delete", Some(Serves::Crossplane), Work::Made)]
#[case::made_without_capt(&[SUCCEEDED], false, "Delete", None, Work::Made)]
#[case::going(&[SUCCEEDED], true, "Delete", Some(Serves::Crossplane), Work::Destroys)]
#[case::going_and_what_it_made_stays(&[SUCCEEDED], true, "Orphan", Some(Serves::Crossplane), Work::Made)]
#[case::nothing_yet(&[], false, "Delete", Some(Serves::Crossplane), Work::Nothing)]
#[case::of_capt(&[SUCCEEDED, TAKEN[0], TAKEN[1], TAKEN[2]], true, "Delete", Some(Serves::Crossplane), Work::Nothing)]
#[case::where_capt_is_alone(&[SUCCEEDED], false, "Delete", Some(Serves::Capt), Work::Nothing)]
fn what_crossplane_does_is_seen(
    #[case] annotations: &[(&str, &str)],
    #[case] deleted: bool,
    #[case] policy: &str,
    #[case] serves: Option<Serves>,
    #[case] expected: Work,
) {
    assert_eq!(work(&workspace(annotations, deleted, policy), serves), expected);
}

#[rstest]
#[case::made(&[], Some(Work::Made), true, Some(Note::Made))]
#[case::known(&[BY_CROSSPLANE], Some(Work::Made), true, None)]
#[case::made_again(&[GOING], Some(Work::Made), true, Some(Note::Made))]
#[case::going(&[BY_CROSSPLANE], Some(Work::Destroys), true, Some(Note::Destroys))]
#[case::still_going(&[GOING], Some(Work::Destroys), true, None)]
#[case::gone(&[GOING, STATE], None, true, Some(Note::Nothing))]
#[case::gone_from_another_cluster(&[GOING], None, false, None)]
#[case::lost(&[BY_CROSSPLANE], None, true, None)]
#[case::taken_over_by_capt(&[BY_CROSSPLANE], Some(Work::Nothing), true, None)]
fn an_apply_is_told_what_crossplane_made_and_destroyed(
    #[case] apply: &[(&str, &str)],
    #[case] work: Option<Work>,
    #[case] known_here: bool,
    #[case] expected: Option<Note>,
) {
    let note = to_note(&metadata(apply), work, known_here);
    assert_eq!(note, expected);
    if note == Some(Note::Nothing) {
        assert!(note.unwrap().annotations().values().all(Option::is_none));
    }
}

#[test]
fn without_an_engine_nothing_is_made_before_somebody_has_looked() {
    assert_eq!(obstacle(&metadata(&[])), None);
    let blocked = obstacle(&metadata(&[BY_CROSSPLANE])).unwrap();
    assert!(blocked.message.contains("--engine auto"), "{}", blocked.message);
}
