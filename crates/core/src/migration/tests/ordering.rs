use rstest::rstest;

use super::{edited, which};

const RELEASE: &str = "resource \"helm_release\" \"a\" {}\n";

#[rstest]
#[case::alone("  depends_on = [helm_release.a]\n", "")]
#[case::alone_with_a_comment("  depends_on = [helm_release.a] # first\n", "")]
#[case::alone_over_lines("  depends_on = [\n    helm_release.a,\n  ]\n", "")]
#[case::quoted("  depends_on = [\"helm_release.a\"]\n", "")]
#[case::an_instance("  depends_on = [helm_release.a[0], x.y]\n", "  depends_on = [x.y]\n")]
#[case::first("  depends_on = [helm_release.a, x.y]\n", "  depends_on = [x.y]\n")]
#[case::in_the_middle("  depends_on = [x.y, helm_release.a, z.w]\n", "  depends_on = [x.y, z.w]\n")]
#[case::last("  depends_on = [x.y, helm_release.a]\n", "  depends_on = [x.y]\n")]
#[case::last_with_a_comma("  depends_on = [x.y, helm_release.a, ]\n", "  depends_on = [x.y, ]\n")]
#[case::a_line_of_its_own(
    "  depends_on = [\n    x.y, # of x\n    # of a\n    helm_release.a, # of a\n    z.w,\n  ]\n",
    "  depends_on = [\n    x.y, # of x\n    z.w,\n  ]\n"
)]
#[case::the_last_line(
    "  depends_on = [\n    x.y,\n    helm_release.a\n  ]\n",
    "  depends_on = [\n    x.y,\n  ]\n"
)]
#[case::closed_on_its_line("  depends_on = [x.y,\n    helm_release.a]\n", "  depends_on = [x.y]\n")]
#[case::with_carriage_returns(
    "  depends_on = [\r\n    helm_release.a,\r\n    x.y\r\n  ]\r\n",
    "  depends_on = [\r\n    x.y\r\n  ]\r\n"
)]
#[case::a_comma_in_a_comment("  depends_on = [helm_release.a /* a, b */, x.y]\n", "  depends_on = [x.y]\n")]
#[case::twice("  depends_on = [helm_release.a, x.y, helm_release.a]\n", "  depends_on = [x.y]\n")]
fn a_release_that_was_only_waited_for_is_waited_for_no_more(#[case] before: &str, #[case] after: &str) {
    let block = |inside: &str| format!("resource \"x\" \"b\" {{\n{inside}  c = 1\n}}\n");
    let edit = edited(&format!("{RELEASE}{}", block(before)), &which(&["a"]));
    assert_eq!(edit.text, block(after));
    let told = "line 3: `resource \"x\" \"b\"` no longer waits for the release (`depends_on`)";
    assert!(edit.remarks.contains(&told.to_owned()), "{:?}", edit.remarks);
}

#[rstest]
#[case::on_one_line("module \"m\" { depends_on = [helm_release.a] }\n", "module \"m\" { depends_on = [] }\n")]
#[case::in_a_block(
    "check \"c\" {\n  data \"x\" \"y\" {\n    depends_on = [helm_release.a]\n  }\n}\n",
    "check \"c\" {\n  data \"x\" \"y\" {\n  }\n}\n"
)]
fn wherever_it_is_waited_for(#[case] before: &str, #[case] after: &str) {
    assert_eq!(edited(&format!("{RELEASE}{before}"), &which(&["a"])).text, after);
}

#[test]
fn what_stays_is_waited_for() {
    let text =
        "resource \"helm_release\" \"a\" {}\nresource \"x\" \"b\" {\n  depends_on = [helm_release.b]\n}\n";
    let edit = edited(text, &which(&["a"]));
    assert!(edit.text.contains("depends_on = [helm_release.b]"), "{}", edit.text);
}
