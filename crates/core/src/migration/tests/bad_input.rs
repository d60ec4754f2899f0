use rstest::rstest;

use super::{all, edited, refused, which};
use crate::migration::Problem;

const RELEASE: &str = "resource \"helm_release\" \"a\" {\n  chart = \"x\"\n}\n";

#[rstest]
#[case::broken("resource \"helm_release\" \"a\" {\n", "line 1")]
#[case::no_module("{\"resource\": {}}", "line 1")]
#[case::cut_off("resource \"helm_release\" \"a\" { chart = \"", "line 1")]
#[case::nested_without_end(&format!("a = {}", "[".repeat(10_000)), "nested 10000 levels deep")]
#[case::huge(&" ".repeat(3 << 20), "keep it in a repository")]
fn what_cannot_be_read_is_refused_with_its_place(#[case] text: &str, #[case] expected: &str) {
    let Problem::Unreadable(invalid) = refused(text, &all()) else { panic!("it was read") };
    assert!(invalid.to_string().contains(expected), "{invalid}");
}

#[rstest]
#[case::empty("")]
#[case::only_comments("# resource \"helm_release\" \"a\" {}\n")]
#[case::in_a_heredoc("locals {\n  a = <<EOT\nresource \"helm_release\" \"a\" {\n}\nEOT\n}\n")]
#[case::data("data \"helm_release\" \"a\" {}\n")]
#[case::another("resource \"helm_release\" \"b\" {}\n")]
#[case::one_label("resource \"helm_release\" {}\n")]
fn a_module_without_the_release_stays_as_it_is(#[case] text: &str) {
    let edit = edited(text, &which(&["a"]));
    assert_eq!((edit.text.as_str(), edit.changes()), (text, false));
}

#[rstest]
#[case::an_output("output \"o\" {\n  value = helm_release.a.status\n}\n", 5, "output \"o\"")]
#[case::locals("locals {\n  n = { x = helm_release.a.namespace }\n}\n", 5, "locals")]
#[case::a_template("locals {\n  n = \"${helm_release.a.name}-x\"\n}\n", 5, "locals")]
#[case::a_heredoc("locals {\n  n = <<-EOT\n    ${helm_release.a.name}\n  EOT\n}\n", 6, "locals")]
#[case::a_directive("locals {\n  n = \"%{ if helm_release.a.name == \"x\" }y%{ endif }\"\n}\n", 5, "locals")]
#[case::an_index("locals {\n  n = helm_release.a[0].name\n}\n", 5, "locals")]
#[case::a_splat("locals {\n  n = helm_release.a[*].name\n}\n", 5, "locals")]
#[case::as_an_index("locals {\n  n = x.y[helm_release.a.name]\n}\n", 5, "locals")]
#[case::a_for("locals {\n  n = [for r in values(helm_release.a) : r.name]\n}\n", 5, "locals")]
#[case::a_dynamic_block(
    "resource \"x\" \"y\" {\n  dynamic \"z\" {\n    for_each = helm_release.a.metadata\n    content {}\n  }\n}\n",
    6,
    "resource \"x\" \"y\""
)]
#[case::a_trigger(
    "resource \"x\" \"y\" {\n  lifecycle {\n    replace_triggered_by = [helm_release.a]\n  }\n}\n",
    6,
    "resource \"x\" \"y\""
)]
#[case::an_import("import {\n  to = helm_release.a\n  id = \"a/b\"\n}\n", 5, "import")]
#[case::a_move("moved {\n  from = helm_release.z\n  to   = helm_release.a\n}\n", 6, "moved")]
#[case::another_release(
    "resource \"helm_release\" \"b\" {\n  name = helm_release.a.name\n}\n",
    5,
    "resource \"helm_release\" \"b\""
)]
#[case::a_condition_beside_an_ordering(
    "module \"m\" {\n  depends_on = [helm_release.a]\n  count = helm_release.a.name == \"\" ? 0 : 1\n}\n",
    6,
    "module \"m\""
)]
fn what_still_refers_to_a_release_is_named(#[case] more: &str, #[case] line: usize, #[case] block: &str) {
    let problem = refused(&format!("{RELEASE}{more}"), &which(&["a"]));
    let expected = format!("line {line}, in `{block}`, refers to helm_release.a: ");
    assert!(problem.to_string().starts_with(&expected), "{problem}");
}

#[test]
fn of_very_many_references_some_are_told() {
    let outputs = "output \"o\" {\n  value = helm_release.a.id\n}\n".repeat(500);
    let problem = refused(&format!("{RELEASE}{outputs}"), &all()).to_string();
    assert!(problem.contains("490 more places do") && problem.len() < 2_000, "{problem}");
}

#[test]
fn releases_that_leave_together_may_refer_to_each_other() {
    let text = format!(
        "{RELEASE}resource \"helm_release\" \"b\" {{\n  namespace = helm_release.a.namespace\n}}\nlocals {{\n}}\n"
    );
    let edit = edited(&text, &all());
    assert_eq!(edit.text, "locals {\n}\n");
    assert_eq!(edit.removed, ["helm_release.a", "helm_release.b"]);
}

/// Would take hours if each were compared with each.
#[test]
fn very_many_releases_and_references_end_in_an_answer() {
    let many = "resource \"helm_release\" \"a\" {}\n".repeat(10_000);
    assert_eq!(edited(&many, &all()).text, "");
    let list = format!("locals {{\n  a = [{}]\n}}\n", "helm_release.a.b,\n".repeat(20_000));
    assert!(matches!(refused(&list, &all()), Problem::Referenced(found) if found.len() == 20_000));
    let order = format!("module \"m\" {{\n  depends_on = [{}]\n}}\n", "helm_release.a/**/,".repeat(10_000));
    assert_eq!(edited(&order, &all()).text, "module \"m\" {\n}\n");
    let order = order.replace("= [", "= [x.y,");
    assert!(edited(&order, &all()).text.contains("[x.y,"));
}
