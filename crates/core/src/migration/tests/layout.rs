use rstest::rstest;

use super::{edited, which};

#[rstest]
#[case::alone("resource \"helm_release\" \"a\" {}\n", "")]
#[case::without_a_last_line_break("b {}\n\nresource \"helm_release\" \"a\" {\n}", "b {}\n")]
#[case::between("b {}\n\nresource \"helm_release\" \"a\" {\n}\n\nc {}\n", "b {}\n\nc {}\n")]
#[case::first("resource \"helm_release\" \"a\" {\n}\n\nc {}\n", "c {}\n")]
#[case::last("b {}\n\nresource \"helm_release\" \"a\" {\n}\n", "b {}\n")]
#[case::crowded("b {}\nresource \"helm_release\" \"a\" {\n}\nc {}\n", "b {}\nc {}\n")]
#[case::wide("b {}\n\n\nresource \"helm_release\" \"a\" {\n}\n\n\nc {}\n", "b {}\n\n\n\nc {}\n")]
#[case::bare_labels("resource helm_release a {\n}\nc {}\n", "c {}\n")]
#[case::tabs("\tresource\t\"helm_release\"\t\"a\" {\n\t}\t\n\tc {}\n", "\tc {}\n")]
#[case::carriage_returns(
    "b {}\r\n\r\nresource \"helm_release\" \"a\" {\r\n  x = 1\r\n}\r\n\r\nc {}\r\n",
    "b {}\r\n\r\nc {}\r\n"
)]
#[case::mixed_line_ends("b {}\r\nresource \"helm_release\" \"a\" {\n}\r\nc {}\n", "b {}\r\nc {}\n")]
#[case::byte_order_mark("\u{feff}resource \"helm_release\" \"a\" {\n}\nc {}\n", "\u{feff}c {}\n")]
#[case::other_scripts(
    "# 日本\nb {\n  x = \"ü\"\n}\nresource \"helm_release\" \"a\" {\n  x = \"ß\"\n}\n",
    "# 日本\nb {\n  x = \"ü\"\n}\n"
)]
#[case::placeholders(
    "resource \"helm_release\" \"a\" {\n  count = ${COUNT}\n}\nb {\n  x = ${N}\n}\n",
    "b {\n  x = ${N}\n}\n"
)]
fn only_the_block_goes(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(edited(text, &which(&["a"])).text, expected);
}

#[rstest]
#[case::above("b {}\n\n# of a\nresource \"helm_release\" \"a\" {}\n", "b {}\n")]
#[case::several_above("# of a\n// of a\n/* of\n a */\nresource \"helm_release\" \"a\" {}\nb {}\n", "b {}\n")]
#[case::behind("resource \"helm_release\" \"a\" {\n} # of a\nb {}\n", "b {}\n")]
#[case::before_in_the_line("/* of a */ resource \"helm_release\" \"a\" {}\nb {}\n", "b {}\n")]
#[case::inside("resource \"helm_release\" \"a\" { # }\n  # }\n  /* } */\n}\nb {}\n", "b {}\n")]
#[case::with_carriage_returns("# of a\r\nresource \"helm_release\" \"a\" {}\r\nb {}\r\n", "b {}\r\n")]
fn comments_of_the_block_go_with_it(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(edited(text, &which(&["a"])).text, expected);
}

#[rstest]
#[case::apart_from_it("# of all\n\nresource \"helm_release\" \"a\" {}\nb {}\n", "# of all\n\nb {}\n")]
#[case::apart_with_one_of_its_own(
    "# of all\n\n# of a\nresource \"helm_release\" \"a\" {}\nb {}\n",
    "# of all\n\nb {}\n"
)]
#[case::of_the_one_before("b {} # of b\nresource \"helm_release\" \"a\" {}\n", "b {} # of b\n")]
#[case::of_the_one_before_over_lines(
    "b {} /* of\n b */\nresource \"helm_release\" \"a\" {}\n",
    "b {} /* of\n b */\n"
)]
#[case::of_the_one_after("resource \"helm_release\" \"a\" {}\n# of b\nb {}\n", "# of b\nb {}\n")]
#[case::at_the_end("resource \"helm_release\" \"a\" {}\n# the end", "# the end")]
fn other_comments_stay(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(edited(text, &which(&["a"])).text, expected);
}
