//! Input that means harm.

use proptest::prelude::*;
use rstest::rstest;

use super::super::split::documents;
use super::*;

/// Everything but the end of a document.
const LINES: &[&str] = &["---", "a: b", "# c", "", "%YAML 1.2", "  ---"];

#[test]
fn more_than_any_config_map_holds_is_refused_unread() {
    let problems = read("#".repeat(LARGEST + 1)).unwrap_err();
    assert_eq!(problems.to_string(), "ConfigMap `flux`: holds more than 1 MiB; split it into several");
}

#[test]
fn the_size_of_all_keys_counts() {
    let half = "#".repeat(LARGEST / 2);
    let data = BTreeMap::from([("a".to_owned(), half.clone()), ("b".to_owned(), half)]);
    assert_eq!(parse(ResourceKind::ConfigMap, "flux", &data).unwrap(), []);
    let data = BTreeMap::from([("a".to_owned(), "#".repeat(LARGEST)), ("b".to_owned(), "#".to_owned())]);
    assert_eq!(
        parse(ResourceKind::ConfigMap, "flux", &data).unwrap_err().all()[0].problem,
        Problem::TooLarge
    );
}

#[rstest]
#[case::documents("---\n".repeat(MOST + 1))]
#[case::items(format!("[{}]", vec![r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}"#; MOST + 1].join(",")))]
#[case::broken_items(format!("[{}]", "1,".repeat(MOST + 1)))]
fn more_than_anybody_delivers_is_refused(#[case] text: String) {
    let problems = read(text).unwrap_err();
    assert_eq!(
        problems.to_string(),
        "ConfigMap `flux`: holds more than 2,000 documents or objects; split it into several"
    );
}

#[test]
fn as_many_documents_as_there_may_be_are_read() {
    assert_eq!(objects(format!("---\n{}", named("a")).repeat(MOST)).len(), MOST);
}

/// Ten aliases of ten aliases of ten, and so on.
fn bomb() -> String {
    let level = |level: usize| {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        format!("a{level}: &a{level} [{aliases}]")
    };
    let first = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]".to_owned();
    std::iter::once(first).chain((1..10).map(level)).collect::<Vec<_>>().join("\n")
}

/// A long text that is repeated by aliases, each of them short.
fn repeated_text() -> String {
    format!("a: &a {}\nb: [{}]\n", "x".repeat(10_000), vec!["*a"; 90].join(", "))
}

#[rstest]
#[case::aliases_of_aliases(bomb())]
#[case::aliases_of_a_long_text(repeated_text())]
#[case::brackets(format!("{}{}", "[".repeat(60), "]".repeat(60)))]
#[case::dashes("- ".repeat(100_000))]
#[case::indentation((0..500).map(|depth| " ".repeat(depth) + "a:\n").collect())]
fn what_would_need_more_than_its_share_is_refused(#[case] text: String) {
    assert_eq!(read(text).unwrap_err().all()[0].problem, Problem::TooComplex);
}

#[rstest]
#[case::alias_of_itself("a: &a [*a]\n".to_owned())]
#[case::brackets("[".repeat(100_000))]
#[case::braces("{a: ".repeat(100_000))]
#[case::quotes("\"".repeat(100_001))]
fn what_does_not_end_is_refused(#[case] text: String) {
    assert!(read(text).is_err());
}

#[test]
fn schemas_may_be_deep() {
    let deep = (0..22).fold(
        serde_json::json!({ "type": "string" }),
        |schema, _| serde_json::json!({ "properties": { "a": schema } }),
    );
    let object = serde_json::json!({
        "apiVersion": "v1", "kind": "X", "metadata": { "name": "a" }, "spec": deep
    });
    assert_eq!(objects(object.to_string()), [object]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_brings_it_down(text in "(---|\\.\\.\\.|[a-c]: |- |[&*]a|[\\[\\]{}\"'|>%#!,]|\n|\r|\t| |\u{feff}|kind: List|items:|é){0,40}") {
        let _ = read(text);
    }

    #[test]
    fn every_byte_of_a_stream_is_in_one_document_with_its_line(
        lines in prop::collection::vec(prop::sample::select(LINES), 0..12),
    ) {
        let stream: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        let documents = documents(&stream);
        let joined: String = documents.iter().map(|document| document.text).collect();
        prop_assert!(documents.is_empty() || joined == stream);
        for document in documents {
            let rest: String = stream.split_inclusive('\n').skip(document.line - 1).collect();
            prop_assert!(rest.starts_with(document.text));
        }
    }
}
