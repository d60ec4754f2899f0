//! What is in the Secret.

use rstest::rstest;

use super::*;

#[test]
fn only_what_was_chosen_is_in_the_secret() {
    let keys = secret(&json!([
        { "output": "cluster_name" },
        { "output": "cluster_endpoint", "key": "endpoint" },
        { "output": "queue", "default": "none" },
        { "output": "empty", "key": "filled", "default": "" },
        { "output": "role", "optional": true },
        { "output": "empty_and_optional", "optional": true },
    ]));
    let given = outputs(&[
        ("cluster_name", "demo"),
        ("cluster_endpoint", "https://api.example.com"),
        ("empty", ""),
        ("empty_and_optional", ""),
        ("kubeconfig", "MARKER"),
        ("password", "MARKER"),
    ]);
    let wanted = wanted(&keys, "demo-eks-connection", &given, &[], "uid").unwrap();
    assert_eq!((wanted.namespace.as_str(), wanted.name.as_str()), ("karpenter", "demo-eks-connection"));
    let expected = [
        ("cluster_name", "demo"),
        ("endpoint", "https://api.example.com"),
        ("filled", ""),
        ("queue", "none"),
    ];
    assert_eq!(content(&wanted), BTreeMap::from(expected));
    assert!(!format!("{wanted:?}").contains("https"));
}

#[test]
fn the_name_that_the_user_gives_wins() {
    let mut values = secret(&json!([{ "output": "a" }]));
    values.name = Some("mine".to_owned());
    assert_eq!(wanted(&values, "demo", &outputs(&[("a", "b")]), &[], "uid").unwrap().name, "mine");
}

#[rstest]
#[case::line_break("a\n")]
#[case::number("123")]
#[case::comma("a,b")]
#[case::blanks(" a ")]
#[case::bell("\u{7}")]
fn a_value_that_nobody_places_stays_as_it_is(#[case] value: &str) {
    let other_namespace = Release { namespace: "other".to_owned(), ..release("x", Some("a"), false) };
    let whole_file = release("y", None, false);
    for releases in [vec![], vec![other_namespace], vec![whole_file]] {
        assert_eq!(content(&for_readers(value, &releases).unwrap())["cluster_name"], value);
    }
}

#[rstest]
#[case::plain("demo", "demo")]
#[case::arn("arn:aws:iam::123456789012:role/x", "arn:aws:iam::123456789012:role/x")]
#[case::several_lines("-----BEGIN\nabc\n-----END\n", "-----BEGIN\nabc\n-----END\n")]
#[case::number("123", "\"123\"")]
#[case::truth_value("True", "\"True\"")]
#[case::comma("a,evil.x=1", "\"a\\,evil.x=1\"")]
#[case::list("{a,b}", "\"\\{a\\,b}\"")]
#[case::backslash("a\\b", "\"a\\\\b\"")]
#[case::quoted("\"123\"", "\"\\\"123\\\",\"")]
fn flux_gives_back_what_the_module_gave(#[case] value: &str, #[case] interpreted: &str) {
    let without_literal = for_readers(value, &[release("a", Some("x"), false)]).unwrap();
    assert_eq!(content(&without_literal)["cluster_name"], interpreted);
    let literal = for_readers(value, &[release("a", Some("x"), true)]).unwrap();
    assert_eq!(content(&literal)["cluster_name"], value);
}

#[test]
fn readers_may_differ_where_the_value_is_the_same_to_all() {
    let readers = [release("a", Some("x"), false), release("b", Some("x"), true), release("c", None, false)];
    assert_eq!(content(&for_readers("demo", &readers).unwrap())["cluster_name"], "demo");
}

#[test]
fn the_digest_follows_everything_that_is_written_and_differs_from_cluster_to_cluster() {
    let values = secret(&json!([{ "output": "a" }]));
    let digest = |values: &ValuesSecret, name: &str, value: &str, salt: &str| {
        wanted(values, name, &outputs(&[("a", value)]), &[], salt).unwrap().digest
    };
    let first = digest(&values, "demo", "x", "uid");
    // Annotations and statuses hold it: another one asks every HelmRelease of every fleet to take its values again.
    assert_eq!(first, "b2fa2defd1921395");
    assert_eq!(first, digest(&values, "demo", "x", "uid"));
    let elsewhere = ValuesSecret { namespace: "other".to_owned(), ..values.clone() };
    let renamed = secret(&json!([{ "output": "a", "key": "b" }]));
    for other in [
        digest(&values, "demo", "y", "uid"),
        digest(&values, "other", "x", "uid"),
        digest(&values, "demo", "x", "another"),
        digest(&elsewhere, "demo", "x", "uid"),
        digest(&renamed, "demo", "x", "uid"),
    ] {
        assert_ne!(first, other);
    }
}
