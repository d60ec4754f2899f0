//! What a cluster does not get, and what is said of it.

use capt_api::names::Reason;
use rstest::rstest;

use super::*;

#[rstest]
#[case::the_kubeconfig(
    json!([{ "output": "cluster_name" }, { "output": "kubeconfig", "key": "x" }]),
    "the kubeconfig is not handed to the cluster; name the outputs that the add-on needs"
)]
#[case::one_key_twice(
    json!([{ "output": "cluster_name" }, { "output": "endpoint", "key": "cluster_name" }]),
    "the outputs `cluster_name` and `endpoint` would both be the key `cluster_name`; give one of them another key"
)]
#[case::one_key_twice_though_one_is_optional(
    json!([{ "output": "missing", "key": "k", "optional": true }, { "output": "cluster_name", "key": "k" }]),
    "the outputs `missing` and `cluster_name` would both be the key `k`; give one of them another key"
)]
fn a_spec_that_cannot_be_met_is_refused(#[case] keys: Value, #[case] expected: &str) {
    let given = outputs(&[("cluster_name", "demo"), ("endpoint", "x"), ("kubeconfig", "MARKER")]);
    let problem = wanted(&secret(&keys), "demo", &given, &[], "uid").unwrap_err();
    assert_eq!(problem.to_string(), expected);
    assert_eq!(problem.reason(), Reason::SpecInvalid);
}

#[rstest]
#[case::one(
    json!([{ "output": "queue" }]),
    "the module gives no value for `queue`; add this output to the module, or give a default, \
     or write `optional: true`; what it gives: `a` and `b`"
)]
#[case::several(
    json!([{ "output": "queue" }, { "output": "a" }, { "output": "empty", "key": "x" }, { "output": "role" }]),
    "the module gives no value for `queue`, `empty` and `role`; add these outputs to the module, or give a default, \
     or write `optional: true`; what it gives: `a` and `b`"
)]
fn every_missing_output_is_told_with_those_that_there_are(#[case] keys: Value, #[case] expected: &str) {
    let given = outputs(&[("a", "MARKER"), ("b", "MARKER"), ("empty", ""), ("kubeconfig", "MARKER")]);
    let problem = wanted(&secret(&keys), "demo", &given, &[], "uid").unwrap_err();
    assert_eq!(problem.to_string(), expected);
    assert_eq!(problem.reason(), Reason::OutputMissing);
}

#[test]
fn a_module_without_outputs_gives_nothing() {
    let problem =
        wanted(&secret(&json!([{ "output": "a" }])), "demo", &BTreeMap::new(), &[], "uid").unwrap_err();
    assert!(problem.to_string().ends_with("what it gives: nothing"), "{problem}");
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let given = BTreeMap::from([("a".to_owned(), vec![0xff])]);
    let problem = wanted(&secret(&json!([{ "output": "a" }])), "demo", &given, &[], "uid").unwrap_err();
    assert_eq!(
        problem.to_string(),
        "the output `a` is not UTF-8 text; encode it in the module, for example as base64"
    );
}

#[rstest]
#[case::a_path("../x", "karpenter")]
#[case::nothing("", "karpenter")]
#[case::a_namespace_that_is_a_path("demo", "a/b")]
fn names_that_would_lead_elsewhere_are_refused(#[case] name: &str, #[case] namespace: &str) {
    let mut values = secret(&json!([{ "output": "a" }]));
    values.namespace = namespace.to_owned();
    let problem = wanted(&values, name, &outputs(&[("a", "b")]), &[], "uid").unwrap_err();
    assert_eq!(
        problem.to_string(),
        format!("a Secret for values cannot be called `{namespace}/{name}`; give another name or namespace")
    );
}

#[rstest]
#[case::line_break("MARKER\n", "ends in a line break")]
#[case::line_break_of_windows("MARKER\r\n", "ends in a line break")]
#[case::bell("MARK\u{7}ER", "holds a control character")]
#[case::nothing_at_all("MARKER\0", "holds a control character")]
fn a_value_that_no_chart_should_get_is_refused(#[case] value: &str, #[case] what: &str) {
    for literal in [false, true] {
        let readers = [release("karpenter", Some("settings.clusterName"), literal)];
        let problem = for_readers(value, &readers).unwrap_err();
        assert_eq!(
            problem.to_string(),
            format!(
                "the value of `cluster_name` {what}, which would become part of what HelmRelease `karpenter/karpenter` \
                 sets by targetPath; remove it in the module, for example with trimspace()"
            )
        );
    }
}

#[rstest]
#[case::literal_and_not(&[("a", Some("x"), false), ("b", Some("x"), true)])]
#[case::a_whole_file_and_not(&[("a", Some("x"), false), ("b", None, false)])]
fn readers_that_need_different_forms_are_told(#[case] readers: &[(&str, Option<&str>, bool)]) {
    let mut readers: Vec<Release> =
        readers.iter().map(|(name, path, literal)| release(name, *path, *literal)).collect();
    readers.push(release("c", Some("y"), false));
    let problem = for_readers("1234567890", &readers).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "the value of `cluster_name` is one that Flux would change (a number, true, null, or with a comma, brace, \
         quote or backslash), and its readers need it in different forms: \
         HelmRelease `karpenter/a` and HelmRelease `karpenter/c` without literal, HelmRelease `karpenter/b` as it is; \
         write `literal: true` beside every targetPath that reads it"
    );
    assert_eq!(problem.reason(), Reason::ManifestInvalid);
}
