//! What holds for every module.

use proptest::prelude::*;

use super::{all, edited, which};
use crate::migration::{Problem, plan_edit};

/// A block of a module: a release that leaves, or another.
fn piece() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("resource \"helm_release\" \"a\" {}"),
        Just("resource \"helm_release\" \"a\" {\n  x = <<E\n}\nE\n}"),
        Just("resource helm_release a { # }\n\tset {\n\t\tname = \"x.y\"\n\t\tvalue = b.c\n\t}\n}"),
        Just("resource \"helm_release\" \"a\" {\n  depends_on = [helm_release.a, b.c]\n}"),
        Just("locals {\n  a = \"ü ${b} %{ if c }d%{ endif }\"\n}"),
        Just("module \"m\" { source = \"./m\" }"),
        Just("resource \"x\" \"y\" {\n  a = <<-EOT\n    # no comment ${b.c}\n  EOT\n}"),
        Just("resource \"x\" \"z\" {\n  depends_on = [\n    b.c, helm_release.a,\n  ]\n}"),
        Just("data \"d\" \"e\" {\n  depends_on = [helm_release.a]\n  f = [for x in y : x]\n}"),
        Just("resource \"helm_release\" \"b\" {\n}"),
    ]
}

fn gap() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("\n"),
        Just("\n\n"),
        Just("\n\n\n"),
        Just(" # behind\n"),
        Just("\n# above\n"),
        Just("\n\n// apart\n\n"),
        Just("\n/* over\n lines */\n\n"),
        Just("\t\n \n"),
    ]
}

fn module() -> impl Strategy<Value = String> {
    (prop::collection::vec((piece(), gap()), 0..6), any::<bool>(), any::<bool>()).prop_map(
        |(pieces, returns, ends)| {
            let mut text: String = pieces.iter().flat_map(|(piece, gap)| [*piece, *gap]).collect();
            if !ends {
                text.truncate(text.trim_end().len());
            }
            if returns { text.replace('\n', "\r\n") } else { text }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_not_cut_stays_and_a_second_edit_changes_nothing(text in module()) {
        edited(&text, &which(&["a"]));
        edited(&text, &all());
    }

    #[test]
    fn any_text_ends_in_an_answer(text in "[a-z{}\\[\\]\"#/*\n\r =.$%<E]{0,60}") {
        match plan_edit(&text, &all()) {
            Ok(edit) => prop_assert!(!edit.changes() || !edit.removed.is_empty()),
            Err(Problem::Unreadable(_) | Problem::Referenced(_)) => {}
            Err(Problem::Unsound(why)) => prop_assert!(false, "{}", why),
        }
    }
}
