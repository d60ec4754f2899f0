//! Target paths, and what holds for all of them.

use proptest::prelude::*;
use rstest::rstest;

use super::*;

#[rstest]
#[case::empty("", PathProblem::EmptyKey)]
#[case::dot_first(".a", PathProblem::EmptyKey)]
#[case::dot_last("a.", PathProblem::EmptyKey)]
#[case::two_dots("a..b", PathProblem::EmptyKey)]
#[case::index_first("[0]", PathProblem::EmptyKey)]
#[case::backslash_last("a\\", PathProblem::EndsInBackslash)]
#[case::no_number("a[x]", PathProblem::NotIndex)]
#[case::nothing_in_brackets("a[]", PathProblem::NotIndex)]
#[case::open_bracket("a[1", PathProblem::NotIndex)]
#[case::negative("a[-1]", PathProblem::NotIndex)]
#[case::large("a[65537]", PathProblem::LargeIndex)]
#[case::after_index("a[0]b", PathProblem::AfterIndex)]
#[case::comma("a,b", PathProblem::Ends)]
#[case::equals_sign("a=b", PathProblem::Ends)]
fn a_path_that_leads_nowhere_is_refused(#[case] text: &str, #[case] expected: PathProblem) {
    assert_eq!(TargetPath::parse(text), Err(expected));
}

#[test]
fn a_path_has_at_most_thirty_one_names() {
    assert!(TargetPath::parse(&["a"; 31].join(".")).is_ok());
    assert_eq!(TargetPath::parse(&["a"; 32].join(".")), Err(PathProblem::TooManyNames));
}

#[test]
fn a_path_is_written_with_the_escapes_that_it_needs() {
    let text = r"serviceAccount.annotations.eks\.amazonaws\.com/role-arn[2].x";
    let path = TargetPath::parse(text).unwrap();
    let key = |key: &str| Segment::Key(key.to_owned());
    let expected = [
        key("serviceAccount"),
        key("annotations"),
        key("eks.amazonaws.com/role-arn"),
        Segment::Index(2),
        key("x"),
    ];
    assert_eq!(path.segments(), expected);
    assert_eq!(path.to_string(), text);
}

/// The tree with this value at this path and nothing else.
fn placed(segments: &[Segment], value: &str) -> Value {
    match segments {
        [] => json!(value),
        [Segment::Key(key), rest @ ..] => json!({ key: placed(rest, value) }),
        [Segment::Index(index), rest @ ..] => {
            let mut items = vec![Value::Null; *index];
            items.push(placed(rest, value));
            Value::Array(items)
        }
    }
}

fn path() -> impl Strategy<Value = String> {
    let pieces = vec!["a", "b", "/", "-", "é", ".", ".", "\\", "[0]", "[1]", "[", "]", "2"];
    prop::collection::vec(prop::sample::select(pieces), 1..10).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// So whoever checks a path knows what Helm does with it.
    #[test]
    fn a_path_is_taken_exactly_if_helm_puts_the_value_there(path in path()) {
        let found = values(&json!({}), &[literal(&path, "x")]);
        if let Ok(taken) = TargetPath::parse(&path) {
            prop_assert_eq!(found, Ok(placed(taken.segments(), "x")));
        } else {
            let lost = found.is_err() || !found.unwrap().to_string().contains("\"x\"");
            prop_assert!(lost);
        }
    }

    #[test]
    fn a_path_that_was_written_is_read_as_the_same(path in path()) {
        if let Ok(taken) = TargetPath::parse(&path) {
            prop_assert_eq!(TargetPath::parse(&taken.to_string()), Ok(taken));
        }
    }
}
