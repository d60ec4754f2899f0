use proptest::prelude::*;

use super::*;

const STACKS: &str = include_str!("broken/stacks.txt");
const REFERENCES: &str = include_str!("broken/references.txt");

/// Files as somebody writes them, with something put in somewhere and something taken out elsewhere.
fn files() -> impl Strategy<Value = String> {
    let cases: Vec<&str> =
        STACKS.split("=== ").chain(REFERENCES.split("=== ")).filter(|case| !case.is_empty()).collect();
    let pieces = [
        "|", ">", "- ", ": ", "\n", "---\n", "{", "}", "[", "*a", "&a ", "\u{feff}", "\r", "\t", "é", "${",
        "''", "\"", "#", "null", "9e999",
    ];
    (
        prop::sample::select(cases),
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        0..9_usize,
        prop::sample::select(pieces.to_vec()),
    )
        .prop_map(|(case, put, take, length, piece)| {
            let mut text: Vec<char> = case.split("\n>>>\n").next().unwrap().chars().collect();
            let start = take.index(text.len());
            text.drain(start..(start + length).min(text.len()));
            let at = put.index(text.len() + 1);
            text.splice(at..at, piece.chars());
            text.into_iter().collect()
        })
}

proptest! {
    #[test]
    fn whatever_is_written_has_an_answer_within_its_lines(text in files()) {
        let lines = text.lines().count().max(1);
        for finding in validate(&[File { name: "a.yaml", text: &text }], &[]) {
            // A reader may notice only at the end that something is missing.
            prop_assert!((1..=lines + 1).contains(&finding.position.line), "{finding:?}");
            prop_assert!(finding.position.column >= 1);
        }
    }
}

#[test]
fn a_circle_of_many_applies_and_many_missing_templates_have_an_end() {
    let apply = |index: usize| {
        format!(
            "- apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\n  kind: WorkspaceTemplateApply\n  metadata: {{name: a{index}-apply}}\n  \
             spec: {{templateRef: {{name: nothing{index}}}, waitForWorkspaces: [{{name: a{}}}]}}\n",
            (index + 1) % 300
        )
    };
    let text =
        format!("apiVersion: v1\nkind: List\nitems:\n{}", (0..300).map(apply).collect::<Vec<_>>().concat());
    let findings = found(&text);
    assert_eq!(findings.iter().filter(|finding| finding.contains("in a circle")).count(), 1);
    assert_eq!(findings.iter().filter(|finding| finding.contains("is not in these files")).count(), 300);
}

#[test]
fn more_objects_than_are_looked_at_are_told() {
    let item =
        |index: usize| format!("- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: a{index}}}}}\n");
    let text =
        format!("apiVersion: v1\nkind: List\nitems:\n{}", (0..10_001).map(item).collect::<Vec<_>>().concat());
    assert_eq!(
        found(&text),
        [
            "a.yaml:10004:3: error: there are more than 10000 objects, and the rest is not looked at; name fewer files"
        ]
    );
}
