//! Where documents begin and end.

use rstest::rstest;

use super::super::split::{Document, documents, normalized};

#[rstest]
#[case::empty("", &[])]
#[case::comments("# a\n\n# b", &[])]
#[case::bare("a: b", &[("a: b", 1, 1)])]
#[case::comment_and_marker("# a\n---\nb: c\n", &[("# a\n---\nb: c\n", 1, 3)])]
#[case::two("a: b\n---\n# c\n\nd: e\n", &[("a: b\n", 1, 1), ("---\n# c\n\nd: e\n", 2, 5)])]
#[case::empty_between("a\n---\n---\nb\n", &[("a\n", 1, 1), ("---\n", 2, 2), ("---\nb\n", 3, 4)])]
#[case::content_at_the_marker("--- a\n--- |\n b\n", &[("--- a\n", 1, 1), ("--- |\n b\n", 2, 2)])]
#[case::no_marker("---a\n----\n--- \n ---\n....\n", &[("---a\n----\n", 1, 1), ("--- \n ---\n....\n", 3, 4)])]
#[case::marker_and_tab("a\n---\tb\n", &[("a\n", 1, 1), ("---\tb\n", 2, 2)])]
#[case::end("a\n...\nb\n", &[("a\n", 1, 1), ("b\n", 3, 3)])]
#[case::end_and_directives("a\n...\n# x\n%YAML 1.2\n---\nb\n", &[("a\n", 1, 1), ("# x\n%YAML 1.2\n---\nb\n", 3, 6)])]
#[case::end_of_nothing("...\n...\n", &[])]
#[case::percent_inside("a: |\n  b\n%c\n", &[("a: |\n  b\n%c\n", 1, 1)])]
fn a_stream_is_taken_apart_at_its_markers(#[case] stream: &str, #[case] expected: &[(&str, usize, usize)]) {
    let expected: Vec<Document<'_>> =
        expected.iter().map(|&(text, line, content)| Document { text, line, content }).collect();
    assert_eq!(documents(stream), expected);
}

#[rstest]
#[case::plain("a\nb", "a\nb")]
#[case::windows("a\r\nb\r\n", "a\nb\n")]
#[case::old("a\rb\r", "a\nb\n")]
#[case::marks("\u{feff}a\r\n\u{feff}b\u{feff}", "a\nb\u{feff}")]
fn line_breaks_are_one_kind_and_marks_are_gone(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(normalized(text), expected);
}
