//! Expressions that are written to do harm end soon, and with an error.

use super::*;

/// An object with a list of this many things.
fn with_list(length: usize) -> Value {
    json!({"list": vec![json!({"name": "x".repeat(100)}); length]})
}

#[rstest]
#[case::loops_in_loops("self.list.all(a, self.list.all(b, self.list.all(c, self.list.all(d, true))))")]
#[case::loops_in_loops_of_what_is_written(
    "[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, [1,2,3,4,5,6,7,8,9].all(d, \
     [1,2,3,4,5,6,7,8,9].all(e, [1,2,3,4,5,6,7,8,9].all(f, [1,2,3,4,5,6,7,8,9].all(g, a == g || true)))))))"
)]
#[case::errors_in_loops("self.list.exists(a, self.list.exists(b, self.list.exists(c, a.missing == 1)))")]
#[case::comparisons_of_everything("self.list.all(a, self == self)")]
#[case::copies_of_everything("self.list.map(a, self).size() > 0")]
#[case::copies_in_maps("self.list.map(a, {'a': self, 'b': self}).size() > 0")]
#[case::copies_in_errors("self.list.all(a, self.list + 1 == self.list)")]
#[case::search_of_everything("self.list.all(a, self in [self])")]
fn much_work_is_refused(#[case] expression: &str) {
    assert_eq!(evaluate(expression, &with_list(500)), Err(Problem::TooMuchWork));
}

const EIGHT_TIMES: &str = ".map(a, ((a + a) + (a + a)) + ((a + a) + (a + a)))";

#[rstest]
#[case::text(&format!("['{}']", "x".repeat(512)), EIGHT_TIMES)]
#[case::bytes(&format!("[b'{}']", "x".repeat(512)), EIGHT_TIMES)]
#[case::list("[[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]]", EIGHT_TIMES)]
#[case::list_of_lists("[1]", ".map(a, [[a, a, a, a], [a, a, a, a], [a, a, a, a], [a, a, a, a]])")]
#[case::map_of_maps(
    "[1]",
    ".map(a, {1: {1: a, 2: a, 3: a, 4: a}, 2: {1: a, 2: a, 3: a, 4: a}, 3: {1: [a, a, a, a, a, a, a, a]}})"
)]
fn what_grows_again_and_again_is_refused(#[case] start: &str, #[case] step: &str) {
    let expression = format!("{start}{} != []", step.repeat(5));
    assert_eq!(evaluate(&expression, &json!({})), Err(Problem::TooMuchWork));
}

#[rstest]
#[case::brackets("(1+", "1", ")")]
#[case::lists("[", "1", "]")]
#[case::maps("{1:", "1", "}")]
#[case::calls("size(", "self", ")")]
#[case::loops("[1].all(a,", "true", ")")]
#[case::loops_over_loops("", "[1]", ".map(a,a)")]
#[case::tests("has(", "self", ".a)")]
#[case::negated_brackets("!(", "true", ")")]
#[case::sums("1+", "1", "")]
#[case::comparisons("1<", "1", "")]
#[case::choices("true?true:", "true", "")]
#[case::choices_in_brackets("true?(", "true", "):1")]
#[case::indexes("", "self", "[0]")]
#[case::methods("", "self", ".size()")]
#[case::fields_of_what_is_made("", "{'a': 1}", ".a")]
fn deep_nesting_is_refused_before_the_stack_is_used_up(
    #[case] before: &str,
    #[case] inside: &str,
    #[case] after: &str,
) {
    for times in [30, 60, (LONGEST - inside.len()) / (before.len() + after.len())] {
        let expression = format!("{}{inside}{}", before.repeat(times), after.repeat(times));
        assert_eq!(Expression::parse(&expression).unwrap_err(), Problem::TooDeep, "{times} times");
    }
}

/// Whatever is taken is worked out on half of the stack that worker threads have.
#[rstest]
#[case::brackets("(1+", "1", ") == 1")]
#[case::lists("[", "1", "] == []")]
#[case::maps("{1:", "1", "} == {}")]
#[case::calls("size(", "self", ") == 1")]
#[case::loops("[1].all(a,", "true", ")")]
#[case::loops_over_loops("", "[1]", ".map(a,a) == []")]
#[case::tests("has(", "self", ".a)")]
#[case::negated_brackets("!(", "true", ")")]
#[case::choices_in_brackets("true?(", "true", "):true")]
#[case::indexes("", "[[[]]]", "[0] == []")]
fn what_is_taken_is_worked_out_on_a_small_stack(
    #[case] before: &'static str,
    #[case] inside: &'static str,
    #[case] after: &'static str,
) {
    let (repeated, end) =
        after.split_once(' ').map_or((after, String::new()), |(after, end)| (after, format!(" {end}")));
    let worked_out = move || {
        let expressions =
            (1..64).map(|times| format!("{}{inside}{}{end}", before.repeat(times), repeated.repeat(times)));
        let taken = expressions.map_while(|text| Expression::parse(&text).ok());
        taken.map(|expression| expression.evaluate(&json!({"a": 1}))).count()
    };
    let small = std::thread::Builder::new().stack_size(1 << 20).spawn(worked_out).unwrap();
    assert!(small.join().unwrap() >= 4);
}

#[rstest]
#[case::negations("!", "true")]
#[case::minuses("-", "1")]
fn signs_that_cancel_each_other_are_none(#[case] sign: &str, #[case] of: &str) {
    let expression = format!("{}{of} == {of}", sign.repeat(2000));
    assert_eq!(evaluate(&expression, &json!({})), Ok(true));
}

#[test]
fn a_long_path_is_one_step() {
    let expression = format!("self{} == 1", ".a".repeat(1000));
    assert_eq!(evaluate(&expression, &json!({"a": {}})), Ok(false));
}

#[test]
fn many_brackets_around_one_thing_are_one_bracket() {
    let expression = format!("{}true{}", "(".repeat(1000), ")".repeat(1000));
    assert_eq!(evaluate(&expression, &json!({})), Ok(true));
}

#[test]
fn many_conditions_in_a_row_are_fine() {
    let expression = format!("true{}", " && self.a == 1".repeat(120));
    assert_eq!(evaluate(&expression, &json!({"a": 1})), Ok(true));
}

#[test]
fn a_large_object_is_looked_at_from_end_to_end() {
    let object = with_list(10_000);
    assert_eq!(evaluate("self.list.all(a, a.name.startsWith('x'))", &object), Ok(true));
    assert_eq!(evaluate("self.list.map(a, a.name).size() == 10000", &object), Ok(true));
}

#[test]
fn an_object_that_no_api_server_would_keep_is_refused() {
    let mut object = json!(1);
    for _ in 0..200 {
        object = json!({"a": object});
    }
    assert_eq!(evaluate("self.a.a.a == 1", &object), Err(Problem::DeepObject));
}
